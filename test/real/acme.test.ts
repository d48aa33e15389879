import { createPrivateKey, X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { startPebble, type Pebble } from '../support/pebble'
import { startPowerDns } from '../support/power-dns-server'
import { startUpdatableBind } from '../support/update-servers'

// The compiled hub and Pebble, which looks up the records at the built-in name server, PowerDNS, or BIND.

const key = { name: 'bailiwick', algorithm: 'hmac-sha256', secret: Buffer.alloc(32, 9).toString('base64') }

let here: Installation
let hub: HubProcess
let token: string
let pebble: Pebble
let account: string
beforeAll(async () => {
  here = await installation()
  here.env.BAILIWICK_DNS_RESOLVERS = '127.0.0.1:9'
  hub = await startHub(here)
  token = await fullToken(here)
  pebble = await startPebble({ dnsPort: hub.dnsPort, rejectedNonces: 10 })
  account = await registered('Pebble', pebble)
  for (const name of ['example.test', 'acme.test']) await api('POST', '/v1/dns/zones', { name })
}, 180_000)
afterAll(async () => {
  await pebble?.[Symbol.asyncDispose]()
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

const api = async (method: string, path: string, body?: unknown) => {
  const answer = await call(hub, token, method, path, body)
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const registered = async (name: string, { directoryUrl, ca }: Pebble, more: object = {}): Promise<string> =>
  (await api('POST', '/v1/acme-accounts', { name, directory_url: directoryUrl, ca_pem: ca, terms_agreed: true, ...more })).id

const ended = async (actionId: string) => {
  const action = await until(
    'the end',
    async () => {
      const current = await api('GET', `/v1/actions/${actionId}`)
      return current.finished_at !== null && current
    },
    120_000,
  )
  expect(action).toMatchObject({ status: 'success', error: null })
}

/** Issues a certificate, and downloads it. */
async function issued(names: string[], by = account): Promise<{ id: string; certificate: X509Certificate }> {
  const { id, action_id } = await api('POST', '/v1/managed-certificates', { names, acme_account_id: by })
  await ended(action_id)
  return { id, certificate: await downloaded(id, names) }
}

async function downloaded(id: string, names: string[]): Promise<X509Certificate> {
  const { certificate, private_key } = await api('POST', `/v1/managed-certificates/${id}/download`, {})
  const x509 = new X509Certificate(certificate)
  expect(x509.checkPrivateKey(createPrivateKey(private_key))).toBe(true)
  expect(x509.subjectAltName!.split(', ').toSorted()).toEqual(names.map(name => `DNS:${name}`).toSorted())
  return x509
}

const challengesLeft = async () => (await api('GET', '/v1/dns/records?type=TXT')).data

test('an apex, a wildcard, and a name five labels deep in one certificate, which is renewed and revoked', async () => {
  const names = ['example.test', '*.example.test', 'a.b.c.d.e.example.test']
  const { id, certificate } = await issued(names)
  expect(await challengesLeft()).toEqual([])
  await ended((await api('POST', `/v1/managed-certificates/${id}/renew`, { force: true })).id)
  const renewed = await downloaded(id, names)
  expect(renewed.serialNumber).not.toBe(certificate.serialNumber)
  await ended((await api('POST', `/v1/managed-certificates/${id}/revoke`, { reason: 'superseded' })).id)
  expect(await api('GET', `/v1/managed-certificates/${id}`)).toMatchObject({ status: 'revoked' })
})

test('100 names, and a name whose validation is delegated to another zone', async () => {
  const { id } = (await api('GET', '/v1/dns/zones?name=example.test')).data[0]
  const record = { type: 'CNAME', name: '_acme-challenge.n7', content: 'n7.acme.test.' }
  await api('POST', `/v1/dns/zones/${id}/records`, record)
  await issued(Array.from({ length: 100 }, (_, at) => `n${at}.example.test`))
  expect(await challengesLeft()).toEqual([])
})

test('an external account', async () => {
  const hmacKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'
  await using bound = await startPebble({ dnsPort: hub.dnsPort, externalAccounts: { 'kid-1': hmacKey } })
  const eab = { kid: 'kid-1', hmac_key: hmacKey }
  const input = { name: 'Wrong', directory_url: bound.directoryUrl, ca_pem: bound.ca, terms_agreed: true }
  for (const wrong of [undefined, { ...eab, kid: 'kid-2' }, { ...eab, hmac_key: `x${hmacKey.slice(1)}` }]) {
    const { status, body } = await call(hub, token, 'POST', '/v1/acme-accounts', { ...input, ...(wrong && { eab: wrong }) })
    expect([status, body.errors?.[0].pointer]).toEqual([422, '#/eab'])
  }
  await issued(['eab.example.test'], await registered('Bound', bound, { eab }))
})

test('a zone at PowerDNS', async () => {
  const server = await startPowerDns()
  try {
    const settings = { url: server.url, api_key: server.apiKey }
    await issuedAt('pdns.test', { kind: 'powerdns', name: 'PowerDNS', settings }, server.dnsPort)
  } finally {
    await server.stop()
  }
})

test('a zone at BIND', async () => {
  const file = '$TTL 3600\n@ SOA ns1 hostmaster 1 3600 600 86400 300\n@ NS ns1\nns1 A 192.0.2.53\n'
  const server = await startUpdatableBind(['bind.test'], file, { key })
  try {
    const settings = { host: '127.0.0.1', port: server.port, key_name: key.name, key_secret: key.secret }
    await issuedAt('bind.test', { kind: 'rfc2136', name: 'BIND', settings }, server.port)
  } finally {
    await server.stop()
  }
})

/** Issues a certificate for a zone at a provider. */
async function issuedAt(zone: string, provider: object, dnsPort: number): Promise<void> {
  await using authority = await startPebble({ dnsPort })
  const { id: provider_id } = await api('POST', '/v1/dns/providers', provider)
  const { id } = await api('POST', '/v1/dns/zones', { name: zone, provider_id })
  const path = `/v1/dns/zones/${id}`
  const isRead = async () => ['unmanaged', 'synced'].includes((await api('GET', path)).sync.state)
  await until('the first reading', isRead, 60_000)
  const below = Array.from({ length: 30 }, (_, at) => `n${at}.${zone}`)
  await issued([zone, `*.${zone}`, ...below], await registered(zone, authority))
  await until('the records removed', async () => (await textsAt(dnsPort, `_acme-challenge.n29.${zone}`)) === '', 60_000)
  expect(await api('GET', path)).toMatchObject({ blocked: null })
}

async function textsAt(port: number, name: string): Promise<string> {
  const run = Bun.spawn(['dig', '@127.0.0.1', '-p', String(port), name, 'TXT', '+short'], { stdout: 'pipe' })
  return await new Response(run.stdout).text()
}
