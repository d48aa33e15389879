import { describe, expect, test } from 'bun:test'
import * as x509 from '@peculiar/x509'
import { makeCertificate } from '../../../test/support/make-certificates'
import { DerError, encodeDer, maxDerBytes, tags } from './der'
import { maxNames, x509Facts } from './facts'

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'))
const extension = (oid: string, hex: string, isCritical = false) => new x509.Extension(oid, isCritical, bytes(hex))
const poison = extension('1.3.6.1.4.1.11129.2.4.3', '0500', true)
// Two SCTs of three bytes each.
const timestamps = extension('1.3.6.1.4.1.11129.2.4.2', '040c000a0003aabbcc0003ddeeff')
const mustStaple = extension('1.3.6.1.5.5.7.1.24', '3003020105')

test('everything that the runtime does not tell is read', async () => {
  const made = await makeCertificate({
    subject: 'C=DE, O=Example, CN=Shop.example.com',
    names: ['Shop.example.com', '*.shop.example.com', '192.0.2.1', '2001:db8::1'],
    notBefore: new Date('2026-11-10T00:00:00Z'),
    notAfter: new Date('2051-02-08T12:30:59Z'),
    serial: '00fedcba',
    extensions: [
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature | x509.KeyUsageFlags.keyEncipherment, true),
      new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1', '1.2.3.4']),
      new x509.AuthorityKeyIdentifierExtension('aabbccdd'),
      new x509.SubjectKeyIdentifierExtension('11223344'),
      new x509.CRLDistributionPointsExtension(['http://crl.example/1.crl', 'ldap://crl.example/1']),
      new x509.CertificatePolicyExtension(['2.23.140.1.2.1', '2.999.1']),
      timestamps,
      mustStaple,
    ],
  })
  const { issuer, subject, tbsSha256, ...facts } = x509Facts(made.der)
  expect(issuer).toEqual(subject)
  expect(tbsSha256).toMatch(/^[0-9a-f]{64}$/)
  expect(facts).toEqual({
    serial: 'fedcba',
    signatureAlgorithm: 'ecdsa-with-SHA256',
    commonName: 'Shop.example.com',
    notBefore: Date.UTC(2026, 10, 10),
    notAfter: Date.UTC(2051, 1, 8, 12, 30, 59),
    dnsNames: ['shop.example.com', '*.shop.example.com'],
    ipAddresses: ['192.0.2.1', '2001:db8::1'],
    keyUsage: ['digitalSignature', 'keyEncipherment'],
    extendedKeyUsage: ['serverAuth', '1.2.3.4'],
    basicConstraints: { isCa: false, pathLength: null },
    authorityKeyId: 'aabbccdd',
    subjectKeyId: '11223344',
    crlUrls: ['http://crl.example/1.crl'],
    policies: ['2.23.140.1.2.1', '2.999.1'],
    mustStaple: true,
    sctCount: 2,
    isPrecertificate: false,
  })
})

test('a precertificate and its certificate have the same hash, and others do not', async () => {
  const common = { names: ['a.test'], serial: '0102' }
  const usage = new x509.ExtendedKeyUsageExtension(['1.3.6.1.5.5.7.3.1'])
  const plain = await makeCertificate({ ...common, extensions: [usage] })
  const sameKeys = { ...common, keysOf: plain }
  const precertificate = x509Facts((await makeCertificate({ ...sameKeys, extensions: [poison, usage] })).der)
  const final = x509Facts((await makeCertificate({ ...sameKeys, extensions: [usage, timestamps] })).der)
  const other = x509Facts((await makeCertificate({ ...sameKeys, serial: '0103', extensions: [usage, timestamps] })).der)
  const facts = x509Facts(plain.der)
  expect([precertificate.isPrecertificate, final.isPrecertificate, final.sctCount]).toEqual([true, false, 2])
  expect([precertificate.tbsSha256, final.tbsSha256]).toEqual([facts.tbsSha256, facts.tbsSha256])
  expect(other.tbsSha256).not.toBe(facts.tbsSha256)
})

test('without these extensions, the hash is the one of TBSCertificate', async () => {
  const { der } = await makeCertificate({ names: Array.from({ length: 30 }, (_, at) => `n${at}.example.com`) })
  // The certificate is a SEQUENCE with a length of two bytes, and so is TBSCertificate.
  const length = 4 + ((der[6]! << 8) | der[7]!)
  expect([der[1], der[5]]).toEqual([0x82, 0x82])
  expect(x509Facts(der).tbsSha256).toBe(Bun.SHA256.hash(der.subarray(4, 4 + length), 'hex'))
})

