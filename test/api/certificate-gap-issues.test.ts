import { expect, test } from 'bun:test'
import { acmeScene, noResolvers } from '../support/acme-scene'
import { gapScene } from '../support/gap-scene'
import { pointers } from '../support/pointers'
import { world } from '../support/world'

const dayMs = 86_400_000

// The tests share a hub, with names of their own.
const here = await world(noResolvers)
const { account, finish, download, setRecords } = await acmeScene(here)
const { call } = here.acme
const { port, serve, scan, openGap } = await gapScene(here)

const managedFor = async (name: string) =>
  ((await call('GET', '/v1/managed-certificates?limit=100')).body.data as any[]).filter(one => one.names.includes(name))

test('a gap is closed by one call, and its timeline tells how', async () => {
  const { id, path, endpointId, gap } = await openGap('shop.example.com')
  expect(gap).toMatchObject({ kind: 'untrusted_served', issuable: true })
  const started = await call('POST', `${path}/issue`, { acme_account_id: account.id, include: ['WWW.shop.example.com.'] })
  expect(started.status).toBe(202)
  const [managed] = await managedFor('shop.example.com')
  expect(started.body).toMatchObject({
    ...{ type: 'certificate.issue', status: 'pending' },
    resources: [
      { type: 'managed_certificate', id: managed.id },
      { type: 'certificate_gap', id },
    ],
  })
  expect(managed).toMatchObject({ names: ['shop.example.com', 'www.shop.example.com'], action_id: started.body.id })
  expect(await here.audited()).toEqual(['certificates.gap.issue', 'certificates.managed_certificate.create'])
  expect(await call('POST', `${path}/issue`, { acme_account_id: account.id })).toMatchObject({
    ...{ status: 409, body: { code: 'resource_locked' } },
  })
  await finish(managed.id)
  expect((await call('GET', `/v1/actions?resource_id=${id}`)).body.data).toMatchObject([
    { id: started.body.id, status: 'success' },
  ])

  const { chain, private_key } = (await download(managed.id)).body
  await serve({ pem: chain, key: private_key })
  await scan(endpointId)
  expect((await call('GET', path)).body.status).toBe('resolved')
  const timeline = (await call('GET', `${path}/timeline`)).body.data as any[]
  const token = { type: 'token', id: expect.any(String), name: expect.any(String) }
  expect(timeline).toEqual([
    {
      ...{ at: expect.any(String), kind: 'opened', actor: null, action_id: null },
      text: `shop.example.com:${port} serves a self-signed certificate.`,
    },
    { at: expect.any(String), kind: 'issue_started', text: '', actor: token, action_id: started.body.id },
    {
      ...{ at: expect.any(String), kind: 'issued', actor: null, action_id: started.body.id },
      text: expect.stringMatching(/^The certificate is valid until \d{4}-\d\d-\d\d\.$/),
    },
    { at: expect.any(String), kind: 'resolved', text: 'It no longer exists.', actor: null, action_id: null },
  ])
  expect(timeline.map(one => one.at)).toEqual(timeline.map(one => one.at).toSorted())
  const again = await call('POST', `${path}/issue`, { acme_account_id: account.id })
  expect([again.status, again.body.code]).toEqual([409, 'conflict'])
})

test('the managed certificate with exactly these names is used again, not within a day', async () => {
  const { path } = await openGap('again.example.com')
  const issue = () => call('POST', `${path}/issue`, { acme_account_id: account.id })
  expect((await issue()).status).toBe(202)
  const [{ id, certificate_id: none }] = await managedFor('again.example.com')
  expect(none).toBeNull()
  await finish(id)
  const [{ certificate_id: first }] = await managedFor('again.example.com')
  expect(await issue()).toMatchObject({ status: 409, body: { code: 'issued_recently' } })
  await here.advance(dayMs)
  await here.audited()
  expect((await issue()).status).toBe(202)
  expect(await here.audited()).toEqual(['certificates.gap.issue', 'certificates.managed_certificate.renew'])
  await finish(id)
  const [{ certificate_id: second }, ...others] = await managedFor('again.example.com')
  expect([first === second, others]).toEqual([false, []])
})

test('requests that can’t be fulfilled are refused, and start nothing', async () => {
  const { path } = await openGap('refused.example.com')
  const issue = async (body: object) => await call('POST', `${path}/issue`, body)
  const codeOf = async (body: object) => {
    const response = await issue(body)
    return [response.status, response.body.code]
  }
  const acme_account_id = account.id
  expect(pointers(await issue({}))).toEqual([422, ['#/acme_account_id']])
  expect(pointers(await issue({ acme_account_id: 'acme_0' }))).toEqual([422, ['#/acme_account_id']])
  const include = ['ok.example.com', 'a..example.com', 'refused.example.com', '192.0.2.1']
  expect(pointers(await issue({ acme_account_id, include }))).toEqual([422, ['#/include/1', '#/include/2', '#/include/3']])
  const many = Array.from({ length: 100 }, (_, at) => `n${at}.example.com`)
  expect(pointers(await issue({ acme_account_id, include: many }))).toEqual([422, ['#/include']])
  expect(await codeOf({ acme_account_id, include: ['www.example.org'] })).toEqual([409, 'no_managed_zone'])
  for (const client of [here.rival, here.readOnly]) {
    const { status } = await client.call('POST', `${path}/issue`, { acme_account_id })
    expect(status).toBe(client === here.rival ? 404 : 403)
  }
  expect((await here.rival.call('GET', `${path}/timeline`)).status).toBe(404)
  await setRecords('example.com', 'refused', 'CAA', ['0 issue "other.example"'])
  await here.settle()
  expect(await codeOf({ acme_account_id })).toEqual([409, 'caa_forbids'])
  const [caa] = (await call('GET', '/v1/certificate-gaps?kind=caa_missing')).body.data
  expect(caa.issuable).toBe(false)
  const other = await call('POST', `/v1/certificate-gaps/${caa.id}/issue`, { acme_account_id })
  expect([other.status, other.body.detail]).toEqual([
    409,
    expect.stringContaining('A new certificate doesn’t close a gap of the kind `caa_missing`. '),
  ])
  expect(await managedFor('refused.example.com')).toEqual([])
  expect((await call('GET', `${path}/timeline`)).body.data).toHaveLength(1)
})

test('a certificate that could not be issued is an entry of the timeline', async () => {
  const { path } = await openGap('failing.example.com')
  await call('POST', `${path}/issue`, { acme_account_id: account.id })
  await setRecords('example.com', 'failing', 'CAA', ['0 issue "other.example"'])
  const [{ id }] = await managedFor('failing.example.com')
  const { error } = await finish(id)
  const timeline = (await call('GET', `${path}/timeline`)).body.data
  expect(timeline.map((one: any) => one.kind)).toEqual(['opened', 'issue_started', 'issue_failed'])
  expect(timeline[2].text).toBe(error.detail)
})
