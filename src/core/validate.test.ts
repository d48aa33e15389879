import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { Nullable, Shape, Words } from './shapes'
import { fieldProblems } from './validate'

const details = (schema: Parameters<typeof fieldProblems>[0], value: unknown) =>
  fieldProblems(schema, value).map(one => `${one.pointer} ${one.code} ${one.detail}`)

test('null is offered where it may be, and not for what is inside', () => {
  const waits = Shape({ waits: Nullable(Type.Array(Type.Integer({ minimum: 1, maximum: 9 }))) })
  expect(details(waits, { waits: 'x' })).toEqual(['#/waits type must be an array, or null.'])
  expect(details(waits, { waits: [null] })).toEqual(['#/waits/0 type must be a whole number.'])
  expect(details(waits, { waits: [10] })).toEqual(['#/waits/0 out_of_range must be from 1 to 9.'])
})

test('a value of none of several forms is told which there are', () => {
  const limit = [Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]
  expect(details(Type.Union(limit), 'x')).toEqual(['# type must be a whole number of at least 0 or "unlimited".'])
  expect(details(Type.Union([...limit, Type.Null()]), -1)).toEqual([
    '# type must be a whole number of at least 0, "unlimited" or null.',
  ])
  expect(details(Nullable(Words(['a', 'b'])), 'c')).toEqual(['# enum must be one of "a", "b", or null.'])
})
