import { CLASS, message, RCODE, type Message, type ResourceRecord } from '../../src/core/dns/message'
import { decodeMessage } from '../../src/core/dns/message-decode'
import { encodeMessage, encodeTransfer } from '../../src/core/dns/message-encode'
import { rdataOfContent } from '../../src/core/dns/rdata'
import { framed, FrameReader } from '../../src/core/dns/tcp-frame'
import { refuseTsig, signTsig, transferSigner, tsigLength, TSIG_ERROR, verifyTsig, type TsigKey } from '../../src/core/dns/tsig'

/** What came, and how it is answered: octets one by one, as they go on the wire. */
export interface Asked {
  octets: Uint8Array
  message: Message
  by: 'udp' | 'tcp'
}
/** Messages to send; `null` says nothing, and `close` ends the connection after what is sent. */
export type Script = (asked: Asked) => (Uint8Array | 'close' | null)[]

/** A name server that does as it is told, on a free port of both protocols. */
export interface ScriptedServer {
  port: number
  /** All that it was asked. */
  asked: Asked[]
  stop(): void
}

export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const asked: Asked[] = []
  const answers = (octets: Uint8Array, by: Asked['by']) => {
    const one = { octets: Uint8Array.from(octets), message: decodeMessage(octets), by }
    asked.push(one)
    return script(one)
  }
  for (;;) {
    const tcp = Bun.listen<FrameReader>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open(socket) {
          socket.data = new FrameReader()
        },
        data(socket, octets) {
          socket.data.push(octets)
          for (let query = socket.data.next(); query; query = socket.data.next())
            for (const answer of answers(query, 'tcp')) {
              if (answer === 'close') socket.end()
              else if (answer) socket.write(framed(answer))
            }
        },
        error() {},
      },
    })
    try {
      const udp = await Bun.udpSocket({
        hostname: '127.0.0.1',
        port: tcp.port,
        socket: {
          data(socket, query, port, address) {
            for (const answer of answers(query, 'udp')) if (answer instanceof Uint8Array) socket.send(answer, port, address)
          },
          error() {},
        },
      })
      return {
        port: tcp.port,
        asked,
        stop() {
          tcp.stop(true)
          udp.close()
        },
      }
    } catch {
      // A port that is free for TCP may be taken for UDP.
      tcp.stop(true)
    }
  }
}

/** A script that serves one zone as a primary does: its SOA, and AXFR for those who sign with the key. */
export function primaryScript(
  records: () => readonly ResourceRecord[],
  { key, now, limit = 4096 }: { key: TsigKey | null; now(): number; limit?: number },
): Script {
  return ({ octets, message: query }) => {
    const time = Math.floor(now() / 1000)
    const [soa, ...others] = records()
    const answer = { ...message({ id: query.id, question: query.question }), flags: { ...query.flags, qr: true, aa: true } }
    const plain = (rcode: number, given: readonly ResourceRecord[] = []) => encodeMessage({ ...answer, rcode, answer: given })
    if (key && !query.tsig) return [plain(RCODE.REFUSED)]
    const verdict = key && verifyTsig(octets, query.tsig!, [key], { now: time })
    if (verdict && !verdict.ok) {
      const bare = plain(RCODE.NOTAUTH)
      if (verdict.error !== TSIG_ERROR.BADTIME) return [refuseTsig(bare, query.tsig!, verdict.error)]
      const signing = { time: query.tsig!.timeSigned, prior: query.tsig!.mac, error: verdict.error, serverTime: time }
      return [signTsig(bare, key, signing).message]
    }
    const signed = (one: Uint8Array) => (key ? signTsig(one, key, { time, prior: query.tsig!.mac }).message : one)
    const [question] = query.question
    if (question!.name.toLowerCase() !== soa!.name) return [signed(plain(RCODE.NOTAUTH))]
    if (question!.type === 'SOA') return [signed(plain(RCODE.NOERROR, [soa!]))]
    if (question!.type !== 'AXFR') return [signed(plain(RCODE.REFUSED))]
    const sign = key ? transferSigner(key, query.tsig!.mac) : (one: Uint8Array) => one
    const reserve = key ? tsigLength(key) : 0
    return [...encodeTransfer(answer, [soa!, ...others, soa!], { limit, reserve })].map(one => sign(one, time))
  }
}

/** A record of a zone. @param name absolute */
export const recordOf = (name: string, ttl: number, type: string, rdata: Uint8Array): ResourceRecord => ({
  name,
  type,
  class: CLASS.IN,
  ttl,
  rdata,
})

/** The answer to a question, with these values of the type that was asked for. */
export function answerTo(query: Message, values: string[], more: Partial<Message> = {}): Uint8Array {
  const [{ name, type }] = query.question as [Message['question'][0]]
  const flags = { ...query.flags, qr: true, ad: false, ...more.flags }
  const answer = values.map(value => recordOf(name, 60, type, rdataOfContent(type, value, '.')))
  return encodeMessage(message({ id: query.id, question: query.question, answer, ...more, flags }))
}