test('as many names as fit are read, up to a limit', () => {
  // Names of four letters, with two bytes of DER each.
  const names = (count: number) =>
    encodeDer(
      tags.sequence,
      ...Array.from({ length: count }, (_, at) => encodeDer(0x82, Buffer.from(at.toString(36).padStart(2, '0').slice(-4)))),
    )
  const withNames = (value: Uint8Array) => crafted({ extensions: [crafted.extension(bytes('551d11'), value)] })
  expect(x509Facts(withNames(names(10_000))).dnsNames).toHaveLength(10_000)
  expect(x509Facts(withNames(names(12_000))).dnsNames).toHaveLength(maxNames)
  expect(() => x509Facts(withNames(Buffer.concat([names(10_000), new Uint8Array(maxDerBytes)])))).toThrow(DerError)
})

describe('refused', () => {
  const valid = crafted({})
  test('the crafted certificate itself is not', () => expect(x509Facts(valid).serial).toBe('05'))

  test.each([
    ['nothing', new Uint8Array(), 'ends too early.'],
    ['cut', valid.subarray(0, -1), 'has an element that is longer than the data.'],
    ['followed by something', Buffer.concat([valid, bytes('00')]), 'is followed by other data.'],
    ['indefinite length', bytes('3080020105' + '0000'), 'has an element of indefinite length, which DER does not allow.'],
    ['length past the end', bytes('3003020405'), 'has an element that is longer than the data.'],
    ['length not minimal', bytes('30810302' + '0105'), 'has an element with a length that is not minimal.'],
    ['high tag number', bytes('30031f8101'), 'has an element of the unknown type 0x1f.'],
    [
      'too deep',
      Array.from({ length: 30 }).reduce<Uint8Array>(inner => encodeDer(0x30, inner), bytes('0500')),
      'has more than 24 levels.',
    ],
    ['too large', encodeDer(0x30, encodeDer(0x04, new Uint8Array(maxDerBytes))), 'has more than 65536 bytes.'],
    ['negative serial', crafted({ serial: bytes('80') }), 'has a negative serial number.'],
    ['padded serial', crafted({ serial: bytes('0001') }), 'has no valid serial number.'],
    ['empty serial', crafted({ serial: bytes('') }), 'has no valid serial number.'],
    ['long serial', crafted({ serial: new Uint8Array(65).fill(1) }), 'has a serial number of more than 64 bytes.'],
    ['impossible date', crafted({ notAfter: '270230000000Z' }), 'has no valid validity period.'],
    ['date without seconds', crafted({ notAfter: '2702010000Z' }), 'has no valid validity period.'],
    [
      'an extension twice',
      crafted({ extensions: [1, 2].map(() => crafted.extension(bytes('551d0e'), bytes('0401aa'))) }),
      'has the extension 2.5.29.14 twice.',
    ],
    [
      'an address of three bytes',
      crafted({ extensions: [crafted.extension(bytes('551d11'), bytes('30058703010203'))] }),
      'has no valid subject alternative names.',
    ],
    [
      'SCTs that end early',
      crafted({ extensions: [crafted.extension(bytes('2b06010401d679020402'), bytes('04060004' + '000400' + 'aa'))] }),
      'has no valid list of SCTs.',
    ],
  ])('%s', (_, der, message) => {
    expect(() => x509Facts(der)).toThrow(new DerError(message))
  })
})

/** A certificate that no library would make. Its signature is not valid. */
function crafted({
  serial = bytes('05'),
  notAfter = '270101000000Z',
  extensions = [] as Uint8Array[],
}: {
  serial?: Uint8Array
  notAfter?: string
  extensions?: Uint8Array[]
}): Uint8Array {
  const algorithm = bytes('300a06082a8648ce3d040302')
  const time = (text: string) => encodeDer(tags.utcTime, Buffer.from(text))
  const tbs = encodeDer(
    tags.sequence,
    bytes('a003020102'),
    encodeDer(tags.integer, serial),
    algorithm,
    bytes('3000'),
    encodeDer(tags.sequence, time('260101000000Z'), time(notAfter)),
    bytes('3000'),
    bytes('3000'),
    ...(extensions.length > 0 ? [encodeDer(0xa3, encodeDer(tags.sequence, ...extensions))] : []),
  )
  return encodeDer(tags.sequence, tbs, algorithm, bytes('030100'))
}
crafted.extension = (oid: Uint8Array, value: Uint8Array) =>
  encodeDer(tags.sequence, encodeDer(tags.oid, oid), encodeDer(tags.octetString, value))
