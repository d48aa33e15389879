import { createPrivateKey, X509Certificate } from 'node:crypto'
import acme from 'acme-client'
import { beforeEach, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record, systemActor } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { changerOf, lockManaged } from '../../src/features/acme/managed-certificates/finish'
import { renewDue } from '../../src/features/acme/managed-certificates/renew-due'
import { startRevoking } from '../../src/features/acme/managed-certificates/start'
import { acmeChallenges } from '../../src/features/acme/managed-certificates/tables'
import { pruneActions } from '../../src/features/actions/retention'
import { publishChallenges } from '../../src/features/dns/challenges/challenges'
import { acmeScene, noResolvers, txtOf } from '../support/acme-scene'
import { pointers } from '../support/pointers'
import { world } from '../support/world'

const dayMs = 86_400_000
const hourMs = 3_600_000

// Most tests share a hub, with names of their own: creating one takes longer than what they do.
const here = await world(noResolvers)
const zones = ['example.com', 'example.net', 'acme.example.net']
const { ca, account, create, get, finish, issue, download, setRecords, zoneIds } = await acmeScene(here, zones)
const { call } = here.acme

beforeEach(async () => {
  ca.trouble = {}
  ca.processing = 0
  ca.renewalWindow = null
  here.clock.advance(61_000)
  await here.audited()
  await here.emitted()
})

const issuedFor = (name: string) => ca.issued.filter(one => one.names.includes(name))
const ordersFor = (name: string) => [...ca.orders.values()].filter(one => one.names.includes(name))
const noticesOf = async (id: string) =>
  ((await call('GET', '/v1/notices?limit=100')).body.data as any[]).filter(one => one.resource.id === id)

test('a certificate for an apex, a wildcard, and a deep name is issued, downloaded once, and leaves no records', async () => {
  const names = ['example.com', '*.example.com', 'a.b.c.d.e.example.com']
  const created = await create(names)
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({ names, status: 'issuing', key: { mode: 'hub', type: 'ec-256', retention: 'once' } })
  const { id } = created.body
  const action = await finish(id)
  expect(action).toMatchObject({ type: 'certificate.issue', status: 'success', progress: 100 })
  expect(action.steps.map((one: any) => [one.name, one.status])).toEqual(
    ['check', 'order', 'publish', 'wait', 'validate', 'finalize', 'store'].map(name => [name, 'success']),
  )
  const view = await get(id)
  expect(view).toMatchObject({ status: 'valid', key_available: true, attempts: 0, last_error: null })
  expect(issuedFor('example.com')).toHaveLength(1)
  for (const name of names) expect(await txtOf(here, `_acme-challenge.${name.replace('*.', '')}`)).toEqual([])
  expect(await here.audited()).toEqual([
    'certificates.managed_certificate.create',
    'dns.challenge.publish',
    'dns.challenge.remove',
    'certificates.managed_certificate.issue',
  ])
  expect(await here.emitted()).toEqual(['dns.records_changed', 'dns.records_changed', 'certificate.issued'])

  const downloaded = await download(id)
  expect(downloaded.status).toBe(200)
  const certificate = new X509Certificate(downloaded.body.certificate)
  expect(certificate.checkPrivateKey(createPrivateKey(downloaded.body.private_key))).toBe(true)
  expect(certificate.subjectAltName).toContain('*.example.com')
  expect(downloaded.body.chain.match(/BEGIN/g)).toHaveLength(2)
  expect(await get(id)).toMatchObject({ key_available: false })
  expect((await download(id)).body).toMatchObject({ status: 410, code: 'key_gone' })
})

test('a replay of a download has no key, and a kept key can be downloaded again', async () => {
  const kept = await issue(['keep.example.com'], { key: { retention: 'keep', type: 'rsa-2048' } })
  const path = (id: string) => `/v1/managed-certificates/${id}/download`
  const key = { 'Idempotency-Key': 'once' }
  const first = await call('POST', path(kept.id), undefined, key)
  expect(first.body.private_key).toContain('PRIVATE KEY')
  const replayed = await call('POST', path(kept.id), undefined, key)
  expect(replayed.body).toMatchObject({ private_key: null, secret_shown_before: true })
  const again = await call('POST', path(kept.id))
  expect(again.body.private_key).toBe(first.body.private_key)
  expect((await here.readOnly.call('POST', path(kept.id))).status).toBe(403)
  expect((await here.rival.call('POST', path(kept.id))).status).toBe(404)
  const stored = JSON.stringify((await call('GET', '/v1/audit-events?limit=100')).body)
  expect(stored).not.toContain('PRIVATE')
})

