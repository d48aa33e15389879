import { expect, test } from 'bun:test'
import { InvalidCheckInput } from './check'
import { parseHostPort, formatHostPort } from './host-port'

test.each([
  ['Mail.Example.com:993', 'mail.example.com:993'],
  ['example.com', 'example.com:443'],
  ['192.0.2.7:25', '192.0.2.7:25'],
  ['[2001:DB8::7]:25', '[2001:db8::7]:25'],
  ['2001:db8::7', '[2001:db8::7]:443'],
  ['[2001:db8::7]', '[2001:db8::7]:443'],
  ['bücher.example:1', 'xn--bcher-kva.example:1'],
])('%s is %s', (text, canonical) => {
  const read = formatHostPort(parseHostPort(text, 443))
  expect(read).toBe(canonical)
  expect(formatHostPort(parseHostPort(read, null))).toBe(canonical)
})

test.each([
  '',
  ':443',
  'a b:1',
  'a.test:0',
  'a.test:65536',
  'a.test:',
  'a.test:1:2',
  '[a.test]:1',
  '[::1',
  'http://a.test',
  'u@a.test:1',
])('%p is rejected', text => {
  expect(() => parseHostPort(text, 443)).toThrow(InvalidCheckInput)
})

test('a required port', () => {
  expect(() => parseHostPort('a.test', null)).toThrow('must include a port')
})
