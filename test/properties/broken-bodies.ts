import fc from 'fast-check'
import { isAddress, type Draw } from './schema-values'

/** A body as it is sent, and what was done to it. */
export interface BrokenBody {
  text: string
  how: string
}

/** JSON that `JSON.stringify` would not write. */
class Raw {
  constructor(readonly text: string) {}
}

/** One change to a body that fitted: most often it fits no more, and whether it does is for the schema to say. */
export function breakBody(draw: Draw, body: unknown): BrokenBody {
  const places = placesIn(body)
  const place = draw(fc.constantFrom(...places))
  const how = draw(fc.constantFrom(...Object.keys(changes)))
  // What an address is turned into must be none, since the hub would call it.
  const value = changes[how]!(draw, isAddress(String(place.path.at(-1) ?? '')) && how === 'another text' ? 'x' : place.value)
  return { text: written(replaced(body, place.path, value)), how: `${how} at /${place.path.join('/')}` }
}

const nested = (depth: number, open: string, close: string) => new Raw(open.repeat(depth) + close.repeat(depth))
const added = (value: unknown, text: string) =>
  new Raw(isObject(value) ? written(value).replace(/\}$/, `${Object.keys(value).length > 0 ? ',' : ''}${text}}`) : `{${text}}`)
const absent = Symbol('absent')

const changes: Record<string, (draw: Draw, value: unknown) => unknown> = {
  missing: () => absent,
  null: () => null,
  'another type': draw => draw(fc.constantFrom<unknown>('text', 7, -1, 1.5, true, [], {}, [[]], [null], { a: {} }, '')),
  'another text': draw => draw(hostileText),
  'extra member': (draw, value) => added(value, `${JSON.stringify(draw(fc.constantFrom('nonsense', 'id', 'version', '')))}:1`),
  'member of every object': (draw, value) =>
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
  'member twice': (_, value) => {
    const [name, first] = Object.entries(isObject(value) ? value : { a: 1 })[0] ?? ['a', 1]
    return added(value, `${JSON.stringify(name)}:${written(first)}`)
  },
  'number without end': draw =>
    new Raw(draw(fc.constantFrom('1e400', '-1e400', '9'.repeat(400), '1e-400', '-0', '9007199254740993', '2147483648', '1.0'))),
  'no JSON': draw =>
    new Raw(
      draw(fc.constantFrom('NaN', 'Infinity', 'undefined', "'x'", '01', '.5', '0x10', '{a:1}', '[1,]', '"\t"', '//', '"\\x"')),
    ),
  'text without UTF-8': draw =>
    new Raw(draw(fc.constantFrom('"\\ud800"', '"\\udc00a"', '"a\\ud83d"', '"\\u0000"', '"a\\u0000b"'))),
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

/** Texts that break what was built for plain ones. None is an address. */
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

/** The text of a value; empty for one that is absent as a whole. */
function written(value: unknown): string {
  if (value === absent) return ''
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}:${written(one)}`)
      .join(',')}}`
  return JSON.stringify(value) ?? 'null'
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Raw)
