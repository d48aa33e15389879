import { expect, test } from 'bun:test'
import { amountOf, parseMoney } from './money'

const minorOf = (amount: string, currency: string) => parseMoney(amount, currency)?.minor ?? null

test('amounts are whole numbers of minor units', () => {
  expect(minorOf('10.37', 'USD')).toBe(1037)
  expect(minorOf('10.3', 'USD')).toBe(1030)
  expect(minorOf('10', 'USD')).toBe(1000)
  expect(minorOf('0', 'USD')).toBe(0)
  expect(minorOf('0.07', 'EUR')).toBe(7)
  expect(minorOf('1200', 'JPY')).toBe(1200)
  expect(minorOf('1.234', 'KWD')).toBe(1234)
  expect(minorOf('1.2345', 'CLF')).toBe(12_345)
  // Zeros change nothing.
  expect(minorOf('10.3700', 'USD')).toBe(1037)
  expect(minorOf('1200.00', 'JPY')).toBe(1200)
})

test('what is not an amount of the currency is refused', () => {
  for (const amount of ['', '-1', '+1', '1e3', '1,5', '.5', '5.', '01', '1.005', ' 1', '1 ', 'NaN', 'Infinity', '0x10', '١'])
    expect([amount, minorOf(amount, 'USD')]).toEqual([amount, null])
  expect(minorOf('1.5', 'JPY')).toBeNull()
  expect(minorOf('9999999999.99', 'USD')).toBe(999_999_999_999)
  expect(minorOf('10000000000.00', 'USD')).toBeNull()
  expect(minorOf('1', 'XYZ')).toBeNull()
  expect(minorOf('1', 'usd')).toBeNull()
})

test('amounts are formatted with all decimal places', () => {
  expect(amountOf({ minor: 7, currency: 'USD' })).toBe('0.07')
  expect(amountOf({ minor: 1000, currency: 'USD' })).toBe('10.00')
  expect(amountOf({ minor: 1200, currency: 'JPY' })).toBe('1200')
  expect(amountOf({ minor: 5, currency: 'KWD' })).toBe('0.005')
})
