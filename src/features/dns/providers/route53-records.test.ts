import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rdataOfFields, rdataOfTxt, textOf } from '../../../dns/rdata'
import { anyFields } from '../../../../test/support/dns-values'
import { accountOfKey } from './route53-account'
import { apiName, apiValue, recordName, recordsOfSets, route53Types, unsupportedAtRoute53 } from './route53-records'

const set = (more: object, values?: string[]) => ({
  Name: 'www.example.com.',
  Type: 'A',
  ...(values && { TTL: '300', ResourceRecords: { ResourceRecord: values.map(Value => ({ Value })) } }),
  ...more,
})
const read = (...sets: object[]) => recordsOfSets(sets as Record<string, unknown>[], 'example.com')

describe('a value sent to Route 53', () => {
  for (const type of [...route53Types].filter(one => anyFields[one] && one !== 'SOA'))
    test(`of ${type} is read back as it was`, () => {
      fc.assert(
        fc.property(anyFields[type]!, fields => {
          const rdata = rdataOfFields(type, fields, null)
          const [rrset] = read(set({ Type: type }, [apiValue(type, rdata)])).rrsets
          expect(textOf(type, rrset!.values[0]!)).toBe(textOf(type, rdata))
        }),
        { numRuns: 50 },
      )
    })

  test('has octal escapes', () => {
    const text = rdataOfTxt(Buffer.from('a"b\\c\x00\xff;', 'latin1'))
    expect(apiValue('TXT', text)).toBe('"a\\"b\\\\c\\000\\377;"')
    expect(read(set({ Type: 'TXT' }, ['"a\\"b\\\\c\\000\\377;"'])).rrsets[0]!.values).toEqual([text])
    expect(read(set({ Type: 'TXT' }, ['"\\400"']))).toMatchObject({ rrsets: [], foreign: [{ detail: '"\\400"' }] })
  })
})

describe('a name at Route 53', () => {
  const names: [string, string][] = [
    ['@', 'example.com.'],
    ['*', '\\052.example.com.'],
    ['_sip._tcp', '_sip._tcp.example.com.'],
    ['a\\.b', 'a\\056b.example.com.'],
    ['0/25', '0\\05725.example.com.'],
    ['\\195\\164', '\\303\\244.example.com.'],
  ]
  test.each(names)('%s is %s', (name, text) => {
    expect(apiName(name, 'example.com')).toBe(text)
    expect(recordName(text, 'example.com')).toBe(name)
  })

  test('can also be unescaped, and must be within the zone', () => {
    expect(recordName('*.example.com', 'example.com')).toBe('*')
    expect(() => recordName('www.example.net.', 'example.com')).toThrow(/not within the zone/)
  })
})

test('what is not a plain record set is described', () => {
  const AliasTarget = { DNSName: 'd111111abcdef8.cloudfront.net.', HostedZoneId: 'Z2FDTNDATAQYW2' }
  const details = (...sets: object[]) => read(...sets).foreign.map(one => one.detail)
  expect(
    details(
      set({ AliasTarget }),
      set({ SetIdentifier: 'blue', Weight: '10' }, ['192.0.2.1']),
      set({ SetIdentifier: 'eu', Region: 'eu-west-1', AliasTarget }),
      set({ SetIdentifier: 'one', Failover: 'PRIMARY', HealthCheckId: 'abc' }, ['192.0.2.1']),
      set({ SetIdentifier: 'de', GeoLocation: { CountryCode: 'DE' } }, ['192.0.2.1']),
      set({ SetIdentifier: 'x', Unknown: 'y' }, ['192.0.2.1']),
      set({ TrafficPolicyInstanceId: 'f00' }),
      set({ Type: 'NEWTYPE' }, ['x']),
      set({}, ['192.0.2.1', `192.0.2.${'x'.repeat(500)}`]),
    ),
  ).toEqual([
    'Alias to d111111abcdef8.cloudfront.net',
    'Weighted record “blue”',
    'Alias to d111111abcdef8.cloudfront.net, Latency record “eu”',
    'Failover record “one”, health check abc',
    'Geolocation record “de”',
    'Routing policy record “x”',
    'Record of the traffic policy instance f00',
    'Record of a type that only Route 53 has',
    `192.0.2.1, 192.0.2.${'x'.repeat(181)}…`,
  ])
})

test('invalid record sets are errors', () => {
  const wrong: [object, RegExp][] = [
    [set({}), /without a TTL or values/],
    [set({ TTL: '-1' }, ['192.0.2.1']), /without a TTL or values/],
    [{ Type: 'A' }, /without a name or type/],
  ]
  for (const [one, message] of wrong) expect(() => read(one)).toThrow(message)
})

test('unsupported types and long values are found before they are sent', () => {
  const text = (size: number) => rdataOfTxt(Buffer.alloc(size, 'x'))
  const found = (type: string, ...values: Uint8Array[]) => unsupportedAtRoute53({ name: 'www', type, ttl: 300, values })
  expect(found('TXT', text(3900))).toEqual([])
  expect(found('TXT', text(10), text(4000))).toMatchObject([{ detail: 'Route 53 limits values to 4,000 characters.' }])
  expect(found('LOC')).toMatchObject([{ detail: 'Route 53 doesn’t support LOC records.' }])
})

test('recent access keys contain the account', () => {
  expect(accountOfKey('ASIAQNZGKIQY56JQ7WML')).toBe('029608264753')
  for (const other of ['AKIAIOSFODNN7EXAMPLE', 'AROAQNZGKIQY56JQ7WML', 'MINIO']) expect(accountOfKey(other)).toBeNull()
})
