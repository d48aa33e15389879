import { expect, test } from 'bun:test'
import { redactValues } from './response-capture'

test('an echoed value is redacted', () => {
  expect(redactValues('you sent "Bearer topsecret"', { Authorization: 'Bearer topsecret', 'X-Env': 'prod' })).toBe(
    'you sent "[redacted]"',
  )
})
