import { expect, test } from 'bun:test'
import { hstsOf } from './http-facts'

test.each([
  ['max-age=31536000', [31_536_000, false, false]],
  [' max-age="63072000" ; includeSubDomains; preload', [63_072_000, true, true]],
  ['MAX-AGE=0;;', [0, false, false]],
  ['includeSubDomains; max-age=5; other=x', [5, true, false]],
  ['includeSubDomains', null],
  ['max-age', null],
  ['max-age=-1', null],
  ['max-age=1; max-age=2', null],
  ['max-age=99999999999999999', null],
  ['max-age=1, max-age=2', null],
  ['', null],
])('the header %p', (value, expected) => {
  const hsts = hstsOf(value)
  expect(hsts && [hsts.max_age_seconds, hsts.include_subdomains, hsts.preload]).toEqual(expected as never)
})
