import { expect, test } from 'bun:test'
import { numbered, isOrAre, wasOrWere } from './numbered'

test('one of a thing is told in the singular', () => {
  expect([0, 1, 2].map(n => numbered(n, 'webhook endpoints'))).toEqual([
    '0 webhook endpoints',
    '1 webhook endpoint',
    '2 webhook endpoints',
  ])
  expect([1, 3].map(n => numbered(n, 'entries'))).toEqual(['1 entry', '3 entries'])
  expect([0, 1, 2].map(n => `${isOrAre(n)} ${wasOrWere(n)}`)).toEqual(['are were', 'is was', 'are were'])
})
