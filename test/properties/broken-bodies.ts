import fc from 'fast-check'
import { isAddress, type Draw } from './schema-values'

/** A changed request body, and a description of the change. */
export interface BrokenBody {
  text: string
  change: string
}

/** JSON text that `JSON.stringify` doesn't produce. */
class Raw {
  constructor(readonly text: string) {}
}

/** Makes one change to a valid body. The result is usually invalid; the schema decides. */
export function breakBody(draw: Draw, body: unknown): BrokenBody {
  const places = placesIn(body)
  const place = draw(fc.constantFrom(...places))
  const name = draw(fc.constantFrom(...Object.keys(changes)))
  // Never replace a URL with another text, because the hub could connect to it.
  const value = changes[name]!(draw, isAddress(String(place.path.at(-1) ?? '')) && name === 'another text' ? 'x' : place.value)
  return { text: serialize(replaced(body, place.path, value)), change: `${name} at /${place.path.join('/')}` }
}

const nested = (depth: number, open: string, close: string) => new Raw(open.repeat(depth) + close.repeat(depth))
const added = (value: unknown, text: string) =>
  new Raw(isObject(value) ? serialize(value).replace(/\}$/, `${Object.keys(value).length > 0 ? ',' : ''}${text}}`) : `{${text}}`)
const absent = Symbol('absent')

const changes: Record<string, (draw: Draw, value: unknown) => unknown> = {
  missing: () => absent,
  null: () => null,
  'another type': draw => draw(fc.constantFrom<unknown>('text', 7, -1, 1.5, true, [], {}, [[]], [null], { a: {} }, '')),
  'another text': draw => draw(hostileText),
  'extra field': (draw, value) => added(value, `${JSON.stringify(draw(fc.constantFrom('nonsense', 'id', 'version', '')))}:1`),
  'property of every object': (draw, value) =>
    added(
      value,
      draw(
        fc.constantFrom(
          '"__proto__":{"polluted":true}',
          '"__proto__":"x"',
          '"__proto__":null',
          '"constructor":{"prototype":{"polluted":true}}',
          '"toString":"x"',
          '"hasOwnProperty":1',
        ),
      ),
    ),
  'duplicate field': (_, value) => {
    const [name, first] = Object.entries(isObject(value) ? value : { a: 1 })[0] ?? ['a', 1]
    return added(value, `${JSON.stringify(name)}:${serialize(first)}`)
  },
  'extreme number': draw =>
    new Raw(draw(fc.constantFrom('1e400', '-1e400', '9'.repeat(400), '1e-400', '-0', '9007199254740993', '2147483648', '1.0'))),
  'invalid JSON': draw =>
    new Raw(
      draw(fc.constantFrom('NaN', 'Infinity', 'undefined', "'x'", '01', '.5', '0x10', '{a:1}', '[1,]', '"\t"', '//', '"\\x"')),
    ),
  'invalid Unicode': draw => new Raw(draw(fc.constantFrom('"\\ud800"', '"\\udc00a"', '"a\\ud83d"', '"\\u0000"', '"a\\u0000b"'))),
  'many items': draw => Array.from({ length: 10_001 }, () => draw(fc.constant('x'))),
  'same items': (_, value) => (Array.isArray(value) ? [...value, ...value] : [value, value]),
  deep: draw =>
    draw(
      fc.constantFrom(
        nested(33, '[', ']'),
        nested(40, '{"a":[', ']}'),
        nested(5_000, '[', ']'),
        new Raw(`${'['.repeat(100_000)}`),
      ),
    ),
  long: draw => 'x'.repeat(draw(fc.constantFrom(256, 1_001, 5_001, 20_001, 300_000))),
}

/** Texts that often cause errors. They contain no URLs. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\u202egnp.exe',
    'аdmin',
    'Ωmega\u0301\u0301\u0301',
    'שלום עולם',
    '\ufeffbom',
    'a\nb',
    'a\r\nSet-Cookie: x=1',
    '\u007f',
    "'; drop table tokens; --",
    '%_\\',
    '../../etc/passwd',
    '${7*7}{{7*7}}',
    '<script>alert(1)</script>',
    '=cmd()',
    'NaN',
    '-1',
    '1e999',
    'null',
    '2026-02-30T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-11-21 10:00:00Z',
    '0000-00-00',
    '+275760-09-13T00:00:00.001Z',
    '9999-12-31T23:59:60Z',
    '300.1.1.1/33',
    '::/129',
    '__proto__',
    'constructor',
    '👨‍👩‍👧‍👦'.repeat(40),
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 12 }).map(text => text.toWellFormed()),
)

interface Place {
  path: (string | number)[]
  value: unknown
}

function placesIn(value: unknown, path: (string | number)[] = []): Place[] {
  const inner = Array.isArray(value)
    ? value.flatMap((one, at) => placesIn(one, [...path, at]))
    : isObject(value)
      ? Object.entries(value).flatMap(([name, one]) => placesIn(one, [...path, name]))
      : []
  return [{ path, value }, ...inner]
}

function replaced(within: unknown, path: (string | number)[], value: unknown): unknown {
  if (path.length === 0) return value
  const [first, ...rest] = path as [string | number, ...(string | number)[]]
  if (Array.isArray(within))
    return within.map((one, at) => (at === first ? replaced(one, rest, value) : one)).filter(one => one !== absent)
  const entries = Object.entries(within as object).map(([name, one]) => [name, name === first ? replaced(one, rest, value) : one])
  return Object.fromEntries(entries.filter(([, one]) => one !== absent))
}

/** Serializes a value; an absent one is empty. */
function serialize(value: unknown): string {
  if (value === absent) return ''
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(serialize).join(',')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}:${serialize(one)}`)
      .join(',')}}`
  return JSON.stringify(value) ?? 'null'
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw)
