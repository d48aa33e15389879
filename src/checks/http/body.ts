import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import { CheckFailed } from '../connect-failure'

/** Codings that are asked for, by the option's word. */
export const acceptEncoding = {
  any: 'gzip, deflate, br, zstd',
  none: 'identity',
  gzip: 'gzip',
  deflate: 'deflate',
  br: 'br',
  zstd: 'zstd',
} as const

/** Reads a stream to its end or its limit; what is beyond is left unread. @throws what the stream breaks with */
export function readUpTo(stream: Readable, limit: number): Promise<{ octets: Buffer; cut: boolean }> {
  const chunks: Buffer[] = []
  let length = 0
  let isDone = false
  // An iterator would do the same for twice the time, and a hub does this hundreds of times a second.
  return new Promise((resolve, reject) => {
    const done = () => {
      isDone = true
      resolve({ octets: Buffer.concat(chunks).subarray(0, limit), cut: length > limit })
    }
    stream.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
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
    // It may have broken in the octets that its head came in.
    if (stream.destroyed) broken()
  })
}

/** How much of a coded body is read for a limit of its decoded form: codings cost some octets, many where a server flushes often. */
export const codedMost = (limit: number): number => 4 * limit + 65_536

/**
 * Undoes the codings of a body (RFC 9110 section 8.4), no further than the limit: a few octets can stand for gigabytes.
 * @param given cut: the body was longer than what is here
 * @throws CheckFailed `content`, where it is not what its header says, or coded in a way that was not asked for
 */
export async function decoded(given: { octets: Buffer; cut: boolean }, contentEncoding: string, limit: number): Promise<Buffer> {
  const codings = contentEncoding
    .toLowerCase()
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '' && one !== 'identity')
  if (codings.length > 2) throw new CheckFailed('content', 'the body is coded more than twice')
  let { octets, cut } = given
  for (const coding of codings.reverse()) {
    if (octets.length === 0) return octets
    const decoder = decoderOf(coding, octets)
    if (!decoder) throw new CheckFailed('content', `the body is coded as ${shown(coding)}, which was not asked for`)
    decoder.end(octets)
    try {
      ;({ octets, cut } = await collected(decoder, limit, cut))
    } catch {
      throw new CheckFailed('content', `the body is not the ${shown(coding)} that its header says`)
    }
  }
  return octets.subarray(0, limit)
}

/** Octets as text: UTF-8 unless the header names another charset that is known. What is no text shows as replacement characters. */
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

const shown = (coding: string): string => coding.replace(/[^\w.-]/g, '').slice(0, 20) || 'something'

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
      // It means the zlib format, which not every server knows (RFC 9110 section 8.4.1.2).
      return (octets[0]! & 0x0f) === 8 ? createInflate() : createInflateRaw()
    default:
      return null
  }
}

/** Like readUpTo, with what came of a body that ends too early where that was cut here. */
async function collected(decoder: Transform, limit: number, inputCut: boolean): Promise<{ octets: Buffer; cut: boolean }> {
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
