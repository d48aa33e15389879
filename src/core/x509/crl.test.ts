import { beforeAll, describe, expect, test } from 'bun:test'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import * as x509 from '@peculiar/x509'
import { makeCertificate } from '../../../test/support/make-certificates'
import { revocationList } from '../../../test/support/revocation-list'
import { runInSlices } from '../time-slices'
import { crlBucketOf, findCrlEntry, isCrlSignedBy, maxCrlBytes, readCrl, splitCrlEntries } from './crl'
import { DerError } from './der'

const from = new Date('2026-11-27T00:00:00Z')
const until = new Date('2026-12-04T00:00:00Z')
const days = { from, until }
const extensions = [new x509.SubjectKeyIdentifierExtension('11223344')]
const issuer = await makeCertificate({ subject: 'C=DE, O=Example, CN=Issuing CA', isCa: true, extensions })
const other = await makeCertificate({ subject: issuer.subject, isCa: true })
const read = (bytes: Uint8Array) => runInSlices(readCrl(bytes))
const revoked = [
  { serial: '7f00000000000000000000000000000001', at: new Date('2026-11-20T10:11:12Z'), reason: 'keyCompromise' },
  { serial: '00fedcba', reason: 'certificateHold' },
  { serial: '05' },
]

test('lists in DER and PEM form are read, verified, and searched', async () => {
  for (const form of ['DER', 'PEM'] as const) {
    const crl = await read(await revocationList(issuer, { revoked, ...days, form, extensions: ['authorityKeyIdentifier=keyid'] }))
    expect(crl).toMatchObject({
      ...{ thisUpdate: from.getTime(), nextUpdate: until.getTime(), scope: 'all', urls: [], authorityKeyId: '11223344' },
      signatureAlgorithm: 'ecdsa-with-SHA256',
    })
    expect(await isCrlSignedBy(crl, new X509Certificate(issuer.der).publicKey)).toBe(true)
    expect(await isCrlSignedBy(crl, new X509Certificate(other.der).publicKey)).toBe(false)
    const find = (serial: string) => runInSlices(findCrlEntry(crl.entries, serial))
    expect(await find(revoked[0]!.serial)).toEqual({ revokedAt: Date.UTC(2026, 10, 20, 10, 11, 12), reason: 'key_compromise' })
    expect(await find('fedcba')).toEqual({ revokedAt: from.getTime(), reason: 'certificate_hold' })
    expect(await find('05')).toEqual({ revokedAt: from.getTime(), reason: null })
    expect(await find('ba')).toBeNull()
    const parts = await runInSlices(splitCrlEntries(crl.entries, 16))
    expect(parts.reduce((sum, one) => sum + one.length, 0)).toBe(crl.entries.length)
    expect(await runInSlices(findCrlEntry(parts[crlBucketOf('fedcba', 16)]!, 'fedcba'))).not.toBeNull()
  }
})

describe('signatures with RSA-PSS', () => {
  let rsa: typeof issuer
  beforeAll(async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const words = ['req', '-x509', '-key', '/dev/stdin', '-subj', '/C=DE/O=Example/CN=Issuing CA', '-days', '400']
    const created = Bun.spawn(['openssl', ...words], { stdin: Buffer.from(keyPem) })
    rsa = { ...issuer, keyPem, pem: await new Response(created.stdout).text() }
  }, 30_000)
  const listWith = (...signature: string[]) =>
    revocationList(rsa, { ...days, revoked, signature: ['rsa_padding_mode:pss', ...signature] })

  test.each([['rsa_pss_saltlen:32'], ['rsa_pss_saltlen:0']])('%s', async salt => {
    const crl = await read(await listWith(salt))
    const key = new X509Certificate(rsa.pem).publicKey
    expect(crl.signatureAlgorithm).toBe('rsassaPss')
    expect(await isCrlSignedBy(crl, key)).toBe(true)
    expect(await isCrlSignedBy({ ...crl, signed: crl.signed.subarray(1) }, key)).toBe(false)
    expect(await isCrlSignedBy(crl, new X509Certificate(issuer.der).publicKey)).toBe(false)
  })

  test('another hash for the mask', async () => {
    const error = await read(await listWith('rsa_mgf1_md:sha512')).catch(error => error)
    expect(error.message).toBe('is signed with RSA-PSS and a hash that is not supported.')
  })
})

