import { sha256Hex } from '../core/crypto'

// Below this, a packet is a packet.
const leastGzipped = 1400

/** Something that is the same for everybody until the program is replaced: a page, a script, the API description. */
export class HeldFile {
  readonly etag: string
  private readonly bytes: Uint8Array<ArrayBuffer>
  private gzipped: Uint8Array<ArrayBuffer> | null = null

  constructor(
    content: string | Uint8Array<ArrayBuffer>,
    readonly type: string,
    private readonly headers: Record<string, string> = {},
  ) {
    this.bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    // Weak: the packed and the plain form share it (RFC 9110 section 8.8.3).
    this.etag = `W/"${sha256Hex(this.bytes).slice(0, 20)}"`
  }

  /** A file embedded in the program, read at first use and kept from then on. */
  static async read(path: string, type: string): Promise<HeldFile> {
    return new HeldFile(new Uint8Array(await Bun.file(path).arrayBuffer()), type)
  }

  /** Answers 200, or 304 to whoever has it. */
  answer(request: Request, status = 200): Response {
    const cached = { ETag: this.etag, Vary: 'Accept-Encoding', 'Cache-Control': 'no-cache' }
    const known = request.headers.get('if-none-match')
    if (status === 200 && known?.split(',').some(one => one.trim() === this.etag))
      return new Response(null, { status: 304, headers: cached })
    const headers: Record<string, string> = {
      ...cached,
      'Content-Type': this.type,
      'X-Content-Type-Options': 'nosniff',
      ...this.headers,
    }
    if (
      this.bytes.length < leastGzipped ||
      !/\bgzip\b(?!\s*;\s*q=0(?:\.0+)?(?:,|$))/.test(request.headers.get('accept-encoding') ?? '')
    ) {
      return new Response(this.bytes, { status, headers })
    }
    this.gzipped ??= Bun.gzipSync(this.bytes)
    return new Response(this.gzipped, { status, headers: { ...headers, 'Content-Encoding': 'gzip' } })
  }
}

/** What every HTML page is sent with. Scripts and styles come from this address alone, and no other site may frame the page. */
export const pageHeaders: Record<string, string> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'same-origin',
}
