import { expect, test } from 'bun:test'
import { globOf } from './glob'

test.each([
  ['a.test', 'a.test', true],
  ['a.test', 'b.a.test', false],
  ['*.A.test', 'b.a.test', true],
  ['*.a.test', '.a.test', true],
  ['db-*.*.test', 'db-1.x.test', true],
  ['db-*.*.test', 'db-.test', false],
  ['ab*ba', 'aba', false],
  ['*', '', true],
])('%s and %s: %p', (pattern, text, expected) => expect(globOf(pattern)(text)).toBe(expected))
