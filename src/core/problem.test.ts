import { expect, test } from 'bun:test'
import { invalid } from './problem'

test('the detail of a validation problem is a sentence about the first error', () => {
  const text = (pointer: string, detail: string, more = 0) =>
    invalid([
      { pointer, detail, code: 'invalid' },
      ...Array.from({ length: more }, () => ({ pointer: '#', detail: '', code: '' })),
    ]).detail
  expect(text('#/schedule/period_seconds', 'must be at least 5.')).toBe('`schedule/period_seconds` must be at least 5.')
  expect(text('#', 'must be an object.')).toBe('The body must be an object.')
  expect(text('#/rules/0/ports/0', 'The port 80 is listed twice.')).toBe('The port 80 is listed twice.')
  expect(text('#/name', 'is required.', 2)).toBe('`name` is required. (and 2 more errors)')
})
