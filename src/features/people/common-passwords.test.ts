import { expect, test } from 'bun:test'
import { isCommonPassword } from './common-passwords'

test.each([
  'password123',
  'Password123!',
  'QWERTYUIOP',
  '1234567890',
  'changeme123',
  'Sunshine2026!',
  'adminadmin',
  'aaaaaaaaaa',
  '0000000000000000',
  'abcabcabcabc1',
])('%s is common', password => {
  expect(isCommonPassword(password)).toBe(true)
})

test.each(['correct horse battery', 'uZ3k-91xv-Qp', 'password of the harbor', '8c1f0a44d2', 'Tr0ub4dor&3 und mehr'])(
  '%s is not common',
  password => {
    expect(isCommonPassword(password)).toBe(false)
  },
)

test('a long password takes no noticeable time', () => {
  const from = performance.now()
  expect(isCommonPassword(`${'ab'.repeat(499)}ac`)).toBe(false)
  expect(performance.now() - from).toBeLessThan(500)
})
