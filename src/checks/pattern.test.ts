import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../test/support/cpu-time'
import { matches } from './pattern'

test.each([
  ['text/html', 'text/html', true],
  ['text/html; charset=utf-8', 'text/html', false],
  ['text/html; charset=utf-8', 'text/html*', true],
  ['Text/HTML', 'tEXT/*', true],
  ['aXbXc', 'a*b*c', true],
  ['ab', 'a*b*b', false],
  ['aba', 'ab*ba', false],
  ['', '*', true],
  ['', '', true],
  ['a', '', false],
  ['a.c', 'a?c', false],
])('%p matches %p: %p', (text, pattern, expected) => {
  expect(matches(text, pattern)).toBe(expected)
})

test('it agrees with the equivalent regular expression', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(few, few, (text, pattern) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`)
      expect(matches(text, pattern)).toBe(expression.test(text))
    }),
    { numRuns: 2000 },
  )
})

test('a long text from a hostile server is matched in linear time', () => {
  const startedAt = cpuTime()
  expect(matches('a'.repeat(1_000_000), `${'*a'.repeat(50)}b*`)).toBe(false)
  expect(cpuTime() - startedAt).toBeLessThan(5000)
})
