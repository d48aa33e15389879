import { CLASS, message, RCODE, type Message, type ResourceRecord } from '../../src/dns/message'
import { decodeMessage } from '../../src/dns/message-decode'
import { encodeMessage, encodeTransfer } from '../../src/dns/message-encode'
import { rdataOfContent } from '../../src/dns/rdata'
import { framed, FrameReader } from '../../src/dns/tcp-frame'
import { refuseTsig, signTsig, transferSigner, tsigLength, TSIG_ERROR, verifyTsig, type TsigKey } from '../../src/dns/tsig'

/** Responds to a request, octet by octet as in wire form. */
export interface ScriptedRequest {
  octets: Uint8Array
  message: Message
  by: 'udp' | 'tcp'
}
/** Messages to send; `null` sends nothing, and `close` closes the connection afterwards. */
export type Script = (request: ScriptedRequest) => (Uint8Array | 'close' | null)[]

/** A name server that follows a script, on a free UDP and TCP port. */
export interface ScriptedServer {
  port: number
  /** All received requests. */
  requests: ScriptedRequest[]
  stop(): void
}

export async function scriptedServer(script: Script): Promise<ScriptedServer> {
  const requests: ScriptedRequest[] = []
  const answers = (octets: Uint8Array, by: ScriptedRequest['by']) => {
    const one = { octets: Uint8Array.from(octets), message: decodeMessage(octets), by }
    requests.push(one)
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
        requests,
        stop() {
          tcp.stop(true)
          udp.close()
        },
      }
    } catch {
      // A port that is free for TCP may be in use for UDP.
      tcp.stop(true)
    }
  }
}

/** A script that serves one zone like a primary: its SOA, and AXFR with the key. */
export function primaryScript(
  records: () => readonly ResourceRecord[],
  { key, now, limit = 4096 }: { key: TsigKey | null; now(): number; limit?: number },
): Script {
  return ({ octets, message: query }) => {
    const time = Math.floor(now() / 1000)
    const [soa, ...others] = records()
    const answer = { ...message({ id: query.id, question: query.question }), flags: { ...query.flags, qr: true, aa: true } }
    const plain = (rcode: number, input: readonly ResourceRecord[] = []) => encodeMessage({ ...answer, rcode, answer: input })
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

/** A response with these values of the queried type. */
export function answerTo(query: Message, values: string[], more: Partial<Message> = {}): Uint8Array {
  const [{ name, type }] = query.question as [Message['question'][0]]
  const flags = { ...query.flags, qr: true, ad: false, ...more.flags }
  const answer = values.map(value => recordOf(name, 60, type, rdataOfContent(type, value, '.')))
  return encodeMessage(message({ id: query.id, question: query.question, answer, ...more, flags }))
}
