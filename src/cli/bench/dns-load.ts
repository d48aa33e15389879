import { encodeMessage } from '../../dns/message-encode'
import { message } from '../../dns/message'
import { zoneName } from './dns-zone'

/** Results of a load run. */
interface DnsLoad {
  answers: number
  /** Answers with an unexpected rcode. */
  wrong: number
  lost: number
  perSecond: number
}

const socketCount = 4
const inFlightPerSocket = 32
// A query without an answer for this long counts as lost and is replaced by another one.
const lostAfterMs = 500
// One of this many queries is for a nonexistent name.
const nonexistentEvery = 10

/** Keeps queries in flight to a UDP port for some seconds, for random names of the benchmark zone. */
export async function loadDns(port: number, names: number, seconds: number): Promise<DnsLoad> {
  const queries = queriesFor(names)
  const total = { answers: 0, wrong: 0, lost: 0 }
  let isOver = false
  const cleanups: (() => void)[] = []
  const startedAt = performance.now()
  for (let opened = 0; opened < socketCount; opened++) {
    const pending = new Map<number, { at: number; rcode: number }>()
    let id = 0
    const socket = await Bun.udpSocket({
      connect: { hostname: '127.0.0.1', port },
      socket: {
        data(_, answer) {
          const answerId = (answer[0]! << 8) | answer[1]!
          const query = pending.get(answerId)
          if (!query) return
          pending.delete(answerId)
          total.answers++
          if ((answer[3]! & 15) !== query.rcode) total.wrong++
          if (!isOver) send()
        },
        error() {},
      },
    })
    const send = () => {
      id = (id + 1) & 0xffff
      const { octets, rcode } = queries[Math.floor(Math.random() * queries.length)]!
      octets[0] = id >> 8
      octets[1] = id
      pending.set(id, { at: performance.now(), rcode })
      try {
        socket.send(octets)
      } catch {
        // The port is not open yet. Counts as lost.
      }
    }
    const timer = setInterval(() => {
      const now = performance.now()
      for (const [lost, { at }] of pending) {
        if (now - at < lostAfterMs) continue
        pending.delete(lost)
        total.lost++
        if (!isOver) send()
      }
    }, 100)
    for (let sent = 0; sent < inFlightPerSocket; sent++) send()
    cleanups.push(() => {
      clearInterval(timer)
      socket.close()
    })
  }
  await Bun.sleep(seconds * 1000)
  isOver = true
  const perSecond = total.answers / ((performance.now() - startedAt) / 1000)
  for (const cleanUp of cleanups) cleanUp()
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
    n % nonexistentEvery === 0 ? { octets: query(`absent${n}`), rcode: 3 } : { octets: query(`h${n}`), rcode: 0 },
  )
}
