import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { namedTwice, readJson } from './request-body'

const parse = (text: string) => readJson.parse(new TextEncoder().encode(text))

test.each([
  ['{"name":"a","name":"b"}', 'name'],
  ['{"a":[{"b":1},{"b":2,"c":{},"b":3}]}', 'b'],
  ['{"a" :1, "\\u0061" : 2}', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":{"x":"}"},"a":2}', 'a'],
  ['{"":1,"":2}', ''],
])('%s names a member twice', (text, name) => {
  expect(namedTwice(text)).toBe(name)
  expect(() => parse(text)).toThrow(`names the member ${JSON.stringify(name)} twice`)
})

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
  '{"a":"\\"a\\":1,\\"a\\":"}',
  '{"a":"{","b":"}","c":"\\\\"}',
  '["a","a"]',
  '"a"',
])('%s names none twice', text => {
  expect(parse(text)).toEqual(JSON.parse(text))
})

test('no value that was written by JSON.stringify names a member twice', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      expect(namedTwice(JSON.stringify(value, null, indent))).toBeNull()
    }),
  )
})