test('of two downloads at the same moment one gets the key', async () => {
  const { id } = await issue(['twice.example.com'])
  const both = await Promise.all([download(id), download(id)])
  expect(both.map(one => one.status).toSorted()).toEqual([200, 410])
})

test('names outside every zone, wrong names, and unusable zones are refused', async () => {
  const wrong = [
    '*.*.example.com',
    'a.*.example.com',
    '192.0.2.1',
    'com',
    'a_b.example.com',
    '-a.example.com',
    'x'.repeat(64) + '.example.com',
    '',
  ]
  const refused = await create(['ok.example.com', ...wrong])
  expect(pointers(refused)).toEqual([422, ['#/names/8']])
  expect(pointers(await create(['ok.example.com', ...wrong.slice(0, -1)]))).toEqual([
    422,
    wrong.slice(0, -1).map((_, at) => `#/names/${at + 1}`),
  ])
  expect(pointers(await create(['a.example.com', 'A.Example.com.']))).toEqual([422, ['#/names/1']])
  expect(pointers(await create(Array.from({ length: 101 }, (_, at) => `n${at}.example.com`)))).toEqual([422, ['#/names']])
  expect((await create(['example.com', 'www.example.org'])).body).toMatchObject({ status: 409, code: 'no_managed_zone' })
  expect(pointers(await create(['example.com'], { acme_account_id: 'acme_x' }))).toEqual([422, ['#/acme_account_id']])
  expect(pointers(await create(['example.com'], { key: { mode: 'csr' } }))).toEqual([422, ['#/csr']])

  for (let at = 0; at <= 9; at++)
    await setRecords('example.com', at === 0 ? '_acme-challenge.loop' : `l${at}`, 'CNAME', [`l${at + 1}`])
  expect((await create(['loop.example.com'])).body).toMatchObject({ code: 'no_managed_zone' })
  await setRecords('example.com', '_acme-challenge.out', 'CNAME', ['x.example.org.'])
  expect((await create(['out.example.com'])).body).toMatchObject({
    code: 'no_managed_zone',
    detail: expect.stringContaining('x.example.org'),
  })

  const net = `/v1/dns/zones/${zoneIds['example.net']}`
  await call('PATCH', net, { status: 'paused' })
  expect((await create(['www.example.net'])).body).toMatchObject({ code: 'zone_not_writable' })
  await call('PATCH', net, { status: 'active', apply: 'manual' })
  expect((await create(['www.example.net'])).body).toMatchObject({ code: 'zone_not_writable' })
  await call('PATCH', net, { apply: 'auto' })
  expect(ordersFor('www.example.net')).toEqual([])
  await here.limit(here.acme.workspaceId, { managed_certificates: 0 })
  expect((await create(['example.com'])).body).toMatchObject({ code: 'plan_limit_reached' })
  await here.limit(here.acme.workspaceId, { managed_certificates: null })
})

test('CAA records decide which authority may issue, for the closest name and for wildcards', async () => {
  const codeFor = async (...names: string[]) => {
    const { status, body } = await create(names)
    here.clock.advance(61_000)
    return status === 201 ? null : body.code
  }
  await setRecords('example.com', '@', 'CAA', ['0 issue "other.example"'])
  expect(await codeFor('a.example.com')).toBe('caa_forbids')
  await setRecords('example.com', 'open', 'CAA', ['0 issue "ca.example"', '0 issuewild ";"'])
  expect(await codeFor('x.open.example.com')).toBe(null)
  expect(await codeFor('*.open.example.com')).toBe('caa_forbids')
  await setRecords('example.com', 'mail', 'CAA', ['0 iodef "mailto:ops@example.com"'])
  expect(await codeFor('mail.example.com')).toBe(null)
  await setRecords('example.com', 'critical', 'CAA', ['128 tbs "x"', '0 issue "ca.example"'])
  expect(await codeFor('critical.example.com')).toBe('caa_forbids')
  await setRecords('example.com', 'bound', 'CAA', ['0 issue "ca.example; accounturi=https://ca.example/account/9"'])
  expect(await codeFor('bound.example.com')).toBe('caa_forbids')
  await setRecords('example.com', 'method', 'CAA', ['0 issue "ca.example; validationmethods=http-01"'])
  expect(await codeFor('method.example.com')).toBe('caa_forbids')
  await setRecords('example.com', 'alias', 'CNAME', ['open.example.com.'])
  expect(await codeFor('alias.example.com')).toBe(null)
  ca.caaIdentities = []
  expect(await codeFor('b.example.com')).toBe(null)
  ca.caaIdentities = ['ca.example']
  // RFC 8659 section 3: CAA records at the target of an alias decide, and those outside the zones are not known.
  await setRecords('example.com', 'outside', 'CNAME', ['www.example.org.'])
  expect(await codeFor('outside.example.com')).toBe(null)
  expect(await codeFor('inside.example.com')).toBe('caa_forbids')
  await setRecords('example.com', '@', 'CAA', [])
})

