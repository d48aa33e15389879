import { describe, expect, test } from 'bun:test'
import { certificateFacts, daysLeft, namesOf, formatDuration } from './certificate'
import { certificateDetails } from './certificate-details'
import { X509Certificate } from 'node:crypto'

const fixture = async (name: string) =>
  new X509Certificate(await Bun.file(new URL(`../../test/fixtures/tls/${name}.pem`, import.meta.url)).text())

describe('the facts of a certificate', () => {
  test('match what openssl prints', async () => {
    const leaf = await fixture('loopback')
    const facts = certificateFacts(leaf)
    expect(facts).toMatchObject({
      subject: 'CN=loopback',
      issuer: 'CN=Fixture CA',
      names: ['127.0.0.1', '::1'],
      not_before: Date.UTC(2025, 0, 1),
      not_after: Date.UTC(2124, 0, 1),
      chain_not_after: Date.UTC(2124, 0, 1),
    })
    expect(facts.sha256).toBe(new Bun.CryptoHasher('sha256').update(leaf.raw).digest('hex'))
    expect(facts.serial).toMatch(/^[0-9a-f]+$/)
  })

  test('include the expiry of a lone root', async () => {
    const root = await fixture('self-signed')
    expect(certificateFacts(root).chain_not_after).toBe(Date.parse(root.validTo))
  })

  test('are one shared object as long as they are equal', async () => {
    const [leaf, issuer, later] = [await fixture('loopback'), await fixture('expired'), await fixture('self-signed')]
    const shown = (issuerCertificate: X509Certificate) => ({
      fingerprint256: leaf.fingerprint256,
      raw: leaf.raw,
      issuerCertificate,
    })
    const facts = certificateFacts(leaf)
    expect(certificateFacts(await fixture('loopback'))).toBe(facts)
    const ending = certificateFacts(shown(issuer))
    expect(ending.chain_not_after).toBe(Date.parse(issuer.validTo))
    expect(certificateFacts(shown(later)).chain_not_after).toBe(facts.chain_not_after)
    expect(ending.chain_not_after).toBe(Date.parse(issuer.validTo))
  })

  test('are not cached for certificates whose details are read, which hostile servers can make up in any number', async () => {
    const { raw, fingerprint256 } = await fixture('two-names')
    expect(certificateDetails(raw)?.names).toEqual(['a.test', 'b.test'])
    expect(() => certificateFacts({ fingerprint256, raw: new Uint8Array() })).toThrow()
  })

  test('count the days left, also past the expiry', async () => {
    const facts = certificateFacts(await fixture('expired'))
    expect(daysLeft(facts, Date.UTC(2020, 11, 30))).toBe(2)
    expect(daysLeft(facts, Date.UTC(2021, 0, 1, 12))).toBe(-0.5)
  })
})

test.each([
  [undefined, []],
  ['DNS:A.test, DNS:*.b.test, IP Address:192.0.2.7', ['a.test', '*.b.test', '192.0.2.7']],
  ['IP Address:2001:DB8:0:0:0:0:0:1, URI:https://c.test/, email:d@e.test', ['2001:db8::1']],
  [String.raw`DNS:"f.test, DNS:g.test", DNS:h.test`, ['f.test, dns:g.test', 'h.test']],
  [String.raw`DNS:"i\"j"`, ['i"j']],
  ['othername:<unsupported>', []],
])('the names of %p', (text, names) => {
  expect(namesOf(text)).toEqual(names)
})

test.each([
  [0, '0 seconds'],
  [1000, '1 second'],
  [119_999, '1 minute'],
  [-7_200_000, '2 hours'],
  [3 * 86_400_000 + 5, '3 days'],
])('%d ms is %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text)
})