test('a list without entries is read', async () => {
  const crl = await read(await revocationList(issuer, days))
  expect(crl.entries.length).toBe(0)
  expect(await runInSlices(findCrlEntry(crl.entries, '05'))).toBeNull()
})

test('the distribution point of a list tells which certificates it contains', async () => {
  const point = (...lines: string[]) => ['issuingDistributionPoint=critical,@point', '[point]', ...lines]
  const scoped = await read(
    await revocationList(issuer, { ...days, extensions: point('fullname=URI:http://crl.test/1.crl', 'onlyuser=TRUE') }),
  )
  expect([scoped.scope, scoped.urls]).toEqual(['user', ['http://crl.test/1.crl']])
  const authorities = await read(await revocationList(issuer, { ...days, extensions: point('onlyCA=TRUE') }))
  expect([authorities.scope, authorities.urls]).toEqual(['ca', []])
})

describe('lists that are refused', () => {
  const point = (line: string) => ['issuingDistributionPoint=critical,@point', '[point]', line]
  const refused = async (bytes: Uint8Array) => {
    const error = await read(bytes).catch(error => error)
    expect(error).toBeInstanceOf(DerError)
    return error.message
  }
  const cases: [string, () => Promise<Uint8Array>, string][] = [
    ['nothing', async () => new Uint8Array(), 'is neither DER nor PEM with a revocation list.'],
    ['text', async () => Buffer.from('<html>'), 'is neither DER nor PEM with a revocation list.'],
    ['a certificate', async () => issuer.der, 'has no valid signature algorithm.'],
    ['a PEM certificate', async () => Buffer.from(issuer.pem), 'is neither DER nor PEM with a revocation list.'],
    ['PEM with other characters', async () => pem('MII*'), 'is not valid PEM.'],
    ['PEM that is cut', async () => pem('MII'), 'ends too early.'],
    ['too many bytes', async () => new Uint8Array(maxCrlBytes + 1), 'has more than 10485760 bytes.'],
    [
      'data after it',
      async () => Buffer.concat([await revocationList(issuer, days), Buffer.from([0])]),
      'is followed by other data.',
    ],
    [
      'a delta',
      () => revocationList(issuer, { ...days, extensions: ['2.5.29.27=critical,DER:020101'] }),
      'contains only changes of another revocation list.',
    ],
    [
      'an indirect one',
      () => revocationList(issuer, { ...days, extensions: point('indirectCRL=TRUE') }),
      'is an indirect revocation list, which contains certificates of several issuers.',
    ],
    [
      'some reasons',
      () => revocationList(issuer, { ...days, extensions: point('onlysomereasons=keyCompromise') }),
      'contains only certificates that were revoked for certain reasons.',
    ],
    [
      'attribute certificates',
      () => revocationList(issuer, { ...days, extensions: point('onlyAA=TRUE') }),
      'contains only attribute certificates.',
    ],
    [
      'an unknown critical extension',
      () => revocationList(issuer, { ...days, extensions: ['1.2.3.4=critical,DER:0500'] }),
      'has the unknown critical extension 1.2.3.4.',
    ],
  ]
  test.each(cases)('%s', async (_, make, message) => expect(await refused(await make())).toBe(message))

  test('weak signatures', async () => {
    const crl = await read(await revocationList(issuer, { ...days, digest: 'sha1' }))
    const verified = isCrlSignedBy(crl, new X509Certificate(issuer.der).publicKey)
    expect((await verified.catch(error => error)).message).toBe('is signed with ecdsa-with-SHA1, which is not supported.')
  })
})

const pem = (text: string) => Buffer.from(`-----BEGIN X509 CRL-----\n${text}\n-----END X509 CRL-----\n`)
