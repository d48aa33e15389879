import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ipv4Octets, ipv4Text, ipv6Octets, ipv6Text } from './address-octets'

const hexOf = (octets: Uint8Array) => Buffer.from(octets).toString('hex')

test('an IPv4 address has one text form', () => {
  fc.assert(fc.property(fc.ipV4(), text => expect(ipv4Text(ipv4Octets(text))).toBe(text)))
})

test.each(['', '1', '1.2.3', '1.2.3.4.5', '010.1.1.1', '1.2.3.256', '1.2.3.4 ', '0x1.2.3.4', '1.2.3.-4', '1..3.4', '١.2.3.4'])(
  'the IPv4 address %j is rejected',
  text => expect(() => ipv4Octets(text)).toThrow('must be an IPv4 address'),
)

test('the text of any IPv6 address is parsed to the same octets', () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), groups => {
      const octets = Uint8Array.from(groups.flatMap(one => [one >> 8, one & 0xff]))
      expect(hexOf(ipv6Octets(ipv6Text(octets)))).toBe(hexOf(octets))
      expect(hexOf(ipv6Octets(groups.map(one => one.toString(16).toUpperCase()).join(':')))).toBe(hexOf(octets))
    }),
    { numRuns: 1000 },
  )
})

test('the IPv6 addresses of fast-check are accepted', () => {
  fc.assert(fc.property(fc.ipV6(), text => expect(ipv6Octets(text)).toHaveLength(16)))
})

// RFC 5952 4
test.each([
  ['2001:0db8::0001', '2001:db8::1'],
  ['2001:db8:0:0:0:0:2:1', '2001:db8::2:1'],
  ['2001:db8::1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:DB8::ABCD', '2001:db8::abcd'],
  ['::ffff:c000:201', '::ffff:192.0.2.1'],
  ['::192.0.2.1', '::c000:201'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['1::', '1::'],
])('%s is formatted as %s', (input, text) => expect(ipv6Text(ipv6Octets(input))).toBe(text))

test.each([
  '',
  ':',
  ':::',
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  '1::2::3',
  '1:2:3:4:5:6:7::8',
  '12345::',
  '::1%lo',
  '[::1]',
  '::1.2.3',
  '::01.2.3.4',
  '1:2:3:4:5:6:7:1.2.3.4',
  'g::',
])('the IPv6 address %j is rejected', text => expect(() => ipv6Octets(text)).toThrow('must be an IPv6 address'))
