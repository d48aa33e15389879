import { pointerPart } from '../core/pointer'
import { Problem, type FieldProblem } from '../core/problem'

const maxBodyBytes = 1024 * 1024
const maxDepth = 32
// Small values are expensive: a mebibyte of them takes a second to validate.
const defaultMaxValues = 100_000
const defaultMaxFields = 2000

/** Reads request bodies of the API: JSON only, at most 1 MiB, 32 levels, and 100,000 values. */
export const readJson = {
  /**
   * The raw body, after checking its length and media type.
   * @throws Problem 413 or 415
   */
  async bytes(request: Request, expected: boolean, maxBytes = maxBodyBytes): Promise<Uint8Array> {
    const length = request.headers.get('content-length')
    if (Number(length) > maxBytes) throw tooLarge(maxBytes)
    // The server enforces a declared length; a body without one is counted while it is read.
    const body =
      length !== null ? await request.bytes() : request.body ? await readUpTo(request.body, maxBytes) : new Uint8Array(0)
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
  parse(bytes: Uint8Array, maxValues?: number, maxFields?: number): unknown {
    try {
      const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
      checkStructure(text, maxValues, maxFields)
      return JSON.parse(text)
    } catch (error) {
      if (error instanceof Problem) throw error
      throw new Problem(
        'malformed_json',
        bytes.length === 0
          ? 'The request body is empty. Send a JSON object.'
          : `The request body is not valid JSON: ${(error as Error).message}.`,
      )
    }
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
 * Refuses a JSON text for its structure, in one pass and before it is parsed: for its depth, the number of its values, or a field that
 * occurs twice in an object. Parsers differ in which of the two they use (RFC 8259 section 4), so a proxy or client-side check may have
 * seen another value than the hub. Texts that are not JSON are left to the parser.
 * @throws Problem 400 `malformed_json`; with too many values, the field of the body in which the limit was reached is in `errors`
 */
export function checkStructure(text: string, maxValues = defaultMaxValues, maxFields = defaultMaxFields): void {
  // The names in the open object of each level, reused for the next one.
  const names: Set<string>[] = []
  let depth = 0
  let values = 1
  // The current field of the body.
  let field: string | null = null
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at)
    const opens = char === brace || char === bracket
    if ((opens || char === comma) && ++values > maxValues) throw tooManyValues(maxValues, field)
    if (opens) {
      if (++depth > maxDepth) throw malformed(`is nested deeper than ${maxDepth} levels`)
      if (names[depth]?.size) names[depth]!.clear()
    } else if (char === braceEnd || char === bracketEnd) depth--
    if (char !== quote) continue
    const start = at
    let escaped = false
    for (at++; at < text.length && text.charCodeAt(at) !== quote; at++) {
      if (text.charCodeAt(at) !== backslash) continue
      escaped = true
      at++
    }
    let next = at + 1
    while (text.charCodeAt(next) <= space) next++
    // A string followed by a colon is a name.
    if (text.charCodeAt(next) !== colon) continue
    const seen = (names[depth] ??= new Set())
    const name = escaped ? (JSON.parse(text.slice(start, at + 1)) as string) : text.slice(start + 1, at)
    if (depth === 1) field = name
    if (seen.has(name)) throw malformed(`contains the field ${JSON.stringify(name.slice(0, 100))} twice in the same object`)
    if (seen.add(name).size > maxFields)
      throw malformed(`contains an object with more than ${maxFields.toLocaleString('en-US')} fields`)
  }
}

function tooManyValues(maxValues: number, field: string | null): Problem {
  const most = `more than ${maxValues.toLocaleString('en-US')} values`
  if (field === null) return malformed(`contains ${most}`)
  const errors = [{ pointer: `#/${pointerPart(field)}`, code: 'too_many', detail: `The body must not have ${most}.` }]
  return new Problem('malformed_json', `The request body contains ${most}.`, { errors })
}

const malformed = (reason: string) => new Problem('malformed_json', `The request body ${reason}.`)

const charCodes = (text: string) => [...text].map(char => char.charCodeAt(0)) as [number, number, number, number]
const [brace, braceEnd, bracket, bracketEnd] = charCodes('{}[]')
const [quote, backslash, colon, comma] = charCodes('"\\:,')
const space = 0x20

/**
 * The strings of a parsed body, including field names, that databases cannot store unchanged: PostgreSQL has no NUL, and an
 * unpaired surrogate has no UTF-8 encoding (RFC 3629 section 3). Reports at most 20.
 */
export function unstorable(value: unknown): FieldProblem[] {
  const found: FieldProblem[] = []
  const path: (string | number)[] = []
  const report = (verb: string) =>
    found.push({
      pointer: ['#', ...path.map(part => pointerPart(String(part)))].join('/'),
      code: 'character',
      detail: `${verb} a NUL character or an unpaired surrogate.`,
    })
  const visit = (value: unknown): void => {
    if (typeof value === 'string') {
      if (!isStorable(value)) report('must not contain')
    } else if (typeof value === 'object' && value !== null) {
      const isArray = Array.isArray(value)
      for (const name of isArray ? value.keys() : Object.keys(value)) {
        if (found.length >= maxReported) return
        path.push(name)
        if (typeof name === 'string' && !isStorable(name)) report('has a name with')
        else visit(value[name as never])
        path.pop()
      }
    }
  }
  visit(value)
  return found
}

const maxReported = 20
const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed()

/** Reads the start of a body. The rest is neither waited for nor kept in memory. */
export async function readStart(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of stream) {
    chunks.push(chunk.slice(0, maxBytes - length))
    length += chunk.length
    if (length >= maxBytes) break
  }
  return Buffer.concat(chunks)
}

/** Reads a body. @throws Problem 413 if it has more than `maxBytes` */
export async function readUpTo(stream: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of stream) {
    length += part.length
    if (length > maxBytes) throw tooLarge(maxBytes)
    parts.push(part)
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** The body has more than the allowed bytes. */
export const tooLarge = (maxBytes: number): Problem =>
  new Problem('payload_too_large', `The request body is larger than ${maxBytes} bytes.`)

const encodingNotSupported = (encoding: string) =>
  new Problem(
    'unsupported_media_type',
    `The request body must not be compressed: Content-Encoding ${encoding.slice(0, 50)} is not supported.`,
  )
