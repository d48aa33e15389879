import { encodeMessage } from '../../core/dns/message-encode'
import { message } from '../../core/dns/message'
import { zoneName } from './dns-zone'

/** What a load run saw. */
export interface DnsLoad {
  answers: number
  /** Answers with another rcode than the question should have. */
  wrong: number
  lost: number
  perSecond: number
}

const socketsOpen = 4
const inFlightEach = 32
// A query without an answer for this long is taken for lost, and another sent in its place.
const lostAfterMs = 500
// Of so many queries one is for a name that is not there.
const absentOf = 10

/** Keeps queries in flight to a UDP port until `seconds` are over: for names of the bench zone at random, and some that it has not. */
export async function loadDns(port: number, names: number, seconds: number): Promise<DnsLoad> {
  const queries = queriesFor(names)
  const total = { answers: 0, wrong: 0, lost: 0 }
  let over = false
  const closing: (() => void)[] = []
  const startedAt = performance.now()
  for (let opened = 0; opened < socketsOpen; opened++) {
    const asked = new Map<number, { at: number; rcode: number }>()
    let id = 0
    const socket = await Bun.udpSocket({
      connect: { hostname: '127.0.0.1', port },
      socket: {
        data(_, answer) {
          const given = (answer[0]! << 8) | answer[1]!
          const query = asked.get(given)
          if (!query) return
          asked.delete(given)
          total.answers++
          if ((answer[3]! & 15) !== query.rcode) total.wrong++
          if (!over) send()
        },
        error() {},
      },
    })
    const send = () => {
      id = (id + 1) & 0xffff
      const { octets, rcode } = queries[Math.floor(Math.random() * queries.length)]!
      octets[0] = id >> 8
      octets[1] = id
      asked.set(id, { at: performance.now(), rcode })
      try {
        socket.send(octets)
      } catch {
        // The port is not open yet: a lost query as any other.
      }
    }
    const timer = setInterval(() => {
      const now = performance.now()
      for (const [lost, { at }] of asked) {
        if (now - at < lostAfterMs) continue
        asked.delete(lost)
        total.lost++
        if (!over) send()
      }
    }, 100)
    for (let sent = 0; sent < inFlightEach; sent++) send()
    closing.push(() => {
      clearInterval(timer)
      socket.close()
    })
  }
  await Bun.sleep(seconds * 1000)
  over = true
  const perSecond = total.answers / ((performance.now() - startedAt) / 1000)
  for (const close of closing) close()
  return { ...total, perSecond }
}

function queriesFor(names: number): { octets: Uint8Array; rcode: number }[] {
  const query = (name: string) =>
    encodeMessage(
      message({
        id: 0,
        question: [{ name: `${name}.${zoneName}.`, type: 'A', class: 1 }],
        edns: { udpSize: 1232, version: 0, dnssec: false, options: [] },
      }),
    )
  return Array.from({ length: names }, (_, n) =>
    n % absentOf === 0 ? { octets: query(`absent${n}`), rcode: 3 } : { octets: query(`h${n}`), rcode: 0 },
  )
}
