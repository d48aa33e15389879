import { expect, test } from 'bun:test'
import { AcmeDouble } from '../support/acme-double'
import { pointers } from '../support/pointers'
import { closeLater, world } from '../support/world'

const hmacKey = Buffer.from('changeme-0123456789abcdef0123456').toString('base64url')

async function scene() {
  const here = await world()
  const ca = new AcmeDouble()
  closeLater(async () => ca.stop())
  const input = { name: 'Example CA', directory_url: ca.directoryUrl, contact_email: 'ops@example.com', terms_agreed: true }
  const create = (more: object = {}) => here.acme.call('POST', '/v1/acme-accounts', { ...input, ca_pem: ca.ca, ...more })
  return { here, ca, create }
}

test('an account is registered with a key that never leaves', async () => {
  const { here, ca, create } = await scene()
  await here.audited()
  const created = await create({ ca_pem: `${ca.ca}\nafter` })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    name: 'Example CA',
    directory_url: ca.directoryUrl,
    contact_email: 'ops@example.com',
    eab: null,
    key_type: 'ec-256',
    account_url: `${ca.url}/account/1`,
    status: 'valid',
    state: 'unknown',
  })
  expect(created.text).not.toContain('PRIVATE')
  expect(await here.audited()).toEqual(['certificates.acme_account.create'])
  await here.settle()
  const path = `/v1/acme-accounts/${created.body.id}`
  expect((await here.acme.call('GET', path)).body).toMatchObject({
    state: 'ok',
    detail: `Registered at ${new URL(ca.url).host}, profiles classic, shortlived`,
  })
  expect((await here.acme.call('GET', '/v1/acme-accounts')).body.data).toHaveLength(1)
  expect((await here.acme.call('GET', '/v1/acme-accounts?status=deactivated')).body.data).toEqual([])
  expect((await here.rival.call('GET', path)).status).toBe(404)
  expect((await here.readOnly.call('POST', `${path}/check`)).status).toBe(403)
  const stored = JSON.stringify((await here.acme.call('GET', '/v1/audit-events?limit=100')).body)
  expect(stored).not.toContain('PRIVATE')

  const cut = `${ca.ca}\n-----BEGIN PRIVATE KEY-----\nMIGH`
  expect((await here.acme.call('PATCH', path, { ca_pem: cut })).body).toMatchObject({ code: 'private_key_refused' })
  expect(created.body.ca_pem).toBe(ca.ca)
  const patched = await here.acme.call('PATCH', path, { name: 'CA', contact_email: 'new@example.com' })
  expect(patched.body).toMatchObject({ name: 'CA', contact_email: 'new@example.com', version: 2 })
  await here.settle()
  expect([...ca.accounts.values()]).toMatchObject([{ contact: ['mailto:new@example.com'] }])
  const { size } = ca.accounts
  expect((await create({ name: 'CA' })).body).toMatchObject({ code: 'already_exists', errors: [{ pointer: '#/name' }] })
  for (let at = 0; at < 19; at++) {
    here.clock.advance(10_000)
    expect((await create({ name: `Another ${at}` })).status).toBe(201)
  }
  here.clock.advance(60_000)
  expect((await create({ name: 'One more' })).body).toMatchObject({ status: 409, code: 'conflict' })
  // Nothing was registered for those that were refused.
  expect(ca.accounts.size).toBe(size + 19)
})

test('an external account is bound with a key that is not stored', async () => {
  const { here, ca, create } = await scene()
  ca.externalAccounts = { 'kid-1': hmacKey }
  expect(pointers(await create())).toEqual([422, ['#/eab']])
  expect(pointers(await create({ eab: { kid: 'kid-2', hmac_key: hmacKey } }))).toEqual([422, ['#/eab']])
  expect(pointers(await create({ eab: { kid: 'kid-1', hmac_key: `x${hmacKey.slice(1)}` } }))).toEqual([422, ['#/eab']])
  expect(ca.accounts.size).toBe(0)
  expect((await here.acme.call('GET', '/v1/acme-accounts')).body.data).toEqual([])
  const created = await create({ eab: { kid: 'kid-1', hmac_key: hmacKey } })
  expect(created.body).toMatchObject({ eab: { kid: 'kid-1' } })
  expect([...ca.accounts.values()]).toMatchObject([{ eab: 'kid-1' }])
  expect(created.text).not.toContain(hmacKey)
})

