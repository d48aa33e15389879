import { randomBytes } from 'node:crypto'
import { CheckFailed } from '../connect-failure'
import { quoted, type Talk } from '../talk'
import { frame, OPCODE } from './frame'

// RFC 6455 section 7.4.1.
const NORMAL = 1000

/** Messages of an open WebSocket, as the client sends and gets them. */
export class Messages {
  constructor(private readonly talk: Talk) {}

  send(text: string): void {
    this.write(OPCODE.text, Buffer.from(text))
  }

  /**
   * The next message, of text or of octets that are read as text. Answers what is asked in between (section 5.5.2).
   * @throws CheckFailed
   */
  async next(late: string): Promise<string> {
    const parts: Buffer[] = []
    for (;;) {
      const { opcode, last, payload } = await this.frame(late)
      if (opcode === OPCODE.close) throw closed(payload)
      if (opcode === OPCODE.ping) this.write(OPCODE.pong, payload)
      if (opcode >= OPCODE.close) continue
      if ((opcode === OPCODE.continuation) !== parts.length > 0) throw broken('a message in pieces that do not belong together')
      parts.push(payload)
      if (last) return new TextDecoder().decode(Buffer.concat(parts))
    }
  }

  close(): void {
    const code = Buffer.alloc(2)
    code.writeUInt16BE(NORMAL)
    this.write(OPCODE.close, code)
  }

  private write(opcode: number, payload: Uint8Array): void {
    this.talk.send(frame(opcode, payload, randomBytes(4)))
  }

  /** One frame (section 5.2). */
  private async frame(late: string): Promise<{ opcode: number; last: boolean; payload: Buffer }> {
    const head = await this.talk.octets(2, late)
    const [first, second] = [head[0]!, head[1]!]
    const opcode = first & 15
    if (first & 0x70) throw broken('bits that no extension was agreed on for')
    if (second & 0x80) throw broken('a masked frame, which only clients send')
    if (!known.has(opcode)) throw broken(`a frame of the kind ${opcode}, which does not exist`)
    const short = second & 127
    if (opcode >= OPCODE.close && (short > 125 || !(first & 0x80))) throw broken('a control frame that is long or in pieces')
    const length =
      short < 126
        ? short
        : short === 126
          ? (await this.talk.octets(2, late)).readUInt16BE()
          : Number((await this.talk.octets(8, late)).readBigUInt64BE())
    return { opcode, last: (first & 0x80) !== 0, payload: await this.talk.octets(length, late) }
  }
}

const known = new Set<number>(Object.values(OPCODE))

const broken = (what: string) => new CheckFailed('protocol', `the server sent ${what}`)

function closed(payload: Buffer): CheckFailed {
  const code = payload.length >= 2 ? ` with ${payload.readUInt16BE()}` : ''
  const reason = payload.length > 2 ? `: ${quoted(payload.subarray(2).toString())}` : ''
  return new CheckFailed('closed', `the server closed the WebSocket${code}${reason}`)
}
