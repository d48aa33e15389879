import { randomBytes } from 'node:crypto'
import { CheckFailed } from '../connect-failure'
import { quoted, type BufferedConnection } from '../buffered-connection'
import { frame, OPCODE } from './frame'

// RFC 6455 section 7.4.1.
const NORMAL = 1000

// Tiny frames would take seconds within the limit of bytes.
const maxFrames = 10_000

/** Messages on an open WebSocket, from the client's side. */
export class Messages {
  private frames = 0

  constructor(private readonly connection: BufferedConnection) {}

  send(text: string): void {
    this.write(OPCODE.text, Buffer.from(text))
  }

  /**
   * The next text or binary message, as text. Replies to pings in between (section 5.5.2).
   * @throws CheckFailed
   */
  async next(awaited: string): Promise<string> {
    const parts: Buffer[] = []
    for (;;) {
      const { opcode, last, payload } = await this.frame(awaited)
      if (opcode === OPCODE.close) throw closed(payload)
      if (opcode === OPCODE.ping) this.write(OPCODE.pong, payload)
      if (opcode >= OPCODE.close) continue
      if ((opcode === OPCODE.continuation) !== parts.length > 0) throw broken('an invalid continuation frame')
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
    this.connection.send(frame(opcode, payload, randomBytes(4)))
  }

  /** One frame (section 5.2). */
  private async frame(awaited: string): Promise<{ opcode: number; last: boolean; payload: Buffer }> {
    if (++this.frames > maxFrames) throw broken(`more than ${maxFrames.toLocaleString('en-US')} frames`)
    const head = await this.connection.readBytes(2, awaited)
    const [first, second] = [head[0]!, head[1]!]
    const opcode = first & 15
    if (first & 0x70) throw broken('reserved bits without a negotiated extension')
    if (second & 0x80) throw broken('a masked frame')
    if (!known.has(opcode)) throw broken(`a frame with unknown opcode ${opcode}`)
    const short = second & 127
    if (opcode >= OPCODE.close && (short > 125 || !(first & 0x80))) throw broken('a fragmented or oversized control frame')
    const length =
      short < 126
        ? short
        : short === 126
          ? (await this.connection.readBytes(2, awaited)).readUInt16BE()
          : Number((await this.connection.readBytes(8, awaited)).readBigUInt64BE())
    return { opcode, last: (first & 0x80) !== 0, payload: await this.connection.readBytes(length, awaited) }
  }
}

const known = new Set<number>(Object.values(OPCODE))

const broken = (what: string) => new CheckFailed('protocol', `the server sent ${what}`)

function closed(payload: Buffer): CheckFailed {
  const code = payload.length >= 2 ? ` with code ${payload.readUInt16BE()}` : ''
  const reason = payload.length > 2 ? `: ${quoted(payload.subarray(2).toString())}` : ''
  return new CheckFailed('closed', `the server closed the WebSocket${code}${reason}`)
}
