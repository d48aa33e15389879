import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { anyFields } from '../../../../test/support/dns-values'
import { rrset } from '../../../../test/support/provider-contract'
import { rdataOfFields } from '../../../dns/rdata'
import { foreignOfRows, recordsOf, rrsetsOfRows } from './hetzner-rrsets'
import { sameValues } from './same-rrset'

const row = (type: string, records: object[], more: object = {}) => ({
  id: `www/${type}`,
  name: 'www',
  type,
  ttl: 300,
  records,
  protection: { change: false },
  ...more,
})
const read = (...rows: object[]) => rrsetsOfRows(rows as Record<string, unknown>[], 'example.com', 3600)
const types = 'A AAAA CAA CNAME DS HINFO HTTPS MX NS PTR RP SRV SVCB TLSA TXT'.split(' ')

test.each(types)('any value of %s is read back as it was sent', type => {
  fc.assert(
    fc.property(anyFields[type]!, fields => {
      const value = rdataOfFields(type, fields, null)
      const [back] = read(row(type, recordsOf({ name: 'www', type, ttl: 300, values: [value] })))
      expect(sameValues(type, back!.values, [value])).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test('comments follow their values, however the strings of a TXT are split', () => {
  const [there] = read(
    row('TXT', [
      { value: '"one" "two"', comment: 'kept' },
      { value: '"three"', comment: 'gone' },
      { value: '"four"', comment: '' },
    ]),
  )
  expect(recordsOf(rrset('www', 'TXT', 300, ['"onetwo"', '"four"', '"new"']), there)).toEqual([
    { value: '"onetwo"', comment: 'kept' },
    { value: '"four"' },
    { value: '"new"' },
  ])
})

test('rows with an unexpected format are errors, and unknown types are listed', () => {
  const wrong = [
    row('A', []),
    row('A', [{}]),
    row('A', [{ value: '192.0.2.1' }], { ttl: 'auto' }),
    row('A', [{ value: '192.0.2.1' }], { name: undefined }),
  ]
  for (const one of wrong) expect(() => read(one)).toThrow('The zone at Hetzner')
  const odd = ['NEWTYPE', 'constructor', '__proto__', 'A'].map(type => row(type, [{ value: 'a b' }]))
  expect(read(...odd, row('SOA', [{ value: 'hidden' }]))).toEqual([])
  expect(foreignOfRows(odd, []).map(one => one.type)).toEqual(['NEWTYPE', 'constructor', '__proto__', 'A'])
  expect(foreignOfRows(odd, [])[0]).toEqual({ name: 'www', type: 'NEWTYPE', detail: 'Hetzner record: a b' })
  // Types that the API didn't have yet are read if they are known here.
  expect(read(row('SSHFP', [{ value: `4 2 ${'ab'.repeat(32)}` }])).map(one => one.type)).toEqual(['SSHFP'])
})
