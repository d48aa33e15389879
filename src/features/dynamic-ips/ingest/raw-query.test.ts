import { expect, test } from 'bun:test'
import { decodePercent, parsePairs, queryOf } from './raw-query'

test('parameters keep their order and repetitions', () => {
  expect(parsePairs('a=1&b=2&a=3&&c&=4&d=5=6&e=1+2')).toEqual({
    pairs: [
      ['a', '1'],
      ['b', '2'],
      ['a', '3'],
      ['c', ''],
      ['', '4'],
      ['d', '5=6'],
      ['e', '1 2'],
    ],
    tooLong: false,
  })
})

test('invalid encodings are read as far as possible', () => {
  expect(parsePairs('a=%zz&%61=%4&b=%ff%41&c=2001%3adb8%3a%3a7&d=%00&e=%C3%A4').pairs).toEqual([
    ['a', '%zz'],
    ['a', '%4'],
    ['b', '\ufffdA'],
    ['c', '2001:db8::7'],
    ['d', '\0'],
    ['e', 'ä'],
  ])
  expect(decodePercent('a+b%2f')).toBe('a+b/')
})

test('the query of a URL is found', () => {
  expect(['/nic/update', '/nic/update?a=1', 'http://h/x?a=?b#c?d'].map(queryOf)).toEqual(['', 'a=1', 'a=?b'])
})

test('only the start of a long query is read', () => {
  expect(parsePairs(`a=${'x'.repeat(1_000_000)}`)).toMatchObject({ tooLong: true })
  expect(parsePairs('myip=203.0.113.7&'.repeat(10_000))).toMatchObject({ tooLong: true, pairs: { length: 100 } })
  expect(parsePairs('%'.repeat(1_000_000)).tooLong).toBe(true)
  expect(parsePairs(Array.from({ length: 100 }, (_, at) => `a=${at}`).join('&'))).toMatchObject({ tooLong: false })
})
