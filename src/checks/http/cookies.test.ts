import { expect, test } from 'bun:test'
import { Cookies } from './cookies'

const now = Date.UTC(2026, 0, 1)
const given = (lines: string[], at = 'https://www.a.test/app/login') => {
  const cookies = new Cookies()
  cookies.store(new URL(at), lines, now)
  return (url: string) => cookies.header(new URL(url))
}

test.each<[string, string, string | null]>([
  ['a=1', 'https://www.a.test/app/x', 'a=1'],
  ['a=1', 'https://www.a.test/other', null],
  ['a=1; Path=/', 'https://www.a.test/other', 'a=1'],
  ['a=1; Path=/app', 'https://www.a.test/apple', null],
  ['a=1; Path=/', 'https://a.test/', null],
  ['a=1; Path=/; Domain=a.test', 'https://b.a.test/', 'a=1'],
  ['a=1; Path=/; Domain=.A.test', 'https://a.test/', 'a=1'],
  ['a=1; Path=/; Domain=test', 'https://www.a.test/', null],
  ['a=1; Path=/; Domain=b.test', 'https://b.test/', null],
  ['a=1; Path=/; Secure', 'http://www.a.test/', null],
  ['a=1; Path=/; Max-Age=0', 'https://www.a.test/', null],
  ['a=1; Path=/; Max-Age=9; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://www.a.test/', 'a=1'],
  ['a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT', 'https://www.a.test/', null],
  ['=1', 'https://www.a.test/app/', null],
  ['a=x=y; Path=/', 'https://www.a.test/', 'a=x=y'],
  [`a=${'x'.repeat(5000)}; Path=/`, 'https://www.a.test/', null],
])('%s is sent to %s: %p', (line, url, header) => {
  expect(given([line])(url)).toBe(header)
})

test('the longest path comes first, a later cookie replaces one of the same name, and the number is limited', () => {
  expect(given(['a=1; Path=/', 'b=2; Path=/app', 'a=3; Path=/'])('https://www.a.test/app/')).toBe('b=2; a=3')
  const many = given(Array.from({ length: 500 }, (_, at) => `c${at}=1; Path=/`))
  expect(many('https://www.a.test/')!.split('; ').length).toBe(50)
})
