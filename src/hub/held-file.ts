import { sha256Hex } from '../core/crypto'

// Below this, a packet is a packet.
const leastGzipped = 1400

type Bytes = Uint8Array<ArrayBuffer>

/** Forms of a file that were packed when the program was built. */
export interface Packed {
  br?: Bytes
  gzip?: Bytes
}

/** Something that is the same for everybody until the program is replaced: a page, a script, the API description. */
export class HeldFile {
  readonly etag: string
  private readonly bytes: Bytes

  constructor(
    content: string | Bytes,
    readonly type: string,
    private readonly headers: Record<string, string> = {},
    private readonly packed: Packed = {},
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
    const cached = { ETag: this.etag, Vary: 'Accept-Encoding', 'Cache-Control': this.headers['Cache-Control'] ?? 'no-cache' }
    const known = request.headers.get('if-none-match')
    if (status === 200 && known?.split(',').some(one => one.trim() === this.etag))
      return new Response(null, { status: 304, headers: cached })
    const headers: Record<string, string> = {
      'Content-Type': this.type,
      'X-Content-Type-Options': 'nosniff',
      ...this.headers,
      ...cached,
    }
    const encoding = this.encodingFor(request.headers.get('accept-encoding') ?? '')
    if (encoding === null) return new Response(this.bytes, { status, headers })
    return new Response(this.packed[encoding], { status, headers: { ...headers, 'Content-Encoding': encoding } })
  }

  private encodingFor(accepted: string): keyof Packed | null {
    if (this.bytes.length < leastGzipped) return null
    if (this.packed.br && accepts(accepted, 'br')) return 'br'
    if (!accepts(accepted, 'gzip')) return null
    this.packed.gzip ??= Bun.gzipSync(this.bytes)
    return 'gzip'
  }
}

/** Whether Accept-Encoding (RFC 9110 section 12.5.3) names a coding, and not with a weight of 0. */
const accepts = (header: string, coding: string) => new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0+)?(?:,|$))`).test(header)

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