test('what is not an ACME directory is refused, and nothing is stored', async () => {
  const { here, ca, create } = await scene()
  expect(pointers(await create({ terms_agreed: false }))).toEqual([422, ['#/terms_agreed']])
  expect(pointers(await create({ contact_email: 'ops@invalid.example' }))).toEqual([422, ['#/contact_email']])
  for (const directory_url of [`${ca.url}/nonce`, `${ca.url}/account`])
    expect(pointers(await create({ directory_url }))).toEqual([422, ['#/directory_url']])
  for (const directory_url of ['http://ca.example/directory', 'https://u:p@ca.example/', 'ca.example', 'https://ca.example/?x'])
    expect(pointers(await create({ directory_url }))).toEqual([422, ['#/directory_url']])
  ca.trouble = { html: '/directory' }
  expect(pointers(await create())).toEqual([422, ['#/directory_url']])
  ca.trouble = { redirects: '/directory' }
  expect(pointers(await create())).toEqual([422, ['#/directory_url']])
  ca.trouble = { redirects: '/account' }
  expect((await create()).body).toMatchObject({ code: 'provider_failed', failure: 'invalid_response' })
  here.clock.advance(60_000)
  ca.trouble = { badNonceEvery: 1 }
  expect((await create()).body).toMatchObject({ code: 'provider_failed', failure: 'refused' })
  expect(pointers(await create({ ca_pem: 'x' }))).toEqual([422, ['#/ca_pem']])
  for (const key of ['-----BEGIN PRIVATE KEY-----\nMIGH\n-----END PRIVATE KEY-----\n', '-----BEGIN EC PRIVATE KEY-----\nMIGH'])
    expect((await create({ ca_pem: ca.ca + key })).body).toMatchObject({ status: 422, code: 'private_key_refused' })
  expect((await create({ ca_pem: null })).body).toMatchObject({ code: 'provider_failed', failure: 'unreachable' })
  expect((await here.acme.call('GET', '/v1/acme-accounts')).body.data).toEqual([])
})

test('network policy: a directory at a private address is refused', async () => {
  const { here, ca } = await scene()
  const input = { name: 'CA', directory_url: ca.directoryUrl, ca_pem: ca.ca, terms_agreed: true }
  const refused = await here.rival.call('POST', '/v1/acme-accounts', input)
  expect(refused.body).toMatchObject({ code: 'provider_failed', failure: 'unreachable' })
  expect(ca.requests).toEqual([])
})

test('a refused nonce is repeated, and an account that fails is reported once', async () => {
  const { here, ca, create } = await scene()
  ca.trouble = { badNonceEvery: 2 }
  const { body: account } = await create()
  await here.settle()
  await here.audited()
  ca.trouble = {}
  for (const one of ca.accounts.values()) one.status = 'revoked'
  await here.advance(24 * 3_600_000)
  const path = `/v1/acme-accounts/${account.id}`
  expect((await here.acme.call('GET', path)).body).toMatchObject({ state: 'failing', last_error: { code: 'unauthorized' } })
  expect(await here.audited()).toEqual(['certificates.acme_account.fail'])
  const { data } = (await here.acme.call('GET', '/v1/notices')).body
  expect(data.filter((one: any) => one.kind === 'acme_account.failing')).toHaveLength(1)
  for (const one of ca.accounts.values()) one.status = 'valid'
  expect((await here.acme.call('POST', `${path}/check`)).body).toMatchObject({ state: 'ok', last_error: null })
})

test('a deactivated account has no key, and is not used again', async () => {
  const { here, ca, create } = await scene()
  const { body: account } = await create()
  await here.settle()
  await here.audited()
  const path = `/v1/acme-accounts/${account.id}`
  ca.trouble = { html: '/account' }
  expect((await here.acme.call('POST', `${path}/deactivate`)).body).toMatchObject({ code: 'provider_failed' })
  ca.trouble = {}
  const deactivate = (headers: object) => here.acme.call('POST', `${path}/deactivate`, undefined, headers as never)
  expect((await deactivate({ 'If-Match': '"9"' })).body).toMatchObject({ status: 412 })
  // A proxy refuses the request.
  ca.trouble = { failing: { as: '403', path: '/account', times: 2 } }
  expect((await deactivate({})).body).toMatchObject({ code: 'provider_failed', failure: 'unauthorized' })
  ca.trouble = {}
  expect([...ca.accounts.values()]).toMatchObject([{ status: 'valid' }])
  const ended = await here.acme.call('POST', `${path}/deactivate`)
  expect(ended.body).toMatchObject({ status: 'deactivated', state: 'unknown' })
  expect([...ca.accounts.values()]).toMatchObject([{ status: 'deactivated' }])
  expect(await here.audited()).toEqual(['certificates.acme_account.deactivate'])
  for (const verb of ['check', 'deactivate'])
    expect((await here.acme.call('POST', `${path}/${verb}`)).body).toMatchObject({ code: 'conflict' })
  expect((await here.acme.call('PATCH', path, { contact_email: null })).status).toBe(409)
  const { length } = ca.requests
  await here.advance(48 * 3_600_000)
  expect(ca.requests).toHaveLength(length)
  expect((await here.acme.call('DELETE', path)).status).toBe(204)
})

test('common certificate authorities are listed', async () => {
  const here = await world()
  const { data } = (await here.acme.call('GET', '/v1/acme-directories')).body
  expect(data.map((one: any) => [one.kind, one.eab_required])).toEqual([
    ['letsencrypt', false],
    ['letsencrypt_staging', false],
    ['zerossl', true],
    ['google', true],
    ['google_staging', true],
  ])
})
