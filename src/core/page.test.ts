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
  // JSON does not distinguish minus zero, so exclude it.
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(n => n + 0),
)

test('a cursor round-trips its values', () => {
  fc.assert(
    fc.property(fc.array(value), fc.string(), (values, hash) => {
      const cursor = sealCursor(key, { values, filterHash: hash })
      expect(cursor).toMatch(/^[A-Za-z0-9_-]+$/)
      expect(openCursor(key, cursor, hash)).toEqual(values)
    }),
  )
})

test('a cursor with a character changed, added or removed is rejected', () => {
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

test.each(['', 'x', '%', 'null', '/v1/domains', 'A'.repeat(22)])('%p is rejected', refused)

test('a cursor of 100,000 characters is rejected', () => refused('A'.repeat(100_000)))

test('a cursor for other filters, another order or with another key is rejected', () => {
  const cursor = sealCursor(key, { values: ['a'], filterHash: byName })
  expect(() => openCursor(key, cursor, 'domains by expiry')).toThrow(InvalidCursor)
  expect(() => openCursor(key, cursor, '')).toThrow(InvalidCursor)
  expect(() => openCursor(new Uint8Array(32).fill(8), cursor, byName)).toThrow(InvalidCursor)
})

test.each([[NaN], [Infinity], [undefined]])('%p is not allowed in a cursor', bad => {
  expect(() => sealCursor(key, { values: [bad as CursorValue], filterHash: byName })).toThrow(TypeError)
})

function refused(cursor: string): void {
  expect(() => openCursor(key, cursor, byName)).toThrow(InvalidCursor)
}
