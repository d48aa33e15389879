/** The response is not valid HTTP. The code is the one of Bun’s fetch. */
class InvalidResponse extends Error {
  readonly code = 'Malformed_HTTP_Response'
}

const maxHeaderBytes = 64 * 1024
const maxLineBytes = 1024

/** Reads an HTTP/1.1 response (RFC 9112) from the bytes of a connection that is used for a single request. */
export class ResponseReader {
  status: number | null = null
  readonly headers: Headers = new Headers()
  isComplete = false
  private readonly chunks: Uint8Array[] = []
  private size = 0
  private unread: Buffer = Buffer.alloc(0)
  /** Bytes until the end of the body or of the current chunk; infinite if the body ends with the connection. */
  private left = Number.POSITIVE_INFINITY
  private isChunked = false

  /** @param tooLarge creates the error for a body of more than `maxBytes` */
  constructor(
    private readonly maxBytes: number,
    private readonly tooLarge: () => Error,
  ) {}

  get body(): Uint8Array {
    return Buffer.concat(this.chunks)
  }

  /** Reads bytes that have arrived. @throws Error if the response is invalid or too large */
  add(bytes: Uint8Array): void {
    this.unread = this.unread.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.unread, bytes])
    while (this.status === null) if (!this.readHead()) return
    while (this.unread.length > 0 && !this.isComplete) if (this.left > 0 ? !this.readBody() : !this.readChunkSize()) return
  }

  /** The connection was closed. */
  end(): void {
    if (this.status !== null && this.left === Number.POSITIVE_INFINITY) this.isComplete = true
  }

  /** @returns whether there was one */
  private readHead(): boolean {
    const end = this.unread.indexOf('\r\n\r\n')
    if (Math.max(end, this.unread.length - 4) > maxHeaderBytes) throw new InvalidResponse('The headers are too large.')
    if (end < 0) return false
    const [first = '', ...lines] = this.unread.toString('latin1', 0, end).split('\r\n')
    this.unread = this.unread.subarray(end + 4)
    const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(first)?.[1])
    if (Number.isNaN(status)) throw new InvalidResponse('The status line is invalid.')
    // 100 Continue and 103 Early Hints precede the response (RFC 9110 section 15.2).
    if (status < 200) return true
    this.status = status
    for (const line of lines) {
      const colon = line.indexOf(':')
      if (colon < 1) throw new InvalidResponse('A header is invalid.')
      this.headers.append(line.slice(0, colon), line.slice(colon + 1).trim())
    }
    const length = this.headers.get('content-length')
    // A length doesn’t count if the body is in chunks (RFC 9112 section 6.3).
    if (this.headers.has('transfer-encoding')) this.startChunks()
    else if (length !== null) this.startBody(length)
    if (status === 204 || status === 304) this.left = 0
    this.isComplete = !this.isChunked && this.left === 0
    return true
  }

  private startChunks(): void {
    if (this.headers.get('transfer-encoding')!.toLowerCase() !== 'chunked') throw new InvalidResponse('The encoding is unknown.')
    this.isChunked = true
    this.left = 0
  }

  private startBody(length: string): void {
    if (!/^\d{1,15}$/.test(length)) throw new InvalidResponse('The length is invalid.')
    this.left = Number(length)
    if (this.left > this.maxBytes) throw this.tooLarge()
  }

  private readBody(): boolean {
    const part = this.unread.subarray(0, Math.min(this.left, this.unread.length))
    this.unread = this.unread.subarray(part.length)
    this.left -= part.length
    this.size += part.length
    if (this.size > this.maxBytes) throw this.tooLarge()
    this.chunks.push(part)
    this.isComplete = this.left === 0 && !this.isChunked
    return true
  }

  /** @returns whether there was one */
  private readChunkSize(): boolean {
    const end = this.unread.indexOf('\r\n')
    if (end < 0 && this.unread.length > maxLineBytes) throw new InvalidResponse('A chunk is invalid.')
    if (end < 0) return false
    const line = this.unread.toString('latin1', 0, end)
    this.unread = this.unread.subarray(end + 2)
    // The end of the chunk before.
    if (line === '' && this.size > 0) return true
    const [, size] = /^([0-9a-f]{1,8})\s*(?:;|$)/i.exec(line) ?? []
    if (size === undefined) throw new InvalidResponse('A chunk is invalid.')
    this.left = Number.parseInt(size, 16)
    // What follows are only trailers, which the agent doesn’t need.
    this.isComplete = this.left === 0
    return true
  }
}
