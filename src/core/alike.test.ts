import { expect, test } from 'bun:test'
import { Alike } from './alike'

test('values that are written the same become one, and others stay what they are', () => {
  const alike = new Alike()
  const first = alike.of({ verify_tls: false, headers: ['a'] })
  expect(alike.of({ verify_tls: false, headers: ['a'] })).toBe(first)
  expect(alike.of({ verify_tls: true, headers: ['a'] })).toEqual({ verify_tls: true, headers: ['a'] })
  expect(alike.of('["a"]') as unknown).not.toBe(alike.of(['a']) as unknown)
  expect(alike.of(null)).toBeNull()
})

test('an object that comes again is known without being written', () => {
  const alike = new Alike()
  let written = 0
  const value = { toJSON: () => ({ written: ++written }) }
  for (let n = 0; n < 3; n++) expect(alike.of(value)).toBe(value)
  expect(written).toBe(1)
})

test('no more are remembered than was said', () => {
  const alike = new Alike(2)
  const [one, two, three] = [['1'], ['2'], ['3']]
  for (const value of [one, two, three]) expect(alike.of(value)).toBe(value!)
  const again = ['1']
  expect(alike.of(again)).toBe(again)
  expect(alike.of(['3'])).toBe(three!)
})
