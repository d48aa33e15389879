import { expect, test } from 'bun:test'
import { pluralize, isOrAre, wasOrWere } from './pluralize'

test('1 uses the singular', () => {
  expect([0, 1, 2].map(n => pluralize(n, 'webhook endpoints'))).toEqual([
    '0 webhook endpoints',
    '1 webhook endpoint',
    '2 webhook endpoints',
  ])
  expect([1, 3].map(n => pluralize(n, 'entries'))).toEqual(['1 entry', '3 entries'])
  expect([0, 1, 2].map(n => `${isOrAre(n)} ${wasOrWere(n)}`)).toEqual(['are were', 'is was', 'are were'])
})
