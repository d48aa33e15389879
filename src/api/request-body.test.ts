import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { checkStructure, readJson, unstorable } from './request-body'

const parse = (text: string) => readJson.parse(new TextEncoder().encode(text))

test.each([
  ['{"name":"a","name":"b"}', 'name'],
  ['{"a":[{"b":1},{"b":2,"c":{},"b":3}]}', 'b'],
  ['{"a" :1, "\\u0061" : 2}', 'a'],
  ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ['{"a":{"x":"}"},"a":2}', 'a'],
  ['{"":1,"":2}', ''],
])('%s has a duplicate field', (text, name) => {
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
      expect(() => checkStructure(JSON.stringify(value, null, indent))).not.toThrow()
    }),
  )
})

test.each([
  ['values', `[${'0,'.repeat(100_000)}0]`, 'contains more than 100,000 values'],
  ['levels', `${'['.repeat(33)}${']'.repeat(33)}`, 'is nested deeper than 32 levels'],
  [
    'fields',
    `{${Array.from({ length: 2001 }, (_, n) => `"${n}":0`).join(',')}}`,
    'contains an object with more than 2,000 fields',
  ],
])('a body with too many %s is refused', (_, text, message) => {
  expect(() => parse(text)).toThrow(message)
})

test('strings that cannot be stored are reported with their pointers, at most 20', () => {
  const pointers = (value: unknown) => unstorable(value).map(one => one.pointer)
  expect(pointers({ a: ['x', '\0'], 'b/c': { d: '\ud800' }, 'e\0': 1, f: '😀' })).toEqual(['#/a/1', '#/b~1c/d', '#/e\0'])
  expect(pointers(Array(50).fill('\0'))).toHaveLength(20)
})
