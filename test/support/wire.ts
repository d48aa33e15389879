import type { Socket } from 'bun'
import { requestBytes } from '../../src/cli/bench/load'

/** An answer as it came. */
export interface Answered {
  status: number
  head: string
  body: string
}

/** The connection ended before the answer was whole: the hub may have done what it was asked, or not. */
export class NoAnswer extends Error {
  override name = 'NoAnswer'
}

interface Asked {
  bytes: Uint8Array
  sentAt: number
  resolve(answer: Answered): void
  reject(error: NoAnswer): void
}
interface Line {
  socket: Socket<Line> | null
  asked: Asked | null
  buffered: Buffer
}

/**
 * A client that costs little of the machine it shares with the hub: HTTP/1.1 over raw sockets that are kept open, one request in
 * flight on each. Nothing is sent twice by itself, so that what was sent, answered and not answered is known exactly.
 */
export class Wire {
  /** Requests whose bytes were sent. */
  sent = 0
  private readonly lines = new Set<Line>()
  private readonly idle: Line[] = []
  private readonly queue: Asked[] = []

  constructor(
    private port: number,
    private readonly most = 64,
  ) {}

  /** Requests that wait for a connection or an answer. */
  get waiting(): number {
    return this.queue.length + this.lines.size - this.idle.length
  }

  /** @throws NoAnswer */
  ask(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answered> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const bytes = requestBytes(method, path, { ...(text && { 'Content-Type': 'application/json' }), ...headers }, text)
    return new Promise((resolve, reject) => {
      this.queue.push({ bytes, sentAt: 0, resolve, reject })
      this.next()
    })
  }

  /** Turns to another hub; what waits for an answer of the one before has none. */
  turnTo(port: number): void {
    this.close()
    this.port = port
  }

  close(): void {
    for (const asked of this.queue.splice(0)) asked.reject(new NoAnswer('It was not sent.'))
    for (const line of [...this.lines]) {
      this.ended(line)
      line.socket?.terminate()
    }
  }

  private next(): void {
    while (this.queue.length > 0) {
      const line = this.idle.pop()
      if (line) this.send(line, this.queue.shift()!)
      else if (this.lines.size < this.most) this.connect(this.queue.shift()!)
      else return
    }
  }

  private connect(asked: Asked): void {
    const line: Line = { socket: null, asked, buffered: Buffer.alloc(0) }
    this.lines.add(line)
    void Bun.connect<Line>({
      hostname: '127.0.0.1',
      port: this.port,
      data: line,
      socket: {
        open: socket => {
          line.socket = socket
          if (line.asked) this.send(line, line.asked)
          else socket.terminate()
        },
        data: (_, chunk) => this.heard(line, chunk),
        close: () => this.ended(line),
        error: () => this.ended(line),
        connectError: () => this.ended(line),
      },
    }).catch(() => this.ended(line))
  }

  private send(line: Line, asked: Asked): void {
    line.asked = asked
    this.sent++
    // A request is far smaller than a socket's buffer, so it is taken whole or the connection is broken.
    if (line.socket!.write(asked.bytes) < asked.bytes.length) line.socket!.terminate()
  }

  private heard(line: Line, chunk: Buffer): void {
    line.buffered = line.buffered.length === 0 ? Buffer.from(chunk) : Buffer.concat([line.buffered, chunk])
    const end = line.buffered.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = line.buffered.toString('latin1', 0, end)
    const whole = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    if (line.buffered.length < whole) return
    const body = line.buffered.toString('utf8', end + 4, whole)
    const asked = line.asked
    line.buffered = Buffer.alloc(0)
    line.asked = null
    if (/\r\nconnection: *close/i.test(head)) {
      this.ended(line)
      line.socket!.terminate()
    } else {
      this.idle.push(line)
    }
    // "HTTP/1.1 200 OK"
    asked?.resolve({ status: Number(head.slice(9, 12)), head, body })
    this.next()
  }

  private ended(line: Line): void {
    if (!this.lines.delete(line)) return
    const at = this.idle.indexOf(line)
    if (at >= 0) this.idle.splice(at, 1)
    line.asked?.reject(new NoAnswer('The connection ended before the answer.'))
    line.asked = null
    this.next()
  }
}

/**
 * Calls `fn` at an even rate until the returned function is called. Of what a stalled machine missed, a tenth of a second's worth
 * is made up for.
 */
export function pace(perSecond: number, fn: () => void): () => void {
  let last = performance.now()
  let owed = 0
  const timer = setInterval(() => {
    const now = performance.now()
    owed = Math.min(owed + ((now - last) * perSecond) / 1000, Math.max(1, perSecond / 10))
    last = now
    for (; owed >= 1; owed--) fn()
  }, 5)
  return () => clearInterval(timer)
}
