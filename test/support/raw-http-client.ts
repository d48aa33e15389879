import type { Socket } from 'bun'
import { requestBytes } from '../../src/cli/bench/load'

/** A received response. */
export interface RawResponse {
  status: number
  head: string
  body: string
}

/** The connection was closed before the response was complete. The hub may or may not have processed the request. */
export class NoResponse extends Error {
  override name = 'NoResponse'
}

interface PendingRequest {
  bytes: Uint8Array
  sentAt: number
  resolve(response: RawResponse): void
  reject(error: NoResponse): void
}
interface Connection {
  socket: Socket<Connection> | null
  pending: PendingRequest | null
  buffered: Buffer
}

/**
 * An HTTP/1.1 client with little overhead, because it shares the machine with the hub: persistent raw connections with one
 * request in flight on each. It never retries, so that it is known exactly which requests were sent and got a response.
 */
export class RawHttpClient {
  /** Number of requests sent. */
  sent = 0
  private readonly connections = new Set<Connection>()
  private readonly idle: Connection[] = []
  private readonly queue: PendingRequest[] = []

  constructor(
    private port: number,
    private readonly maxConnections = 64,
  ) {}

  /** Number of requests that wait for a connection or a response. */
  get waiting(): number {
    return this.queue.length + this.connections.size - this.idle.length
  }

  /** @throws NoResponse */
  request(method: string, path: string, headers: Record<string, string> = {}, body?: unknown): Promise<RawResponse> {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body)
    const bytes = requestBytes(method, path, { ...(text && { 'Content-Type': 'application/json' }), ...headers }, text)
    return new Promise((resolve, reject) => {
      this.queue.push({ bytes, sentAt: 0, resolve, reject })
      this.next()
    })
  }

  /** Switches to another hub. Pending requests fail. */
  switchTo(port: number): void {
    this.close()
    this.port = port
  }

  close(): void {
    for (const pending of this.queue.splice(0)) pending.reject(new NoResponse('The request was not sent.'))
    for (const connection of [...this.connections]) {
      this.closed(connection)
      connection.socket?.terminate()
    }
  }

  private next(): void {
    while (this.queue.length > 0) {
      const connection = this.idle.pop()
      if (connection) this.send(connection, this.queue.shift()!)
      else if (this.connections.size < this.maxConnections) this.connect(this.queue.shift()!)
      else return
    }
  }

  private connect(pending: PendingRequest): void {
    const connection: Connection = { socket: null, pending, buffered: Buffer.alloc(0) }
    this.connections.add(connection)
    void Bun.connect<Connection>({
      hostname: '127.0.0.1',
      port: this.port,
      data: connection,
      socket: {
        open: socket => {
          connection.socket = socket
          if (connection.pending) this.send(connection, connection.pending)
          else socket.terminate()
        },
        data: (_, chunk) => this.received(connection, chunk),
        close: () => this.closed(connection),
        error: () => this.closed(connection),
        connectError: () => this.closed(connection),
      },
    }).catch(() => this.closed(connection))
  }

  private send(connection: Connection, pending: PendingRequest): void {
    connection.pending = pending
    this.sent++
    // A request is much smaller than the socket buffer, so a partial write means that the connection is broken.
    if (connection.socket!.write(pending.bytes) < pending.bytes.length) connection.socket!.terminate()
  }

  private received(connection: Connection, chunk: Buffer): void {
    connection.buffered = connection.buffered.length === 0 ? Buffer.from(chunk) : Buffer.concat([connection.buffered, chunk])
    const end = connection.buffered.indexOf('\r\n\r\n')
    if (end < 0) return
    const head = connection.buffered.toString('latin1', 0, end)
    const length = end + 4 + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
    if (connection.buffered.length < length) return
    const body = connection.buffered.toString('utf8', end + 4, length)
    const { pending } = connection
    connection.buffered = Buffer.alloc(0)
    connection.pending = null
    if (/\r\nconnection: *close/i.test(head)) {
      this.closed(connection)
      connection.socket!.terminate()
    } else {
      this.idle.push(connection)
    }
    // "HTTP/1.1 200 OK"
    pending?.resolve({ status: Number(head.slice(9, 12)), head, body })
    this.next()
  }

  private closed(connection: Connection): void {
    if (!this.connections.delete(connection)) return
    const at = this.idle.indexOf(connection)
    if (at >= 0) this.idle.splice(at, 1)
    connection.pending?.reject(new NoResponse('The connection was closed before the response.'))
    connection.pending = null
    this.next()
  }
}

/**
 * Calls `fn` at an even rate until the returned function is called. Catches up at most a tenth of a second after the machine
 * stalled.
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
