import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { Amount, amountOf, microsOf, nullableAmount } from './money'

const schema = Amount('')

test('an amount is the same after it was formatted and parsed', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), micros => {
      const text = amountOf(micros)
      expect(microsOf(text)).toBe(micros)
      expect(text).toMatch(/^(?:0|[1-9]\d*)\.\d{2,6}$/)
      expect(Value.Check(schema, text)).toBe(true)
    }),
  )
})

test('sums are exact', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 10_000_000 }), { maxLength: 100 }), all => {
      const sum = all.map(one => microsOf(amountOf(one))).reduce((total, one) => total + one, 0)
      expect(sum).toBe(all.reduce((total, one) => total + one, 0))
    }),
  )
})

test('amounts have two to six decimal places, and no others are accepted', () => {
  expect([0, 1, 10_000, 4_510_000, 4_512_345, 1_000_000_000].map(amountOf)).toEqual([
    ...['0.00', '0.000001', '0.01', '4.51', '4.512345', '1000.00'],
  ])
  expect(['0', '5', '5.1', '0.000001'].map(microsOf)).toEqual([0, 5_000_000, 5_100_000, 1])
  expect([nullableAmount(null), nullableAmount(5_000_000)]).toEqual([null, '5.00'])
  for (const text of ['', '-1', '+1', '01', '1.', '.5', '1.1234567', '1,5', '1e3', ' 1', '1 EUR', 'NaN', '1000000000'])
    expect({ text, isAccepted: Value.Check(schema, text) }).toEqual({ text, isAccepted: false })
})
