import { catchFormatError, DnsFormatError } from '../format-error'
import { isObject, unescaped } from '../octets'
import { WireReader } from '../wire-reader'
import type { Words } from '../words'
import type { FieldKind } from './field'
import { svcKeyName, svcKeyNumber, svcValueOf } from './svc-values'

/** Parameters of SVCB and HTTPS by key (RFC 9460 section 2.1): `{"alpn": ["h2"], "port": 8443, "key667": "…"}`. */
type SvcParams = Record<string, unknown>

export const svcParams: FieldKind<SvcParams> = {
  parse(words) {
    const params = new Map<number, unknown>()
    while (words.left > 0) {
      const [key, value] = pair(words)
      const number = svcKeyNumber(key)
      if (params.has(number))
        throw new DnsFormatError(`must not contain the key ${svcKeyName(number)} twice`, null, 'RFC 9460 2.1')
      params.set(
        number,
        ofKey(number, () => parsed(number, key, value)),
      )
    }
    return complete(params)
  },
  print: params =>
    numbered(params)
      .map(([number, value]) => {
        const text = svcValueOf(number).print(value)
        return text === null ? svcKeyName(number) : `${svcKeyName(number)}=${text}`
      })
      .join(' '),
  read(reader) {
    const params = new Map<number, unknown>()
    let last = -1
    while (reader.left > 0) {
      const number = reader.u16()
      if (number <= last || number === 65535)
        throw new DnsFormatError('must have unique keys in ascending order', null, 'RFC 9460 2.2')
      last = number
      const octets = reader.take(reader.u16())
      params.set(
        number,
        ofKey(number, () => readAll(number, octets)),
      )
    }
    return inOrder(params)
  },
  write(writer, params) {
    for (const [number, value] of numbered(params)) {
      writer.u16(number)
      const size = writer.offset
      writer.u16(0)
      svcValueOf(number).write(writer, value)
      writer.u16At(size, writer.offset - size - 2)
    }
  },
  check(value) {
    if (!isObject(value)) throw new DnsFormatError('must be an object of parameters by key')
    const params = new Map<number, unknown>()
    for (const [key, one] of Object.entries(value)) {
      const number = svcKeyNumber(key)
      if (params.has(number))
        throw new DnsFormatError(`must not contain the key ${svcKeyName(number)} twice`, null, 'RFC 9460 2.1')
      params.set(
        number,
        ofKey(number, () => svcValueOf(number).check(one)),
      )
    }
    return complete(params)
  },
}

/** Parses `key`, `key=value` or `key="value"`, which is two words without whitespace between them. */
function pair(words: Words): [key: string, value: Uint8Array | null] {
  const word = words.next()
  const equals = word.text.indexOf('=')
  if (word.quoted) throw new DnsFormatError('must not have keys in quotes', null, 'RFC 9460 2.1')
  if (equals < 0) return [word.text, null]
  const key = word.text.slice(0, equals)
  const follows = words.peek()
  if (equals === word.text.length - 1 && follows?.quoted && follows.glued) return [key, unescaped(words.next().text)]
  return [key, unescaped(word.text.slice(equals + 1))]
}

/** A known key given by its number has raw octets as its value (RFC 9460 section 2.1). */
function parsed(number: number, key: string, value: Uint8Array | null): unknown {
  return key === svcKeyName(number) ? svcValueOf(number).parse(value) : readAll(number, value ?? new Uint8Array())
}

function readAll(number: number, octets: Uint8Array): unknown {
  const reader = new WireReader(octets)
  const value = svcValueOf(number).read(reader)
  if (reader.left > 0) throw new DnsFormatError('has extra octets after its value')
  return value
}

function complete(params: Map<number, unknown>): SvcParams {
  const ordered = inOrder(params)
  for (const key of (ordered.mandatory ?? []) as string[]) {
    if (!(key in ordered)) throw new DnsFormatError(`must contain ${key}, which is listed in mandatory`, null, 'RFC 9460 8')
  }
  if ('no-default-alpn' in ordered && !('alpn' in ordered)) {
    throw new DnsFormatError('must contain alpn if no-default-alpn is present', null, 'RFC 9460 7.1.1')
  }
  return ordered
}

const inOrder = (params: Map<number, unknown>): SvcParams =>
  Object.fromEntries([...params].sort(([a], [b]) => a - b).map(([number, value]) => [svcKeyName(number), value]))

const numbered = (params: SvcParams): [number, unknown][] =>
  Object.entries(params)
    .map(([key, value]): [number, unknown] => [svcKeyNumber(key), value])
    .sort(([a], [b]) => a - b)

const ofKey = <T>(number: number, read: () => T): T =>
  catchFormatError(read, ({ rule, reference }) => {
    throw new DnsFormatError(`${svcKeyName(number)} ${rule}`, null, reference)
  })
