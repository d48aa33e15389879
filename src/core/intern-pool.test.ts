import { expect, test } from 'bun:test'
import { InternPool } from './intern-pool'

test('values with the same JSON are shared, and others are not', () => {
  const pool = new InternPool()
  const first = pool.intern({ verify_tls: false, headers: ['a'] })
  expect(pool.intern({ verify_tls: false, headers: ['a'] })).toBe(first)
  expect(pool.intern({ verify_tls: true, headers: ['a'] })).toEqual({ verify_tls: true, headers: ['a'] })
  expect(pool.intern('["a"]') as unknown).not.toBe(pool.intern(['a']) as unknown)
  expect(pool.intern(null)).toBeNull()
})

test('a known object is not serialized again', () => {
  const pool = new InternPool()
  let written = 0
  const value = { toJSON: () => ({ written: ++written }) }
  for (let n = 0; n < 3; n++) expect(pool.intern(value)).toBe(value)
  expect(written).toBe(1)
})

test('the pool does not exceed its maximum size', () => {
  const pool = new InternPool(2)
  const [one, two, three] = [['1'], ['2'], ['3']]
  for (const value of [one, two, three]) expect(pool.intern(value)).toBe(value!)
  const again = ['1']
  expect(pool.intern(again)).toBe(again)
  expect(pool.intern(['3'])).toBe(three!)
})
