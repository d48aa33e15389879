import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { Problem } from '../core/problem'
import { yieldToEventLoop } from '../core/time-slices'
import { mediaTypeOf, readJson, readUpTo, tooLarge } from './request-body'

/** A JSON body as it was sent, which may be compressed. */
export interface SentBody {
  bytes: Uint8Array
  isCompressed: boolean
}

const unzip = promisify(gunzip)
const maxChunkBytes = 256 * 1024
/** Up to this size, as sent and decompressed, decompressing takes less time than handing the body to another thread. */
const smallBytes = 64 * 1024
// The largest report of an agent has about 40,000. Parsing many more would block other work.
const maxValues = 50_000

/**
 * Reads a JSON body that may be compressed with gzip, without decompressing it.
 * @throws Problem 413 if it has more than `maxBytes`, 415
 */
export async function readSent(request: Request, maxBytes: number): Promise<SentBody> {
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  if (mediaTypeOf(request) !== 'application/json')
    throw new Problem('unsupported_media_type', 'The request body must be application/json.')
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'gzip' && encoding !== 'identity')
    throw new Problem(
      'unsupported_media_type',
      `Content-Encoding ${encoding.slice(0, 50)} is not supported. Send the body as it is, or compressed with gzip.`,
    )
  const bytes = request.body ? await readUpTo(request.body, maxBytes) : new Uint8Array(0)
  return { bytes, isCompressed: encoding === 'gzip' }
}

/**
 * Decompresses and parses a body: small ones at once, large ones outside of the event loop and in steps. Decompressing stops at the limit.
 * @throws Problem 400, also if it has more than 50,000 values; 413 if it has more than `maxBytes` decompressed
 */
export async function parseSent({ bytes, isCompressed }: SentBody, maxBytes: number): Promise<unknown> {
  const json = isCompressed ? await decompressed(bytes, maxBytes) : bytes
  await yieldToEventLoop()
  return readJson.parse(json, maxValues)
}

async function decompressed(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  const size = claimedSize(bytes)
  // As large as the result: a thousand bodies that arrive together each have one.
  const chunkSize = Math.min(Math.max(size + 1, minChunkBytes), maxChunkBytes)
  if (bytes.length <= smallBytes && size < smallBytes)
    try {
      return gunzipSync(bytes, { maxOutputLength: Math.min(smallBytes, maxBytes), chunkSize })
    } catch (error) {
      // The claimed size may be wrong.
      if (!isTooLarge(error)) throw notGzip()
    }
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes, chunkSize })
  } catch (error) {
    if (isTooLarge(error))
      throw new Problem('payload_too_large', `The request body is larger than ${maxBytes} bytes when it is decompressed.`)
    throw notGzip()
  }
}

const minChunkBytes = 1024

/** The size of the data according to the last four octets of a gzip file (RFC 1952 section 2.3.1), in bytes. */
const claimedSize = (bytes: Uint8Array): number =>
  bytes.length < 4 ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 4, true)

const isTooLarge = (error: unknown): boolean => (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'

const notGzip = (): Problem =>
  new Problem('malformed_request', 'The request body is not valid gzip data, although Content-Encoding says so.')
