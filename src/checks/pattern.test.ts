import { expect, test } from 'bun:test'
import fc from 'fast-check'
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
])('%p is as %p: %p', (text, pattern, answer) => {
  expect(matches(text, pattern)).toBe(answer)
})

test('it answers as the same regular expression does', () => {
  const few = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 8 })
  fc.assert(
    fc.property(few, few, (text, pattern) => {
      const expression = new RegExp(`^${pattern.replaceAll('*', '[^]*')}$`)
      expect(matches(text, pattern)).toBe(expression.test(text))
    }),
    { numRuns: 2000 },
  )
})

test('a long text of a hostile server is read once', () => {
  const began = performance.now()
  expect(matches('a'.repeat(1_000_000), `${'*a'.repeat(50)}b*`)).toBe(false)
  expect(performance.now() - began).toBeLessThan(5000)
})
