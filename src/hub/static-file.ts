import { promisify } from 'node:util'
import { gzip as zlibGzip } from 'node:zlib'
import { sha256Hex } from '../core/crypto'

// Smaller responses fit in one packet anyway.
const minCompressedBytes = 1400

type Bytes = Uint8Array<ArrayBuffer>

const codings = ['br', 'zstd', 'gzip'] as const
type Coding = (typeof codings)[number]

/** Forms of a file that were compressed when the program was built. */
export type Compressed = Partial<Record<'br' | 'gzip', Bytes>>

const gzip = promisify(zlibGzip)

/** A file that never changes while the program runs: a page, a script, the API description. */
export class StaticFile {
  readonly etag: string
  private readonly bytes: Bytes
  private readonly cached: Record<string, string>
  private readonly whole: Record<string, string>
  private readonly compressed: Partial<Record<Coding, Bytes | Promise<Bytes>>>

  constructor(
    content: string | Bytes,
    readonly type: string,
    headers: Record<string, string> = {},
    compressed: Compressed = {},
  ) {
    this.bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
    this.compressed = { ...compressed }
    // Weak, because the compressed and uncompressed forms share it (RFC 9110 section 8.8.3).
    this.etag = `W/"${sha256Hex(this.bytes).slice(0, 20)}"`
    this.cached = { ETag: this.etag, Vary: 'Accept-Encoding', 'Cache-Control': headers['Cache-Control'] ?? 'no-cache' }
    this.whole = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff', ...headers, ...this.cached }
  }

  /** Reads a file embedded in the program. */
  static async read(path: string, type: string): Promise<StaticFile> {
    return new StaticFile(new Uint8Array(await Bun.file(path).arrayBuffer()), type)
  }

  /** Responds with 200, or with 304 if the client already has the file. */
  respond(request: Request, status = 200): Response | Promise<Response> {
    const known = request.headers.get('if-none-match')
    if (status === 200 && known?.split(',').some(one => one.trim() === this.etag))
      return new Response(null, { status: 304, headers: this.cached })
    const coding = this.codingFor(request.headers.get('accept-encoding'))
    if (coding === null) return new Response(this.bytes, { status, headers: this.whole })
    const respond = (bytes: Bytes) => new Response(bytes, { status, headers: { ...this.whole, 'Content-Encoding': coding } })
    const bytes = this.compressedAs(coding)
    return bytes instanceof Promise ? bytes.then(respond) : respond(bytes)
  }

  private codingFor(accepted: string | null): Coding | null {
    if (accepted === null || this.bytes.length < minCompressedBytes) return null
    if (this.compressed.br && accepts(accepted, 'br')) return 'br'
    return accepts(accepted, 'zstd') ? 'zstd' : accepts(accepted, 'gzip') ? 'gzip' : null
  }

  /** The compressed form. The first time, it is created in another thread: it takes up to 50 ms. */
  private compressedAs(coding: Coding): Bytes | Promise<Bytes> {
    return (this.compressed[coding] ??= this.compress(coding))
  }

  private async compress(coding: Coding): Promise<Bytes> {
    try {
      const bytes = coding === 'zstd' ? await Bun.zstdCompress(this.bytes, { level: 9 }) : await gzip(this.bytes)
      return (this.compressed[coding] = bytes as Bytes)
    } catch (error) {
      delete this.compressed[coding]
      throw error
    }
  }
}

/** Whether Accept-Encoding (RFC 9110 section 12.5.3) accepts a coding: it is listed, with a weight other than 0. */
const accepts = (header: string, coding: Coding) => listed[coding].test(header)

const listed = Object.fromEntries(
  codings.map(coding => [coding, new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(?:\\.0+)?(?:,|$))`)]),
) as Record<Coding, RegExp>

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
