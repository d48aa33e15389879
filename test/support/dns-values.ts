import fc from 'fast-check'
import { NAME_MAX, nameOf, wireLength } from '../../src/dns/name'
import { octetsJson } from '../../src/dns/octets'

// Values of every record type, as JSON decoded from the wire.

const octets = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength })
const u8 = fc.integer({ min: 0, max: 0xff })
const u16 = fc.integer({ min: 0, max: 0xffff })
const u32 = fc.integer({ min: 0, max: 0xffffffff })
const hex = (minLength: number, maxLength = minLength) =>
  octets(minLength, maxLength).map(one => Buffer.from(one).toString('hex'))
const base64 = octets(1, 90).map(one => Buffer.from(one).toString('base64'))
/** Any octets in JSON form; often text. */
const json = (minLength: number, maxLength: number) =>
  fc.oneof(
    octets(minLength, maxLength).map(octetsJson),
    fc.string({ unit: 'binary', minLength, maxLength: Math.floor(maxLength / 4) }).filter(text => text.isWellFormed()),
  )
const characterString = json(0, 255)

const plainLabel = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/)
const oddLabel = octets(1, 63).map(one => String.fromCharCode(...one))

/** Any absolute name: mostly plain ones, some with arbitrary octets. */
export const anyName: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 4, arbitrary: plainLabel }, { weight: 1, arbitrary: oddLabel }), { maxLength: 6 })
  .map(nameOf)
  .filter(name => wireLength(name) <= NAME_MAX)

const host = anyName.filter(name => !/^[\d.]+$/.test(name))
const codes = ['A', 'NS', 'SOA', 'MX', 'AAAA', 'RRSIG', 'NSEC', 'CAA', 'TYPE1234', 'TYPE65280']
const types = fc.subarray(codes)
const ipv4 = fc.ipV4()
// RFC 5952 formatting has its own tests; here, addresses only need to round-trip.
const ipv6 = fc.constantFrom('::', '::1', '2001:db8::1', '2001:db8:0:1::', 'fe80::1:0:0:1', '::ffff:192.0.2.1', '1:2:3:4:5:6:7:8')

const digested = (field: string, number: string, sizes: [number, number][], others: Record<string, fc.Arbitrary<unknown>>) =>
  fc.oneof(...sizes.map(([kind, size]) => fc.record({ ...others, [number]: fc.constant(kind), [field]: hex(size) })))
const dsSizes: [number, number][] = [
  [1, 20],
  [2, 32],
  [4, 48],
  [200, 7],
]
// Keys of private algorithms (253, 254) are prefixed with a name.
const algorithm = fc.integer({ min: 0, max: 252 })
const ds = digested('digest', 'digest_type', dsSizes, { key_tag: u16, algorithm: algorithm.filter(one => one > 0) })
const dnskey = fc.record({ flags: u16, protocol: fc.constant(3), algorithm, public_key: base64 })
const tlsa = digested(
  'certificate_data',
  'matching_type',
  [
    [0, 77],
    [1, 32],
    [2, 64],
  ],
  { usage: u8, selector: u8 },
)
const texts = fc.record({ strings: fc.array(characterString, { minLength: 1, maxLength: 4 }) })
const target = fc.record({ target: anyName })

const params = fc
  .record(
    {
      alpn: fc.array(
        json(1, 60).filter(one => one !== ''),
        { minLength: 1, maxLength: 3 },
      ),
      port: u16,
      ipv4hint: fc.array(ipv4, { minLength: 1, maxLength: 3 }),
      ech: base64,
      ipv6hint: fc.array(ipv6, { minLength: 1, maxLength: 3 }),
      dohpath: fc.constantFrom('/dns-query{?dns}', '/ä{?dns}'),
      ohttp: fc.constant(true),
      'tls-supported-groups': fc.array(u16, { minLength: 1, maxLength: 3 }),
      key667: json(0, 40),
      key65534: characterString,
    },
    { requiredKeys: [] },
  )
  .chain(all =>
    fc.record({ mandatory: fc.subarray(Object.keys(all)), noDefault: fc.boolean() }).map(({ mandatory, noDefault }) => ({
      ...(mandatory.length > 0 ? { mandatory } : {}),
      ...(all.alpn ? { alpn: all.alpn } : {}),
      ...(all.alpn && noDefault ? { 'no-default-alpn': true } : {}),
      ...all,
    })),
  )
  .map(all => ({ ...all }))
const binding = fc.oneof(
  fc.record({ svc_priority: fc.integer({ min: 1, max: 0xffff }), target_name: anyName, svc_params: params }),
  fc.record({ svc_priority: fc.constant(0), target_name: anyName, svc_params: fc.constant({}) }),
)

const size = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 9 }))
  .map(([digit, power]) => (digit * 10 ** power) / 100)
const angle = (prefix: string, max: number, letters: [string, string]) =>
  fc
    .record({
      [`${prefix}_degrees`]: fc.integer({ min: 0, max: max - 1 }),
      [`${prefix}_minutes`]: fc.integer({ min: 0, max: 59 }),
      [`${prefix}_seconds`]: fc.integer({ min: 0, max: 59_999 }).map(one => one / 1000),
      // 0 has no direction.
      [`${prefix}_direction`]: fc.constantFrom(...letters),
    })
    .map(one => ({
      ...one,
      ...(['degrees', 'minutes', 'seconds'].every(part => one[`${prefix}_${part}`] === 0)
        ? { [`${prefix}_direction`]: letters[0] }
        : {}),
    }))
