import { pointerPart } from '../core/pointer'
import { Problem, type FieldProblem } from '../core/problem'

const largestBody = 1024 * 1024
const deepest = 32

/** Reads bodies of the API: JSON only, at most 1 MiB and 32 levels deep. */
export const readJson = {
  /**
   * The raw body, once its length and media type are known to be right.
   * @throws Problem 413 or 415
   */
  async bytes(request: Request, expected: boolean): Promise<Uint8Array> {
    const length = request.headers.get('content-length')
    if (Number(length) > largestBody) throw tooLarge(largestBody)
    // A length that is told is kept to by the server; without one the body is counted while it comes.
    const body =
      length !== null ? await request.bytes() : request.body ? await readUpTo(request.body, largestBody) : new Uint8Array(0)
    const type = request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? null
    if (body.length > 0 || expected) {
      if (type === null && body.length > 0)
        throw new Problem('unsupported_media_type', 'The body needs the header Content-Type: application/json.')
      const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
      if (encoding !== 'identity') throw notEncoded(encoding)
      const charset = /;\s*charset="?([^";\s]+)/i.exec(request.headers.get('content-type') ?? '')?.[1]?.toLowerCase() ?? 'utf-8'
      if (charset !== 'utf-8' && charset !== 'utf8') throw new Problem('unsupported_media_type', 'The body must be in UTF-8.')
      if (type !== null && type !== 'application/json' && !/^application\/[a-z0-9.+-]+\+json$/.test(type)) {
        throw new Problem('unsupported_media_type', 'The body must be application/json.')
      }
    }
    if (!expected && body.length > 0 && new TextDecoder().decode(body).trim() !== '{}')
      throw new Problem('malformed_request', 'This operation takes no body.')
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
        bytes.length === 0 ? 'The body is empty; send a JSON object.' : `The body is not JSON: ${(error as Error).message}.`,
      )
    }
    if (depthOf(value) > deepest) throw new Problem('malformed_json', `The body is nested deeper than ${deepest} levels.`)
    const twice = namedTwice(text)
    if (twice !== null)
      throw new Problem('malformed_json', `The body names the member ${JSON.stringify(twice.slice(0, 100))} twice in one object.`)
    return value
  },
}

/**
 * A body that is a text of one of these media types, as it came.
 * @throws Problem 413 or 415
 */
export async function readText(
  request: Request,
  { types, mostBytes }: { types: Readonly<Record<string, unknown>>; mostBytes: number },
): Promise<Uint8Array> {
  if (Number(request.headers.get('content-length')) > mostBytes) throw tooLarge(mostBytes)
  const body = request.body ? await readUpTo(request.body, mostBytes) : new Uint8Array(0)
  const type = mediaTypeOf(request)
  if (!Object.hasOwn(types, type))
    throw new Problem('unsupported_media_type', `The body must be ${Object.keys(types).join(' or ')}.`)
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity') throw notEncoded(encoding)
  return body
}

/** The media type of a body without its parameters, in lower case; empty where the request has none. */
export const mediaTypeOf = (request: Request): string =>
  request.headers.get('content-type')?.split(';')[0]!.trim().toLowerCase() ?? ''

/**
 * The first name that an object of a JSON text has twice; null where there is none. Parsers differ in which of the two counts (RFC
 * 8259 section 4), so that somebody before the hub may have judged another value than the one it takes.
 * @param text that was parsed before
 */
export function namedTwice(text: string): string | null {
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
    // A string with a colon behind it is a name.
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
 * The texts of a parsed body, names of members included, that no database could give back as they came: PostgreSQL has no NUL,
 * and half of a surrogate pair has no UTF-8 (RFC 3629 section 3). At most 20 are named.
 */
export function unstorable(value: unknown, pointer = '#'): FieldProblem[] {
  if (typeof value === 'string')
    return isStorable(value) ? [] : [{ pointer, code: 'character', detail: `must not hold ${characters}.` }]
  if (typeof value !== 'object' || value === null) return []
  const found: FieldProblem[] = []
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${pointerPart(name)}`
    if (!isStorable(name)) found.push({ pointer: at, code: 'character', detail: `has a name with ${characters}.` })
    else found.push(...unstorable(member, at))
    if (found.length >= mostNamed) break
  }
  return found.slice(0, mostNamed)
}

const mostNamed = 20
const characters = 'a NUL character or half of a surrogate pair'
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

async function readUpTo(stream: ReadableStream<Uint8Array>, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    if (length > most) throw tooLarge(most)
    parts.push(part)
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

const tooLarge = (most: number) => new Problem('payload_too_large', `The body is larger than ${most} bytes.`)

const notEncoded = (encoding: string) =>
  new Problem('unsupported_media_type', `The body must come as it is, not with Content-Encoding: ${encoding.slice(0, 50)}.`)

// Walks with a list of its own: recursion would overflow on what it is meant to refuse.
function depthOf(value: unknown): number {
  let level = [value]
  let depth = 0
  while (level.length > 0 && depth <= deepest) {
    level = level.flatMap(one => (typeof one === 'object' && one !== null ? Object.values(one) : []))
    if (level.some(one => typeof one === 'object' && one !== null)) depth++
    else break
  }
  return depth + 1
}
