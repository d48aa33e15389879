import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { duplicateKey, readJson } from './request-body'

const parse = (text: string) => readJson.parse(new TextEncoder().encode(text))

test.each([
  ['{"name":"a","name":"b"}', 'name'],
  ['{"a":[{"b":1},{"b":2,"c":{},"b":3}]}', 'b'],
  ['{"a" :1, "\\u0061" : 2}', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":{"x":"}"},"a":2}', 'a'],
  ['{"":1,"":2}', ''],
])('%s has a duplicate field', (text, name) => {
  expect(duplicateKey(text)).toBe(name)
  expect(() => parse(text)).toThrow(`contains the field ${JSON.stringify(name)} twice`)
})

test.each([
  '{"a":{"a":{"a":1}},"b":[{"a":1},{"a":2}]}',
  '{"a":"\\"a\\":1,\\"a\\":"}',
  '{"a":"{","b":"}","c":"\\\\"}',
  '["a","a"]',
  '"a"',
])('%s has no duplicate field', text => {
  expect(parse(text)).toEqual(JSON.parse(text))
})

test('output of JSON.stringify never has a duplicate field', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, indent) => {
      expect(duplicateKey(JSON.stringify(value, null, indent))).toBeNull()
    }),
  )
})
