import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from './shapes'
import { fieldProblems } from './validate'

const details = (schema: Parameters<typeof fieldProblems>[0], value: unknown) =>
  fieldProblems(schema, value).map(one => `${one.pointer} ${one.code} ${one.detail}`)

test('null is listed as allowed for a nullable field, but not for its items', () => {
  const waits = Shape({ waits: Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: 9 }))) })
  expect(details(waits, { waits: 'x' })).toEqual(['#/waits type must be an array or null.'])
  expect(details(waits, { waits: [null] })).toEqual(['#/waits/0 type must be a whole number.'])
  expect(details(waits, { waits: [10] })).toEqual(['#/waits/0 out_of_range must be between 1 and 9.'])
})

test('a range has the unit that the name of the field ends with', () => {
  const schema = Shape({
    interval_seconds: Type.Integer({ minimum: 5, maximum: 86_400 }),
    timeout_ms: Type.Integer({ minimum: 1 }),
    default_ttl: Nullable(Type.Integer({ maximum: 2_147_483_647 })),
    keep_days: Type.Array(Type.Integer({ maximum: 1 })),
    port: Type.Integer({ maximum: 65_535 }),
  })
  expect(details(schema, { interval_seconds: 1, timeout_ms: 0, default_ttl: 2 ** 31, keep_days: [2], port: 70_000 })).toEqual([
    '#/interval_seconds out_of_range must be between 5 and 86,400 seconds.',
    '#/timeout_ms out_of_range must be at least 1 ms.',
    '#/default_ttl out_of_range must be at most 2,147,483,647 seconds or null.',
    '#/keep_days/0 out_of_range must be at most 1 day.',
    '#/port out_of_range must be at most 65535.',
  ])
})

test('the error of a union lists the allowed types', () => {
  const limit = [Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]
  expect(details(Type.Union(limit), 'x')).toEqual(['# type must be a whole number of at least 0 or "unlimited".'])
  expect(details(Type.Union([...limit, Type.Null()]), -1)).toEqual([
    '# type must be a whole number of at least 0, "unlimited" or null.',
  ])
  expect(details(Nullable(Words(['a', 'b'])), 'c')).toEqual(['# enum must be one of "a", "b" or null.'])
})

test('a map reports the rule for its keys and the maximum number of fields', () => {
  const form = { maxProperties: 1, additionalProperties: false, 'x-rule': 'must be one letter.' }
  const map = Type.Record(Type.String({ pattern: '^[a-z]$' }), Type.Integer(), form)
  expect(details(map, { bc: 1 })).toEqual(['#/bc pattern must be one letter.'])
  expect(details(map, { a: 1, b: 2 })).toEqual(['# too_many must have at most 1 field.'])
})

test('nonexistent days are not valid dates or times', () => {
  const of = (format: string) => Type.String({ format })
  for (const day of ['2027-02-29', '2026-02-30', '2026-04-31', '2026-13-01', '2026-00-10']) {
    expect(details(of('date'), day)).toHaveLength(1)
    expect(details(of('date-time'), `${day}T12:00:00Z`)).toHaveLength(1)
  }
  expect(details(of('date'), '2028-02-29')).toEqual([])
  expect(details(of('date-time'), '2028-02-29T23:59:59.5+02:00')).toEqual([])
})

test('texts are limited by characters, and the characters of texts that are much too long are not counted', () => {
  const name = Type.String({ maxLength: 3 })
  expect(details(name, '👍👍👍')).toEqual([])
  for (const text of ['👍👍👍a', '👍👍👍👍', 'abcd'])
    expect(details(name, text)).toEqual(['# too_long must have at most 3 characters.'])
  const long = 'a'.repeat(4 * 1024 * 1024)
  let counted = false
  const iterate = String.prototype[Symbol.iterator]
  String.prototype[Symbol.iterator] = function () {
    counted ||= this.length === long.length
    return iterate.call(this)
  }
  try {
    expect(details(Shape({ name }), { name: long })).toEqual(['#/name too_long must have at most 3 characters.'])
  } finally {
    String.prototype[Symbol.iterator] = iterate
  }
  expect(counted).toBe(false)
})