test('a certificate request keeps the key elsewhere, and is checked before anything is ordered', async () => {
  const csrOf = async (altNames: string[], key?: Buffer) => (await acme.crypto.createCsr({ altNames }, key))[1].toString()
  const names = ['csr.example.com', 'www.csr.example.com']
  const own = await acme.crypto.createPrivateEcdsaKey('P-256')
  const csr = await csrOf(names, own)
  const mode = { key: { mode: 'csr' } }
  const weak = await csrOf(names, await acme.crypto.createPrivateRsaKey(1024))
  const der = Buffer.from(csr.replaceAll(/-----[^-]+-----/g, ''), 'base64')
  der[der.length - 1]! ^= 1
  const forged = `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
  const p521 = await csrOf(names, await acme.crypto.createPrivateEcdsaKey('P-521'))
  for (const bad of [weak, forged, p521, await csrOf(['csr.example.com'], own), 'x', csr + csr])
    expect(pointers(await create(names, { ...mode, csr: bad }))).toEqual([422, ['#/csr']])
  expect(pointers(await create(names, { csr }))).toEqual([422, ['#/csr']])
  // Also without its last line.
  const cut = own.toString().split('-----END')[0]!
  for (const bad of [own.toString(), csr + own, csr + cut, cut.toLowerCase()])
    expect((await create(names, { ...mode, csr: bad })).body).toMatchObject({ status: 422, code: 'private_key_refused' })
  expect(pointers(await create(names, { key: { mode: 'csr', type: 'ec-256' }, csr }))).toEqual([422, ['#/key/type']])

  const issued = await issue(names, { ...mode, csr: `before\n${csr}\nafter` })
  expect(issued.csr.replaceAll('\r', '').trim()).toBe(csr.replaceAll('\r', '').trim())
  const path = `/v1/managed-certificates/${issued.id}`
  expect((await call('PATCH', path, { csr: csr + cut })).body).toMatchObject({ code: 'private_key_refused' })
  expect((await call('PATCH', path, { csr: `${csr}\nafter` })).body.csr).toBe(issued.csr)
  expect(issued).toMatchObject({ status: 'valid', key: { mode: 'csr', type: 'ec-256', retention: null }, key_available: false })
  const { body } = await download(issued.id)
  expect(body.private_key).toBeNull()
  expect(new X509Certificate(body.certificate).checkPrivateKey(createPrivateKey(own.toString()))).toBe(true)
  expect((await download(issued.id)).status).toBe(200)
})

test('other values of the record set stay, also while two certificates are issued at the same time', async () => {
  await setRecords('example.com', '_acme-challenge', 'TXT', ['"kept"'])
  await setRecords('example.com', '_acme-challenge.www', 'CNAME', ['www-of-com.acme.example.net.'])
  const created = [await create(['example.com', '*.example.com']), await create(['example.com', 'www.example.com'])]
  let most = 0
  for (let step = 0; step < 20; step++) {
    most = Math.max(most, (await txtOf(here, '_acme-challenge.example.com')).length)
    await here.advance(1000)
  }
  for (const { body } of created) {
    await finish(body.id)
    expect(await get(body.id)).toMatchObject({ status: 'valid' })
  }
  expect(most).toBeGreaterThan(1)
  expect(await txtOf(here, '_acme-challenge.example.com')).toEqual(['kept'])
  expect(await txtOf(here, '_acme-challenge.www.example.com')).toEqual([])
})

const records = (name: string) => call('GET', `/v1/dns/zones/${zoneIds['example.com']}/records?name=_acme-challenge.${name}`)
const putRrset = (rrset: object) => call('PUT', `/v1/dns/zones/${zoneIds['example.com']}/rrsets`, { rrsets: [rrset] })
/** Waits until an order has published a record, and returns it. */
const published = async (name: string) => {
  for (let step = 0; step < 20; step++) {
    const { data } = (await records(name)).body
    if (data.length > 0) return data[0]
    await here.advance(1000)
  }
  throw new Error('No record was published.')
}

test('a value that was added during an order stays, and its record set may be locked meanwhile', async () => {
  const { id } = (await create(['added.example.com'])).body
  const { content, expires_at } = await published('added')
  expect(Date.parse(expires_at) - here.clock.now()).toBeLessThanOrEqual(hourMs)
  const rrset = { name: '_acme-challenge.added', type: 'TXT', records: [{ content }, { content: '"mine"' }], locked: true }
  expect((await putRrset(rrset)).status).toBe(200)
  expect(await finish(id)).toMatchObject({ status: 'success' })
  expect((await records('added')).body.data).toMatchObject([{ content: '"mine"', locked: true, expires_at: null }])
})

test('locked records that an action left behind are removed, and don’t delay other certificates', async () => {
  const { id, action_id } = (await create(['left.example.com'])).body
  const { content } = await published('left')
  const rrset = { name: '_acme-challenge.left', type: 'TXT', records: [{ content }], locked: true }
  expect((await putRrset(rrset)).status).toBe(200)
  await record(here.hub, async tx => {
    await tx.update(jobs).set({ state: 'failed' }).where(eq(jobs.lane, action_id))
    return { result: undefined }
  })
  await pruneActions(here.hub)
  await call('PATCH', `/v1/managed-certificates/${id}`, { renew: 'manual' })
  here.clock.advance(hourMs + 60_000)
  await renewDue(here.hub)
  expect(await txtOf(here, '_acme-challenge.left.example.com')).toEqual([])
  expect(await get(id)).toMatchObject({ status: 'failing', last_error: { code: 'interrupted' } })
})

test('records that can’t be published end the order', async () => {
  const rrset = { name: '_acme-challenge.shut', type: 'TXT', records: [{ content: '"mine"' }], locked: true }
  await putRrset(rrset)
  const { id } = (await create(['shut.example.com'])).body
  expect(await finish(id)).toMatchObject({ status: 'error', error: { code: 'validation_failed' } })
  expect(await get(id)).toMatchObject({ status: 'failing', last_error: { detail: expect.stringContaining('locked') } })
  expect((await noticesOf(id)).map(one => one.kind)).toEqual(['certificate.issue_failed'])
  expect((await call('DELETE', `/v1/managed-certificates/${id}`)).status).toBe(204)
})

test('all values of a certificate are removed, but none that another one needs', async () => {
  const { id } = (await create(['shared.example.com'])).body
  await published('shared')
  const { workspaceId } = here.acme
  await record(here.hub, async tx => {
    const [own] = await tx.select().from(acmeChallenges).where(eq(acmeChallenges.managedCertificateId, id))
    const forgotten = { ...own!, id: 'chal_forgotten', value: 'forgotten' }
    await tx.insert(acmeChallenges).values([{ ...own!, id: 'chal_other', managedCertificateId: 'mcert_other' }, forgotten])
    const by = changerOf(here.hub, workspaceId, systemActor('test'))
    return { ...(await publishChallenges(tx, by, [forgotten])), result: undefined }
  })
  const [first] = (await txtOf(here, '_acme-challenge.shared.example.com')).filter(one => one !== 'forgotten')
  await finish(id)
  expect(await txtOf(here, '_acme-challenge.shared.example.com')).toEqual([first!])
  here.clock.advance(hourMs)
  await renewDue(here.hub)
  expect(await txtOf(here, '_acme-challenge.shared.example.com')).toEqual([])
})

test('100 names, a bad nonce in ten, and an authority that takes its time', async () => {
  ca.trouble = { badNonceEvery: 10 }
  ca.processing = 2
  const names = Array.from({ length: 100 }, (_, at) => `n${at}.example.com`)
  const issued = await issue(names)
  expect(issued).toMatchObject({ status: 'valid', names })
  expect(issuedFor('n7.example.com')).toHaveLength(1)
  expect(ordersFor('n7.example.com')).toHaveLength(1)
})

const quirks: [what: string, trouble: object, code: string, orders: number][] = [
  ['repeats bad nonces', { badNonceEvery: 1 }, 'provider_failed', 0],
  ['redirects', { redirects: '/order' }, 'provider_failed', 0],
  ['answers HTML', { html: '/order' }, 'provider_failed', 0],
  ['forgets an order', { forgetsOrders: true }, 'provider_failed', 1],
  ['gives a certificate for other names', { otherNames: true }, 'provider_failed', 1],
  ['gives a certificate for another key', { otherKey: true }, 'provider_failed', 1],
]

test.each(quirks)('an authority that %s', async (_, trouble, code, orders) => {
  ca.trouble = trouble
  const name = `quirk-${quirks.findIndex(one => one[1] === trouble)}.example.com`
  const { id } = (await create([name])).body
  const action = await finish(id)
  expect(action).toMatchObject({ status: 'error', error: { code } })
  const failing = await get(id)
  expect(failing).toMatchObject({ status: 'failing', attempts: 1, last_error: { code }, key_available: false })
  expect(ordersFor(name)).toHaveLength(orders)
  expect(await txtOf(here, `_acme-challenge.${name}`)).toEqual([])
  expect((await download(id)).status).toBe(409)
  expect((await noticesOf(id)).map(one => one.kind)).toEqual(['certificate.issue_failed'])

  // Later, everything is fine.
  ca.trouble = {}
  await here.advance(Date.parse(failing.next_renewal_at) - here.clock.now())
  await renewDue(here.hub)
  await finish(id)
  expect(await get(id)).toMatchObject({ status: 'valid', attempts: 0 })
})

test('an order whose response was lost is continued by the next attempt, among many other orders', async () => {
  ca.trouble = { cuts: '/order' }
  const { id } = (await create(['lost.example.com'])).body
  expect(await finish(id)).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
  const [lost, ...more] = ordersFor('lost.example.com')
  expect(more).toEqual([])
  ca.trouble = {}
  const others = Array.from({ length: 90 }, (_, at) => `other-${at}`)
  for (const [at, other] of others.entries()) {
    ca.orders.set(other, { ...lost!, id: other, names: ['other.example.com'] })
    if (at !== 60) continue
    ca.orders.delete(lost!.id)
    ca.orders.set(lost!.id, lost!)
  }
  await here.advance(Date.parse((await get(id)).next_renewal_at) - here.clock.now())
  await renewDue(here.hub)
  await finish(id)
  expect(await get(id)).toMatchObject({ status: 'valid' })
  expect(ordersFor('lost.example.com')).toEqual([expect.objectContaining({ id: lost!.id, status: 'valid' })])
  for (const other of others) ca.orders.delete(other)
})

const late = [
  ['html', '/certificate', 1],
  ['html', '/finalize', 1],
  ['502', '/certificate', 30],
  ['serverInternal', '/finalize', 30],
  ['502', '/directory', 30],
] as const

test.each(late)(
  'an issued certificate is not lost when the authority responds with %s at %s %i times',
  async (as, path, times) => {
    const name = `late-${late.findIndex(one => one[0] === as && one[1] === path)}.example.com`
    const { id } = (await create([name])).body
    ca.watch = at => {
      if (at.startsWith('/finalize')) ca.trouble = ca.trouble.failing ? ca.trouble : { failing: { as, path, times } }
    }
    const { status, error } = await finishLate(id)
    ca.watch = () => {}
    expect([status, error]).toEqual(['success', null])
    expect(ca.trouble).toMatchObject({ failing: { times: 0 } })
    expect([issuedFor(name).length, ordersFor(name).length]).toEqual([1, 1])
    const { body } = await download(id)
    expect(new X509Certificate(body.certificate).checkPrivateKey(createPrivateKey(body.private_key))).toBe(true)
  },
)

/** Like `finish`, for retries that are minutes apart. */
async function finishLate(id: string) {
  for (let step = 0; step < 200; step++) {
    const { status, action_id } = await get(id)
    if (status !== 'issuing') return (await call('GET', `/v1/actions/${action_id}`)).body
    await here.advance(60_000)
  }
  throw new Error('The action did not finish.')
}

test.each(['502', 'html'] as const)('no second order is created while the list of orders is answered with %s', async as => {
  const name = `listed-${as}.example.com`
  ca.watch = path => {
    if (path === '/order') ca.trouble = { cuts: '/order', failing: { as, path: '/orders/', times: 3 } }
    if (path.startsWith('/orders/')) delete ca.trouble.cuts
  }
  const { id } = (await create([name])).body
  const { status } = await finish(id)
  ca.watch = () => {}
  // After a response that can’t be read, the attempt fails.
  expect(status).toBe(as === '502' ? 'success' : 'error')
  expect(ordersFor(name)).toHaveLength(1)
})

test('without the certificate for six hours, the attempt fails', async () => {
  const { id } = (await create(['late-never.example.com'])).body
  ca.watch = path => {
    if (path.startsWith('/finalize')) ca.trouble = { failing: { as: '502', path: '/certificate', times: Infinity } }
  }
  const started = here.clock.now()
  for (let step = 0; step < 100 && (await get(id)).status === 'issuing'; step++) await here.advance(300_000)
  ca.watch = () => {}
  expect(await get(id)).toMatchObject({ status: 'failing', last_error: { code: 'provider_failed' } })
  expect(here.clock.now() - started).toBeGreaterThan(5.5 * hourMs)
  expect(ordersFor('late-never.example.com')).toHaveLength(1)
})

test('failures wait longer each time, and rate limits as long as the authority says', async () => {
  ca.trouble = { forgetsOrders: true }
  const { id } = (await create(['delayed.example.com'])).body
  await finish(id)
  const delays: number[] = []
  for (let attempt = 1; attempt <= 6; attempt++) {
    const { next_renewal_at, updated_at } = await get(id)
    delays.push((Date.parse(next_renewal_at) - Date.parse(updated_at)) / 60_000)
    await here.advance(Date.parse(next_renewal_at) - here.clock.now())
    await renewDue(here.hub)
    await finish(id)
  }
  expect(delays).toEqual([1, 10, 60, 360, 1440, 1440])
  ca.trouble = { rateLimited: 1 }
  const other = (await create(['limited.example.com'])).body
  expect(await finish(other.id)).toMatchObject({ error: { code: 'provider_failed', failure: 'throttled' } })
  const limited = await get(other.id)
  expect(Date.parse(limited.next_renewal_at) - Date.parse(limited.updated_at)).toBe(7_200_000)
  expect((await noticesOf(id)).map(one => one.count)).toEqual([7])
})

test('a certificate is renewed after two thirds of its life, with a new key, unless it is paused', async () => {
  const first = await issue(['renewed.example.com'])
  const due = Date.parse(first.next_renewal_at)
  const start = Date.parse(first.not_before)
  expect(due).toBeGreaterThan(start + 55 * dayMs)
  expect(due).toBeLessThanOrEqual(start + 60 * dayMs)
  const before = (await download(first.id)).body
  const path = `/v1/managed-certificates/${first.id}`
  for (const verb of ['pause', 'resume', 'revoke', 'download'])
    expect((await call('POST', `${path}/${verb}`, undefined, { 'If-Match': '"999"' })).body).toMatchObject({ status: 412 })
  await call('POST', `${path}/pause`)
  await here.advance(due - here.clock.now())
  await renewDue(here.hub)
  expect(await get(first.id)).toMatchObject({ status: 'valid', paused: true, action_id: first.action_id })
  await call('POST', `${path}/resume`)
  await renewDue(here.hub)
  await finish(first.id)
  const renewed = await get(first.id)
  expect(renewed).toMatchObject({ status: 'valid', key_available: true, key: { retention: 'once' } })
  expect(Date.parse(renewed.not_after)).toBeGreaterThan(Date.parse(first.not_after))
  const after = (await download(first.id)).body
  expect(after.private_key).not.toBe(before.private_key)
  expect(issuedFor('renewed.example.com')).toHaveLength(2)
  expect(await here.emitted()).toContain('certificate.issued')
})

test('the window that the authority suggests decides, and the order names what it replaces', async () => {
  ca.renewalWindow = { start: 2 * dayMs, end: 3 * dayMs }
  const { id } = await issue(['window.example.com'])
  await renewDue(here.hub)
  await here.settle()
  const at = here.clock.now()
  const waiting = await get(id)
  expect(Date.parse(waiting.ari.start)).toBe(at + 2 * dayMs)
  const due = Date.parse(waiting.next_renewal_at)
  expect(due).toBeGreaterThanOrEqual(at + 2 * dayMs)
  expect(due).toBeLessThanOrEqual(at + 3 * dayMs)
  // An incident: renew now.
  ca.renewalWindow = { start: -dayMs, end: -hourMs }
  await here.advance(6 * hourMs)
  await renewDue(here.hub)
  await here.settle()
  await renewDue(here.hub)
  await finish(id)
  expect(issuedFor('window.example.com')).toHaveLength(2)
  expect(ordersFor('window.example.com').map(one => one.replaces)).toEqual([null, expect.stringMatching(/^[\w-]+\.[\w-]+$/)])
})

test('a window that is always past, or after the end, neither repeats the renewal nor prevents it', async () => {
  const inventoryDue = async (id: string) => {
    const { certificate_id } = await get(id)
    return (await call('GET', `/v1/certificates/${certificate_id}`)).body.renewal_due_at
  }
  ca.renewalWindow = { start: -dayMs, end: -hourMs }
  const { id } = await issue(['past.example.com'])
  const renew = async (ms: number) => {
    await here.advance(ms)
    await renewDue(here.hub)
    await here.settle()
    await renewDue(here.hub)
    await finish(id)
  }
  for (let minute = 0; minute < 20; minute++) await renew(60_000)
  expect(issuedFor('past.example.com')).toHaveLength(1)
  const { issued_at, next_renewal_at } = await get(id)
  expect(Date.parse(next_renewal_at) - Date.parse(issued_at)).toBe(hourMs)
  expect(await inventoryDue(id)).toBe(next_renewal_at)
  await renew(hourMs)
  expect(issuedFor('past.example.com')).toHaveLength(2)

  ca.renewalWindow = { start: 200 * dayMs, end: 201 * dayMs }
  const late = await issue(['late.example.com'])
  expect(await inventoryDue(late.id)).toBe(late.next_renewal_at)
  await renewDue(here.hub)
  await here.settle()
  const waiting = await get(late.id)
  expect(Date.parse(waiting.not_after) - Date.parse(waiting.next_renewal_at)).toBe(9 * dayMs)
  expect(await inventoryDue(late.id)).toBe(waiting.next_renewal_at)
})

test('a change between automatic and manual renewal changes when it is renewed', async () => {
  const { id, next_renewal_at: first } = await issue(['switched.example.com'])
  const change = async (of: string, renew: string) => (await call('PATCH', `/v1/managed-certificates/${of}`, { renew })).body
  expect(await change(id, 'manual')).toMatchObject({ renew: 'manual', next_renewal_at: null })
  await here.advance(Date.parse(first) - here.clock.now())
  await renewDue(here.hub)
  expect(await get(id)).toMatchObject({ status: 'valid' })
  const { next_renewal_at: second } = await change(id, 'auto')
  expect(Date.parse(second)).toBeGreaterThan(here.clock.now() - 1)
  expect((await change(id, 'auto')).next_renewal_at).toBe(second)
  await here.advance(5 * dayMs)
  await renewDue(here.hub)
  await finish(id)
  expect(issuedFor('switched.example.com')).toHaveLength(2)
  // While it is issued, the result decides.
  const { id: failing } = (await create(['switched-early.example.com'], { renew: 'manual' })).body
  expect(await change(failing, 'auto')).toMatchObject({ status: 'issuing', next_renewal_at: null })
  await change(failing, 'manual')
  ca.trouble = { forgetsOrders: true }
  await finish(failing)
  expect(await get(failing)).toMatchObject({ status: 'failing', next_renewal_at: null })
  ca.trouble = {}
  expect(await change(failing, 'auto')).toMatchObject({ next_renewal_at: new Date(here.clock.now()).toISOString() })
  await renewDue(here.hub)
  await finish(failing)
  expect(await get(failing)).toMatchObject({ status: 'valid' })
})

test('a manual renewal within a day needs force', async () => {
  const { id } = await issue(['forced.example.com'])
  const renew = (body: object = {}) => call('POST', `/v1/managed-certificates/${id}/renew`, body)
  expect((await renew()).body).toMatchObject({ status: 409, code: 'issued_recently' })
  const forced = await renew({ force: true })
  expect([forced.status, forced.body.type]).toEqual([202, 'certificate.issue'])
  expect((await renew({ force: true })).body).toMatchObject({ code: 'resource_locked' })
  await finish(id)
  expect(issuedFor('forced.example.com')).toHaveLength(2)
  await here.advance(dayMs)
  expect((await renew()).status).toBe(202)
  await finish(id)
  expect(await get(id)).toMatchObject({ status: 'valid' })
})

test('a certificate is revoked by its account, and no longer renewed', async () => {
  const { id, certificate_id } = await issue(['revoked.example.com'])
  const revoke = (of: string, reason?: string) => call('POST', `/v1/managed-certificates/${of}/revoke`, { reason })
  expect(pointers(await revoke(id, 'because'))).toEqual([422, ['#/reason']])
  expect((await revoke(id, 'key_compromise')).status).toBe(202)
  await finish(id)
  expect(ca.revoked).toMatchObject([{ reason: 1 }])
  expect(await get(id)).toMatchObject({ status: 'revoked', next_renewal_at: null, revoked_at: expect.any(String) })
  expect((await call('GET', `/v1/certificates/${certificate_id}`)).body).toMatchObject({
    ...{ status: 'revoked', revocation_reason: 'key_compromise', revoked_at: expect.any(String) },
  })
  expect((await revoke(id)).status).toBe(409)
  const automatic = (renew: string) => call('PATCH', `/v1/managed-certificates/${id}`, { renew })
  await automatic('manual')
  expect((await automatic('auto')).body).toMatchObject({ status: 'revoked', next_renewal_at: null })
  ca.trouble = { forgetsOrders: true }
  const { id: unissued } = (await create(['unissued.example.com'])).body
  await finish(unissued)
  expect((await revoke(unissued)).status).toBe(409)
})

test('no renewal starts while a certificate is being revoked', async () => {
  const { id, next_renewal_at } = await issue(['both.example.com'])
  here.clock.advance(Date.parse(next_renewal_at) - here.clock.now())
  // Its job doesn’t run yet.
  await record(here.hub, async tx => {
    const by = { hub: here.hub, workspaceId: here.acme.workspaceId, actor: systemActor('test') }
    await startRevoking(tx, by, (await lockManaged(tx, id))!, 0)
    return { result: undefined }
  })
  await renewDue(here.hub)
  const pending = (await call('GET', '/v1/actions?status=pending&limit=100')).body.data as any[]
  const own = pending.filter(one => one.resources.some((resource: any) => resource.id === id))
  expect(own.map(one => one.type)).toEqual(['certificate.revoke'])
})

test('another account is used from the next certificate on, and the first one as long as it is needed', async () => {
  const directory = { directory_url: ca.directoryUrl, ca_pem: ca.ca, terms_agreed: true }
  const second = (await call('POST', '/v1/acme-accounts', { name: 'Second', ...directory })).body
  const change = (id: string, acme_account_id: string) => call('PATCH', `/v1/managed-certificates/${id}`, { acme_account_id })
  const remove = () => call('DELETE', `/v1/acme-accounts/${second.id}`)
  // While it is being issued.
  const { id } = (await create(['accounts.example.com'])).body
  while (ordersFor('accounts.example.com').length === 0) await here.advance(1000)
  expect((await change(id, second.id)).body).toMatchObject({ acme_account_id: second.id, status: 'issuing' })
  await finish(id)
  expect(await get(id)).toMatchObject({ status: 'valid', acme_account_id: second.id })
  expect(ordersFor('accounts.example.com').map(one => one.account)).toEqual([account.account_url])

  const { length } = ca.revoked
  await call('POST', `/v1/managed-certificates/${id}/revoke`)
  expect(await finish(id)).toMatchObject({ status: 'success' })
  expect(ca.revoked).toHaveLength(length + 1)

  const renew = async () => {
    await call('POST', `/v1/managed-certificates/${id}/renew`, { force: true })
    expect(await finish(id)).toMatchObject({ status: 'success' })
  }
  await renew()
  await change(id, account.id)
  expect((await remove()).body).toMatchObject({ code: 'conflict' })
  await renew()
  expect(ordersFor('accounts.example.com').map(one => one.account)).toEqual(
    [account, second, account].map(one => one.account_url),
  )
  expect((await remove()).status).toBe(204)
})

test('an account in use is kept, and a deleted managed certificate leaves nothing behind', async () => {
  const { id } = await issue(['deleted.example.com'])
  const path = `/v1/managed-certificates/${id}`
  expect((await call('DELETE', `/v1/acme-accounts/${account.id}`)).body).toMatchObject({ code: 'conflict' })
  const patched = await call('PATCH', path, { renew: 'manual', notes: 'For the shop', tags: ['shop'] })
  expect(patched.body).toMatchObject({ renew: 'manual', notes: 'For the shop', tags: ['shop'] })
  expect(pointers(await call('PATCH', path, { csr: 'x' }))).toEqual([422, ['#/csr']])
  expect((await call('GET', '/v1/managed-certificates?q=deleted&status=valid')).body.data).toMatchObject([{ id }])
  expect((await here.rival.call('GET', path)).status).toBe(404)
  expect((await call('DELETE', path)).status).toBe(204)
  expect((await call('GET', path)).status).toBe(404)
})