const location = fc
  .tuple(
    angle('lat', 90, ['N', 'S']),
    angle('long', 180, ['E', 'W']),
    fc.integer({ min: -10_000_000, max: 0xffffffff - 10_000_000 }).map(one => one / 100),
    size,
    size,
    size,
  )
  .map(([lat, long, altitude, across, precision_horz, precision_vert]) => ({
    ...lat,
    ...long,
    altitude,
    size: across,
    precision_horz,
    precision_vert,
  }))
const iterated = { hash_algorithm: u8, flags: u8, iterations: u16, salt: hex(0, 255) }

/** Arbitrary fields of every record type, in normalized form. */
export const anyFields: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  A: fc.record({ address: ipv4 }),
  AAAA: fc.record({ address: ipv6 }),
  CNAME: target,
  ALIAS: fc.record({ target: anyName.filter(name => name !== '.') }),
  DNAME: target,
  NS: fc.record({ target: host }),
  PTR: target,
  MX: fc.oneof(
    fc.record({ preference: u16, exchange: host.filter(name => name !== '.') }),
    fc.constant({ preference: 0, exchange: '.' }),
  ),
  SRV: fc.record({ priority: u16, weight: u16, port: u16, target: host }),
  SOA: fc.record({ mname: anyName, rname: anyName, serial: u32, refresh: u32, retry: u32, expire: u32, minimum: u32 }),
  AFSDB: fc.record({ subtype: u16, hostname: host }),
  RP: fc.record({ mbox: anyName, txt: anyName }),
  TXT: texts,
  SPF: texts,
  HINFO: fc.record({ cpu: characterString, os: characterString }),
  CAA: fc.oneof(
    fc.record({
      flags: fc.constantFrom(0, 128),
      tag: fc.constantFrom('issue', 'issuewild'),
      value: fc.constantFrom(';', 'ca.example', 'ca.example; account=1; validationmethods=dns-01'),
    }),
    fc.record({ flags: fc.constantFrom(0, 128), tag: fc.constantFrom('unknown7', 'Other'), value: json(0, 300) }),
    fc.constant({ flags: 0, tag: 'iodef', value: 'mailto:security@example.com' }),
  ),
  NAPTR: fc.oneof(
    fc.record({
      order: u16,
      preference: u16,
      flags: fc.constantFrom('', 'S', 'a', 'u'),
      service: characterString,
      regexp: fc.constant(''),
      replacement: anyName,
    }),
    fc.record({
      order: u16,
      preference: u16,
      flags: fc.constant('U'),
      service: characterString,
      regexp: fc.constantFrom(
        '!^.*$!sip:info@example.com!',
        '/(a)(b)\\//\\2\\1/i',
        '!^urn:cid:.+@([^\\.]+\\.)(.*)$!\\2!i',
        '!é!x!',
      ),
      replacement: fc.constant('.'),
    }),
  ),
  URI: fc.record({ priority: u16, weight: u16, target: json(1, 400).filter(one => one !== '') }),
  TLSA: tlsa,
  SMIMEA: tlsa,
  SSHFP: digested(
    'fingerprint',
    'fingerprint_type',
    [
      [1, 20],
      [2, 32],
    ],
    { algorithm: u8 },
  ),
  DS: ds,
  CDS: fc.oneof(ds, fc.constant({ key_tag: 0, algorithm: 0, digest_type: 0, digest: '00' })),
  DNSKEY: dnskey,
  CDNSKEY: dnskey,
  OPENPGPKEY: fc.record({ public_key: base64 }),
  CERT: fc.record({ cert_type: u16, key_tag: u16, algorithm, certificate: base64 }),
  DHCID: fc.record({ identifier: base64 }),
  SVCB: binding,
  HTTPS: binding,
  LOC: location,
  RRSIG: fc.record({
    type_covered: fc.constantFrom('A', 'SOA', 'TYPE65280'),
    algorithm,
    // At least as many as the signer’s name has.
    labels: fc.integer({ min: 6, max: 255 }),
    original_ttl: u32,
    expiration: u32,
    inception: u32,
    key_tag: u16,
    signer: anyName,
    signature: base64,
  }),
  NSEC: fc.record({ next_domain: anyName, types: types.filter(list => list.length > 0) }),
  NSEC3: fc.record({
    ...iterated,
    next_hashed_owner: fc.constantFrom('2T7B4G4VSA5SMI47K61MV5BV1A22BOJR', '0P9MHAVEQVM6T7VBL5LOP2U3T2RP3TOM'),
    types,
  }),
  NSEC3PARAM: fc.record(iterated),
  CSYNC: fc.record({ serial: u32, flags: u16, types }),
  ZONEMD: digested(
    'digest',
    'hash_algorithm',
    [
      [1, 48],
      [2, 64],
      [240, 20],
    ],
    { serial: u32, scheme: u8 },
  ),
  TYPE731: fc.record({ rdata: hex(0, 80) }),
}
