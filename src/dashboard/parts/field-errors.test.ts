import { expect, test } from 'bun:test'
import { errorText, fieldAt, remainingErrors, type FormField } from './field-errors'

const field = (name: string, label: string, more: Partial<FormField> = {}): FormField => ({
  name,
  label,
  reads: [name],
  also: [],
  isPicked: false,
  isStored: false,
  unset: undefined,
  group: null,
  ...more,
})
const fields = [
  field('name', 'Name'),
  field('url', 'URL'),
  field('events', 'Events', { isPicked: true }),
  field('tags', 'Tags'),
  field('timeout_seconds', 'Timeout'),
  field('options.max_redirects', 'Maximum redirects'),
  field('targets', 'Targets'),
  field('targets.tags', 'Target tags'),
  field('down_if', 'Down if'),
  field('down_if.1', 'Condition 2', { reads: [] }),
  field('rows', 'Rows'),
  field('keyword', 'Keyword', { also: ['down_if.2'], reads: ['keyword', 'keyword_rule'] }),
]
const error = (pointer: string, detail: string, code = 'invalid') => ({ pointer, code, detail })

test('an error belongs to the most specific field', () => {
  const at = (pointer: string) => fieldAt(pointer, fields)?.name
  expect(at('#/targets/tags/0')).toBe('targets.tags')
  expect(at('#/targets')).toBe('targets')
  expect(at('#/down_if/1')).toBe('down_if.1')
  expect(at('#/down_if/2/value')).toBe('keyword')
  expect(at('#/down_if/5')).toBe('down_if')
  expect(at('#/options')).toBe('options.max_redirects')
  expect(at('#/unknown')).toBeUndefined()
  expect(at('#')).toBeUndefined()
})

test('errors are sentences with the labels of fields', () => {
  const text = (one: ReturnType<typeof error>, values = {}) => errorText(one, fields, values)
  expect(text(error('#/timeout_seconds', 'must not be longer than the interval, 60 seconds.'))).toBe(
    'Timeout must not be longer than the interval, 60 seconds.',
  )
  expect(text(error('#/url', 'must be an http:// or https:// URL.', 'pattern'), { url: '' })).toBe('Enter a URL.')
  expect(text(error('#/name', 'is required.', 'required'))).toBe('Enter a name.')
  expect(text(error('#/events', 'must have at least 1 item.', 'too_few'), { events: [] })).toBe('Select at least one event.')
  expect(text(error('#/tags/1', 'must start with a lowercase letter.', 'pattern'), { tags: ['ok', 'Not ok'] })).toBe(
    '“Not ok” must start with a lowercase letter.',
  )
  expect(text(error('#/timeout_seconds', 'can’t be set with `max_redirects`.'))).toBe(
    'Timeout can’t be set with “Maximum redirects”.',
  )
  expect(text(error('#/timeout_seconds', 'must be between 1 and 60, or be null.', 'out_of_range'), { timeout_seconds: 0 })).toBe(
    'Timeout must be between 1 and 60.',
  )
  expect(text(error('#/name', 'A zone named example.com already exists.'))).toBe('A zone named example.com already exists.')
  expect(text(error('#/max_per_second', 'must be at least 1.'))).toBe('Maximum per second must be at least 1.')
  expect(text(error('#/records/0', 'www can have only one CNAME record (RFC 2181 10.1).', 'dns_rule'))).not.toContain('RFC')
})

test('an error remains until its own value changes', () => {
  const before = {
    rows: [{ networks: 'a b' }],
    name: '',
    tags: ['a', 'B'],
    down_if: ['x', 'y'],
    keyword: '',
    keyword_rule: 'present',
    'targets.tags': [],
  }
  const left = (pointer: string, changed: object) =>
    remainingErrors([error(pointer, 'is wrong.')], fields, before, { ...before, ...changed }).length === 1
  expect(left('#/name', { name: 'Shop' })).toBe(false)
  expect(left('#/name', { keyword: 'x' })).toBe(true)
  expect(left('#/tags/1', { tags: ['b', 'B'] })).toBe(true)
  expect(left('#/tags/1', { tags: ['a', 'b'] })).toBe(false)
  expect(left('#/down_if/1', { down_if: ['x'] })).toBe(false)
  expect(left('#/down_if/2', { keyword_rule: 'absent' })).toBe(false)
  expect(left('#/targets', { 'targets.tags': ['a'] })).toBe(false)
  // The row has other fields than the item of the API.
  expect(left('#/rows/0/sources/1', { rows: [{ networks: 'a c' }] })).toBe(false)
  expect(left('#/rows/0/sources/1', { rows: [{ networks: 'a b' }, { networks: 'c' }] })).toBe(true)
  // An error without a field may be about anything.
  expect(left('#/unknown', { name: 'Shop' })).toBe(false)
  expect(left('#/unknown', {})).toBe(true)
})
