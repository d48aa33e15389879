import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { CheckFailed } from '../connect-failure'

/** `Accept-Encoding` by the value of the option. */
export const acceptEncoding = {
  any: 'gzip, deflate, br, zstd',
  none: 'identity',
  gzip: 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
} as const

// Tiny chunks would take a second within the limit of bytes.
const maxChunks = 50_000

/** Reads a stream up to its end or the limit; the rest is left unread. @throws the stream's error */
export function readUpTo(stream: Readable, limit: number): Promise<{ octets: Buffer; cut: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  let isDone = false
  // An async iterator would take twice as long, and a hub does this hundreds of times a second.
  return new Promise((resolve, reject) => {
    const done = () => {
      isDone = true
      resolve({ octets: Buffer.concat(chunks).subarray(0, limit), cut: length > limit })
    }
    stream.on('data', (chunk: Buffer) => {
      if (chunks.push(chunk) > maxChunks) stream.destroy(new CheckFailed('protocol', 'the body has too many chunks'))
      length += chunk.length
      if (length <= limit) return
      done()
      stream.destroy()
    })
    stream.once('end', done)
    const broken = () => {
      if (!isDone) reject(stream.errored ?? Object.assign(new Error('closed'), { code: 'ECONNRESET' }))
    }
    stream.once('error', broken)
    stream.once('close', broken)
    // The stream may have failed together with the head of the response.
    if (stream.destroyed) broken()
  })
}

/** How much of an encoded body to read for a limit on the decoded size: encodings add overhead, especially if a server flushes often. */
export const maxEncodedBytes = (limit: number): number => 4 * limit + 65_536

/**
 * Decodes a body (RFC 9110 section 8.4) up to the limit: a few bytes can expand to gigabytes.
 * @param encoded `cut`: the body was longer than `octets`
 * @throws CheckFailed `content` if the body is invalid, or has an encoding that was not requested
 */
export async function decodeBody(
  encoded: { octets: Buffer; cut: boolean },
  contentEncoding: string,
  limit: number,
): Promise<Buffer> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '' && one !== 'identity')
  if (codings.length > 2) throw new CheckFailed('content', 'the body has more than two content encodings')
  let { octets, cut } = encoded
  for (const coding of codings.reverse()) {
    if (octets.length === 0) return octets
    const decoder = decoderOf(coding, octets)
    if (!decoder)
      throw new CheckFailed('content', `the body has the content encoding ${displayName(coding)}, which was not requested`)
    decoder.end(octets)
    try {
      ;({ octets, cut } = await collect(decoder, limit, cut))
    } catch {
      throw new CheckFailed('content', `the body is not valid ${displayName(coding)}`)
    }
  }
  return octets.subarray(0, limit)
}

/** Decodes text: UTF-8, unless the header names another known charset. Invalid bytes show as replacement characters. */
export function textOf(octets: Uint8Array, contentType: string | undefined): string {
  const label = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType ?? '')?.[1]
  if (label === undefined || label.toLowerCase() === 'utf-8') return utf8.decode(octets)
  try {
    return new TextDecoder(label as Bun.Encoding).decode(octets)
  } catch {
    return utf8.decode(octets)
  }
}

const utf8 = new TextDecoder()

const displayName = (coding: string): string => coding.replace(/[^\w.-]/g, '').slice(0, 20) || 'unknown'

function decoderOf(coding: string, octets: Buffer): Transform | null {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    case 'deflate':
      // HTTP means the zlib format, but some servers send raw deflate (RFC 9110 section 8.4.1.2).
      return (octets[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw()
    default:
      return null
  }
}

/** Like readUpTo, but keeps what a truncated body decoded to if it was cut here. */
async function collect(decoder: Transform, limit: number, inputCut: boolean): Promise<{ octets: Buffer; cut: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  try {
    for await (const chunk of decoder as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      length += chunk.length
      if (length > limit) break
    }
  } catch (error) {
    if (!inputCut) throw error
  }
  return { octets: Buffer.concat(chunks).subarray(0, limit), cut: inputCut || length > limit }
}
