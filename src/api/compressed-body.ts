import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Problem } from '../core/problem'
import { yieldToEventLoop } from '../core/time-slices'
import { mediaTypeOf, readJson, readUpTo, tooLarge } from './request-body'

/** A JSON body as it was sent, which may be compressed. */
export interface SentBody {
  bytes: Uint8Array
  isCompressed: boolean
}

const unzip = promisify(gunzip)
const chunkBytes = 256 * 1024
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
 * Decompresses and parses a body, outside of the event loop and in steps. Decompressing stops at the limit.
 * @throws Problem 400, also if it has more than 50,000 values; 413 if it has more than `maxBytes` decompressed
 */
export async function parseSent({ bytes, isCompressed }: SentBody, maxBytes: number): Promise<unknown> {
  const json = isCompressed ? await decompressed(bytes, maxBytes) : bytes
  await yieldToEventLoop()
  return readJson.parse(json, maxValues)
}

async function decompressed(bytes: Uint8Array, maxBytes: number): Promise<Uint8Array> {
  try {
    return await unzip(bytes, { maxOutputLength: maxBytes, chunkSize: chunkBytes })
  } catch (error) {
    if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE')
      throw new Problem('payload_too_large', `The request body is larger than ${maxBytes} bytes when it is decompressed.`)
    throw new Problem('malformed_request', 'The request body is not valid gzip data, although Content-Encoding says so.')
  }
}
