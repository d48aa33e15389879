import type { Socket } from 'bun'
import { responseLength } from './load'

/** The hub closes connections that were idle for a minute, possibly just when a request is sent. */
const maxIdleMs = 50_000

interface WireResponse {
  status: number
  body: string
}

/** An HTTP/1.1 connection that is reused, for one request after another. It connects again after a pause. */
export class Wire {
  private socket: Socket | null = null
  private buffered: Buffer = Buffer.alloc(0)
  private unsent: Uint8Array = new Uint8Array(0)
  private waiting: PromiseWithResolvers<WireResponse> | null = null
  private usedAt = 0
  private last: Promise<unknown> = Promise.resolve()

  constructor(private readonly port: number) {}

  /** @throws Error if the connection ends before the response */
  send(bytes: Uint8Array): Promise<WireResponse> {
    const turn = this.last.then(() => this.sendNow(bytes))
    this.last = turn.catch(() => {})
    return turn
  }

  private async sendNow(bytes: Uint8Array): Promise<WireResponse> {
    if (performance.now() - this.usedAt > maxIdleMs) this.close()
    this.socket ??= await this.connect()
    this.waiting = Promise.withResolvers()
    this.unsent = bytes
    this.write(this.socket)
    const response = await this.waiting.promise
    this.usedAt = performance.now()
    return response
  }

  close(): void {
    this.socket?.terminate()
    this.socket = null
  }

  private write(socket: Socket): void {
    if (this.unsent.length > 0) this.unsent = this.unsent.subarray(socket.write(this.unsent))
  }

  private connect(): Promise<Socket> {
    return Bun.connect({
      hostname: '127.0.0.1',
      port: this.port,
      socket: {
        data: (_, chunk) => this.receive(chunk),
        drain: socket => this.write(socket),
        close: socket => {
          if (this.socket !== null && this.socket !== socket) return
          this.socket = null
          this.buffered = Buffer.alloc(0)
          this.waiting?.reject(new Error('The connection was closed.'))
          this.waiting = null
        },
        error: socket => void socket.terminate(),
      },
    })
  }

  private receive(chunk: Buffer): void {
    this.buffered = this.buffered.length === 0 ? chunk : Buffer.concat([this.buffered, chunk])
    const length = responseLength(this.buffered)
    if (length === null || this.buffered.length < length) return
    const text = this.buffered.toString('utf8', 0, length)
    this.buffered = Buffer.alloc(0)
    const { waiting } = this
    this.waiting = null
    // "HTTP/1.1 200 …"
    waiting?.resolve({ status: Number(text.slice(9, 12)), body: text.slice(text.indexOf('\r\n\r\n') + 4) })
  }
}
