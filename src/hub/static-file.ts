import { sha256Hex } from '../core/crypto'

// Smaller responses fit in one packet anyway.
const minCompressedBytes = 1400

type Bytes = Uint8Array<ArrayBuffer>

/** Forms of a file that were compressed when the program was built. */
export interface Compressed {
  br?: Bytes
  gzip?: Bytes
}

/** A file that never changes while the program runs: a page, a script, the API description. */
export class StaticFile {
  readonly etag: string
  private readonly bytes: Bytes

  constructor(
    content: string | Bytes,
    readonly type: string,
    private readonly headers: Record<string, string> = {},
    private readonly compressed: Compressed = {},
  ) {
    this.bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    // Weak, because the compressed and uncompressed forms share it (RFC 9110 section 8.8.3).
    this.etag = `W/"${sha256Hex(this.bytes).slice(0, 20)}"`
  }

  /** Reads a file embedded in the program. */
  static async read(path: string, type: string): Promise<StaticFile> {
    return new StaticFile(new Uint8Array(await Bun.file(path).arrayBuffer()), type)
  }

  /** Responds with 200, or with 304 if the client already has the file. */
  respond(request: Request, status = 200): Response {
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
    return new Response(this.compressed[encoding], { status, headers: { ...headers, 'Content-Encoding': encoding } })
  }

  private encodingFor(accepted: string): keyof Compressed | null {
    if (this.bytes.length < minCompressedBytes) return null
    if (this.compressed.br && accepts(accepted, 'br')) return 'br'
    if (!accepts(accepted, 'gzip')) return null
    this.compressed.gzip ??= Bun.gzipSync(this.bytes)
    return 'gzip'
  }
}

/** Whether Accept-Encoding (RFC 9110 section 12.5.3) accepts a coding: it is listed, with a weight other than 0. */
const accepts = (header: string, coding: string) => new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0+)?(?:,|$))`).test(header)

/** Headers of every HTML page. Scripts and styles are only loaded from the hub, and other sites can't frame the page. */
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
