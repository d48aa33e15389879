import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { InvalidCursor, openCursor, sealCursor } from './page'
import type { CursorValue } from './page'

const key = new Uint8Array(32).fill(7)
const byName = 'domains by name'

const value = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.boolean(),
  fc.constant(null),
  // JSON has one zero: minus zero is no sort key.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n + 0),
)

test('a cursor opens to the values it was sealed with', () => {
  fc.assert(
    fc.property(fc.array(value), fc.string(), (values, hash) => {
      const cursor = sealCursor(key, { values, filterHash: hash })
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(openCursor(key, cursor, hash)).toEqual(values)
    }),
  )
})

test('a cursor with any one character changed, added or removed is refused', () => {
  const cursor = sealCursor(key, { values: ['example.com', 42, 'rec_01h455vb4pex5vsknk084sn02q'], filterHash: byName })
  for (let at = 0; at < cursor.length; at++) {
    for (const other of ['A', 'z', '_', '=', ' ']) {
      if (cursor[at] === other) continue
      refused(cursor.slice(0, at) + other + cursor.slice(at + 1))
    }
    refused(cursor.slice(0, at) + cursor.slice(at + 1))
    refused(`${cursor.slice(0, at)}A${cursor.slice(at)}`)
  }
})

test.each(['', 'x', '%', 'null', '/v1/domains', 'A'.repeat(22)])('%p is refused', refused)

test('a cursor of a hundred thousand characters is refused', () => refused('A'.repeat(100_000)))

test('a cursor made for other filters, another order or with another key is refused', () => {
  const cursor = sealCursor(key, { values: ['a'], filterHash: byName })
  expect(() => openCursor(key, cursor, 'domains by expiry')).toThrow(InvalidCursor)
  expect(() => openCursor(key, cursor, '')).toThrow(InvalidCursor)
  expect(() => openCursor(new Uint8Array(32).fill(8), cursor, byName)).toThrow(InvalidCursor)
})

test.each([[NaN], [Infinity], [undefined]])('%p cannot be sealed', bad => {
  expect(() => sealCursor(key, { values: [bad as CursorValue], filterHash: byName })).toThrow(TypeError)
})

function refused(cursor: string): void {
  expect(() => openCursor(key, cursor, byName)).toThrow(InvalidCursor)
}
