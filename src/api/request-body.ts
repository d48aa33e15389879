import { pointerPart } from '../core/pointer'
import { Problem, type FieldProblem } from '../core/problem'

const maxBodyBytes = 1024 * 1024
const maxDepth = 32

/** Reads request bodies of the API: JSON only, at most 1 MiB and 32 levels deep. */
export const readJson = {
  /**
   * The raw body, after checking its length and media type.
   * @throws Problem 413 or 415
   */
  async bytes(request: Request, expected: boolean): Promise<Uint8Array> {
    const length = request.headers.get('content-length')
    if (Number(length) > maxBodyBytes) throw tooLarge(maxBodyBytes)
    // The server enforces a declared length; a body without one is counted while it is read.
    const body =
      length !== null ? await request.bytes() : request.body ? await readUpTo(request.body, maxBodyBytes) : new Uint8Array(0)
    const type = request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? null
    if (body.length > 0 || expected) {
      if (type === null && body.length > 0)
        throw new Problem('unsupported_media_type', 'The request body needs the header Content-Type: application/json.')
      const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
      if (encoding !== 'identity') throw encodingNotSupported(encoding)
      const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers.get('content-type') ?? '')?.[1]?.toLowerCase() ?? 'utf-8'
      if (charset !== 'utf-8' && charset !== 'utf8')
        throw new Problem('unsupported_media_type', 'The request body must be encoded in UTF-8.')
      if (type !== null && type !== 'application/json' && !/^application\/[a-z0-9.+-]+\+json$/.test(type)) {
        throw new Problem('unsupported_media_type', 'The request body must be application/json.')
      }
    }
    if (!expected && body.length > 0 && new TextDecoder().decode(body).trim() !== '{}')
      throw new Problem('malformed_request', 'This operation takes no request body.')
    return body
  },

  /** @throws Problem 400 `malformed_json` */
  parse(bytes: Uint8Array): unknown {
    let text: string
    let value: unknown
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      value = JSON.parse(text)
    } catch (error) {
      throw new Problem(
        'malformed_json',
        bytes.length === 0
          ? 'The request body is empty. Send a JSON object.'
          : `The request body is not valid JSON: ${(error as Error).message}.`,
      )
    }
    if (depthOf(value) > maxDepth)
      throw new Problem('malformed_json', `The request body is nested deeper than ${maxDepth} levels.`)
    const duplicate = duplicateKey(text)
    if (duplicate !== null)
      throw new Problem(
        'malformed_json',
        `The request body contains the field ${JSON.stringify(duplicate.slice(0, 100))} twice in the same object.`,
      )
    return value
  },
}

/**
 * Reads a body of one of these media types, as bytes.
 * @throws Problem 413 or 415
 */
export async function readText(
  request: Request,
  { types, maxBytes }: { types: Readonly<Record<string, unknown>>; maxBytes: number },
): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > maxBytes) throw tooLarge(maxBytes)
  const body = request.body ? await readUpTo(request.body, maxBytes) : new Uint8Array(0)
  const type = mediaTypeOf(request)
  if (!Object.hasOwn(types, type))
    throw new Problem('unsupported_media_type', `The request body must be ${Object.keys(types).join(' or ')}.`)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw encodingNotSupported(encoding)
  return body
}

/** The media type of the body without parameters, in lowercase; empty if the request has none. */
export const mediaTypeOf = (request: Request): string =>
  request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? ''

/**
 * The first name that occurs twice in an object of a JSON text; null if there is none. Parsers differ in which of the two they
 * use (RFC 8259 section 4), so a proxy or client-side check may have seen another value than the hub.
 * @param text valid JSON
 */
export function duplicateKey(text: string): string | null {
  const open: Set<string>[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    if (char === brace) open.push(new Set())
    else if (char === braceEnd) open.pop()
    if (char !== quote) continue
    const start = at
    let escaped = false
    for (at++; text.charCodeAt(at) !== quote; at++) {
      if (text.charCodeAt(at) !== backslash) continue
      escaped = true
      at++
    }
    let next = at + 1
    while (text.charCodeAt(next) <= space) next++
    // A string followed by a colon is a name.
    if (text.charCodeAt(next) !== colon) continue
    const name = escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at)
    const names = open.at(-1)!
    if (names.has(name)) return name
    names.add(name)
  }
  return null
}

const [brace, braceEnd, quote, backslash, colon, space] = [...'{}"\\: '].map(char => char.charCodeAt(0)) as [
  number,
  number,
  number,
  number,
  number,
  number,
]

/**
 * The strings of a parsed body, including field names, that databases cannot store unchanged: PostgreSQL has no NUL, and an
 * unpaired surrogate has no UTF-8 encoding (RFC 3629 section 3). Reports at most 20.
 */
export function unstorable(value: unknown, pointer = '#'): FieldProblem[] {
  if (typeof value === 'string')
    return isStorable(value) ? [] : [{ pointer, code: 'character', detail: `must not contain ${characters}.` }]
  if (typeof value !== 'object' || value === null) return []
  const found: FieldProblem[] = []
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${pointerPart(name)}`
    if (!isStorable(name)) found.push({ pointer: at, code: 'character', detail: `has a name with ${characters}.` })
    else found.push(...unstorable(member, at))
    if (found.length >= maxReported) break
  }
  return found.slice(0, maxReported)
}

const maxReported = 20
const characters = 'a NUL character or an unpaired surrogate'
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

async function readUpTo(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

const tooLarge = (maxBytes: number) => new Problem('payload_too_large', `The request body is larger than ${maxBytes} bytes.`)

const encodingNotSupported = (encoding: string) =>
  new Problem(
    'unsupported_media_type',
    `The request body must not be compressed: Content-Encoding ${encoding.slice(0, 50)} is not supported.`,
  )

// Iterative, because recursion would overflow on the input that this is meant to refuse.
function depthOf(value: unknown): number {
  let level = [value]
  let depth = 0
  while (level.length > 0 && depth <= maxDepth) {
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
    if (level.some(one => typeof one === 'object' && one !== null)) depth++
    else break
  }
  return depth + 1
}
