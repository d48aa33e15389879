import { expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { Problem } from '../../../../core/problem'
import { createClientCertificate } from './client-certificate'
import { incus } from './incus'
import { joinIncus } from './join'
import type { AdapterContext } from '../cloud'
import { decodeTrustToken } from './trust-token'

const content = {
  client_name: 'bailiwick',
  fingerprint: 'ab'.repeat(32),
  addresses: ['192.0.2.1:8443', '[2001:db8::1]:8443'],
  secret: 'cd'.repeat(32),
  expires_at: '0001-01-01T00:00:00Z',
}
const tokenOf = (more: object = {}) => Buffer.from(JSON.stringify({ ...content, ...more })).toString('base64')

/** Places and codes of the problems of settings. */
function problemsOf(settings: object): string[] {
  try {
    incus.validate!(settings as never)
    return []
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return (error.extras.errors ?? []).map(one => `${one.pointer.slice('#/settings/'.length)} ${one.code}`)
  }
}

test('a client certificate is signed by its own key, for TLS clients, and never expires', async () => {
  const notBefore = Date.parse('2026-11-27T04:00:00Z')
  const { certificate, key } = await createClientCertificate('bailiwick', notBefore)
  const parsed = new X509Certificate(certificate)
  expect(parsed.subject).toBe('CN=bailiwick')
  expect(parsed.verify(parsed.publicKey)).toBe(true)
  expect(parsed.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' })
  expect([Date.parse(parsed.validFrom), Date.parse(parsed.validTo)]).toEqual([notBefore, Date.parse('9999-12-31T23:59:59Z')])
  expect(parsed.ca).toBe(false)
  expect(problemsOf({ url: 'https://incus.example.net:8443', client_certificate: certificate, client_key: key })).toEqual([])
  const serials = new Set<string>()
  for (let n = 0; n < 50; n++) {
    const { serialNumber } = new X509Certificate((await createClientCertificate('x'.repeat(200), notBefore)).certificate)
    serials.add(serialNumber)
  }
  expect(serials.size).toBe(50)
})

test('settings are validated', async () => {
  const { certificate: client_certificate, key: client_key } = await createClientCertificate('one', 0)
  const url = 'https://incus.example.net:8443'
  const other = (await createClientCertificate('two', 0)).key
  expect(problemsOf({ trust_token: tokenOf() })).toEqual([])
  expect(problemsOf({})).toEqual(['trust_token required'])
  expect(problemsOf({ url, client_key })).toEqual(['client_certificate required'])
  expect(problemsOf({ url, client_certificate })).toEqual(['client_key required'])
  expect(problemsOf({ client_certificate, client_key })).toEqual(['url required'])
  expect(problemsOf({ url, client_certificate, client_key: other })).toEqual(['client_key format'])
  expect(problemsOf({ url, client_certificate, client_key: 'x' })).toEqual(['client_key format'])
  expect(problemsOf({ url, client_certificate: 'x', client_key })).toEqual(['client_certificate format'])
  const both = client_certificate + client_key
  expect(problemsOf({ url, client_certificate: both, client_key })).toEqual(['client_certificate format'])
  for (const wrong of ['http://incus.example.net', 'incus.example.net', `${url}/?x=1`, 'https://user@incus.example.net'])
    expect(problemsOf({ url: wrong, client_certificate, client_key })).toEqual(['url format'])
  const pinned = { url, client_certificate, client_key }
  const withColons = 'AB:'.repeat(32).slice(0, -1)
  for (const fingerprint of ['ab'.repeat(32), withColons]) expect(problemsOf({ ...pinned, fingerprint })).toEqual([])
  expect(problemsOf({ ...pinned, fingerprint: 'ab' })).toEqual(['fingerprint format'])
  for (const token of ['x', tokenOf().slice(0, 40), tokenOf({ fingerprint: 'ab' }), tokenOf({ secret: '' }), btoa('[]')])
    expect(problemsOf({ trust_token: token })).toEqual(['trust_token format'])
})

test('a trust token contains the server and its addresses', () => {
  const { client_name: clientName, fingerprint, addresses, secret } = content
  expect(decodeTrustToken(` ${tokenOf()}\n`)).toEqual({ clientName, fingerprint, addresses, secret, expiresAt: null })
  expect(decodeTrustToken(tokenOf({ expires_at: '2026-11-27T04:00:00Z' }))?.expiresAt).toBe(Date.parse('2026-11-27T04:00:00Z'))
})

test('an expired trust token is refused before it is sent', async () => {
  const around = { clock: { now: () => Date.parse('2026-11-27T04:00:00Z') } } as AdapterContext
  const join = joinIncus({ trust_token: tokenOf({ expires_at: '2026-11-27T03:59:59Z' }) }, around)
  await expect(join).rejects.toThrow('The trust token has expired. A token works only once: create a new one')
  expect(await joinIncus({}, around)).toBeNull()
})
