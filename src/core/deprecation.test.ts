import { expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { InvalidDeprecation, checkDeprecation, deprecated, deprecationHeaders } from './deprecation'

const notice = { since: '2027-01-31', sunset: '2028-01-31', link: '/docs/api#old', note: 'Use `new`.' }

test('at least a year of notice is required', () => {
  expect(() => checkDeprecation(notice)).not.toThrow()
  expect(() => checkDeprecation({ ...notice, sunset: '2028-01-30' })).toThrow(InvalidDeprecation)
  expect(() => checkDeprecation({ ...notice, since: '2028-02-29', sunset: '2029-02-28' })).toThrow(InvalidDeprecation)
  expect(() => checkDeprecation({ ...notice, since: '2028-02-29', sunset: '2029-03-01' })).not.toThrow()
})

test.each(['2027-02-30', '2027-1-31', 'soon', '', '2027-01-31T00:00:00Z'])('%p is not a date', since => {
  expect(() => checkDeprecation({ ...notice, since })).toThrow('is not a calendar date')
})

test('link and note are required', () => {
  expect(() => checkDeprecation({ ...notice, note: '' })).toThrow(InvalidDeprecation)
  expect(() => checkDeprecation({ ...notice, link: '' })).toThrow(InvalidDeprecation)
  expect(() => deprecated(Type.String(), { ...notice, sunset: '2027-06-01' })).toThrow('less than 12 months')
})

test('a deprecated schema validates as before and carries the notice', () => {
  const schema = deprecated(Type.String({ minLength: 2, description: 'The old name.' }), notice)
  expect(schema).toMatchObject({ type: 'string', minLength: 2, deprecated: true })
  expect(schema.description).toBe('The old name. Deprecated since 2027-01-31; will be removed after 2028-01-31. Use `new`.')
})

test('headers follow RFC 9745 and RFC 8594, and the earliest dates win', () => {
  expect(deprecationHeaders([notice])).toEqual({
    Deprecation: '@1801353600',
    Sunset: 'Mon, 31 Jan 2028 00:00:00 GMT',
    Link: '</docs/api#old>; rel="deprecation"; type="text/html", </docs/api#old>; rel="sunset"; type="text/html"',
  })
  const later = { ...notice, since: '2026-12-01', sunset: '2030-01-01', link: '/docs/api#other' }
  const both = deprecationHeaders([notice, later])
  expect(both).toMatchObject({ Deprecation: `@${Date.UTC(2026, 11, 1) / 1000}`, Sunset: 'Mon, 31 Jan 2028 00:00:00 GMT' })
  expect(both.Link.split(', ')).toHaveLength(4)
})
