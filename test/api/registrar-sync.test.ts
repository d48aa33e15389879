import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { domainReadings } from '../../src/features/domains/tables'
import { finishSync } from '../../src/features/registrars/sync'
import { registrarAccounts } from '../../src/features/registrars/tables'
import { readDueRegistrations } from '../../src/features/registry/look'
import { EppDoor } from '../support/epp-door'
import { eppPassword, eppUser } from '../support/epp-under-test'
import { PorkbunDouble } from '../support/porkbun'
import { RegistryDouble } from '../support/registry-double'
import { world, type World } from '../support/world'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

let registry: RegistryDouble
let double: PorkbunDouble
beforeAll(async () => {
  registry = await RegistryDouble.start()
  double = await new PorkbunDouble(registry).start()
})
afterAll(() => {
  double.stop()
  registry.stop()
})
beforeEach(() => {
  registry.names.clear()
  for (const name of ['example.com', 'example.net']) registry.names.set(name, { expires: '2030-01-01T00:00:00Z' })
  double.settings.clear()
  double.listedLate.clear()
  double.withoutAccess.clear()
  double.fault = () => null
  double.isHalved = false
  double.balanceCents = 4120
})

const pace = { seconds: 0.001, burst: 1000, per_day: 1_000_000 }
const opened = () => world(registry.settings({ paces: { [registry.rdapServer]: pace, [registry.whoisServer]: pace } }))
const path = '/v1/registrar-accounts'
const connect = async (w: World, more: object = {}) => {
  const settings = { api_key: double.apiKey, secret_api_key: double.secretApiKey, base_url: double.url }
  const { body, text, status } = await w.acme.call('POST', path, { kind: 'porkbun', name: 'Porkbun', settings, ...more })
  if (status !== 201) throw new Error(text)
  await w.settle()
  return body.id as string
}
const accountOf = async (w: World, id: string) => (await w.acme.call('GET', `${path}/${id}`)).body
const domainsOf = async (w: World) => (await w.acme.call('GET', '/v1/domains?sort=name&limit=100')).body.data as any[]
const namesOf = async (w: World) => (await domainsOf(w)).map(one => one.name)
const domainOf = async (w: World, name: string) => (await domainsOf(w)).find(one => one.name === name)
const sync = async (w: World, id: string) => {
  const { body, status } = await w.acme.call('POST', `${path}/${id}/sync`)
  expect(status).toBe(202)
  await w.settle()
  return (await w.acme.call('GET', `/v1/actions/${body.id}`)).body
}
const notices = async (w: World) =>
  (await w.acme.call('GET', '/v1/notices')).body.data
    .map((one: any) => one.kind)
    .filter((kind: string) => kind.startsWith('registrar'))

test('a domain can be assigned to an account, which is then read', async () => {
  const w = await opened()
  double.hold('one.com', { expires: '2027-04-02T10:11:12Z' }, { autoRenew: true, locked: true })
  const [first, second] = [await connect(w, { manage_new: 'ignore' }), await connect(w, { name: 'Other', manage_new: 'ignore' })]
  const { body: one } = await w.acme.call('POST', '/v1/domains', { name: 'one.com', registrar_account_id: second })
  expect(one).toMatchObject({ management: 'registrar', registrar_account_id: second, expires_at: null })
  await w.settle()
  expect(await domainOf(w, 'one.com')).toMatchObject({ expires_at: '2027-04-02', expiry: { source: 'registrar' } })
  const patch = (body: object, caller = w.acme) => caller.call('PATCH', `/v1/domains/${one.id}`, body)
  const moved = (await patch({ registrar_account_id: first })).body
  expect(moved).toMatchObject({ registrar_account_id: first, management: 'registrar', auto_renew: null })
  await w.settle()
  expect(await domainOf(w, 'one.com')).toMatchObject({ registrar_account_id: first, expires_at: '2027-04-02', auto_renew: true })
  expect((await patch({ registrar_account_id: null })).body).toMatchObject({ management: 'manual', auto_renew: null })

  const rivals = (
    await w.rival.call('POST', path, {
      kind: 'porkbun',
      name: 'P',
      settings: { api_key: 'pk1_0123456789', secret_api_key: 'sk1_0123456789' },
    })
  ).body.id
  for (const id of [rivals, 'reg_01m8g2f5mcfqf8sx154ftm6wfw'])
    expect(await patch({ registrar_account_id: id })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '#/registrar_account_id', code: 'not_found' }] },
    })
})

test('an account with EPP reads the domains that name it', async () => {
  const w = await opened()
  const door = await EppDoor.start(registry, () => w.clock.now())
  try {
    registry.names.set('held.com', { expires: '2027-06-01T00:00:00Z', registrar: eppUser })
    const settings = {
      host: '127.0.0.1',
      port: door.port,
      user: eppUser,
      password: eppPassword,
      fingerprint: door.certificate.sha256,
    }
    const { body } = await w.acme.call('POST', path, { kind: 'epp', name: 'Registry', settings })
    await w.settle()
    expect(await accountOf(w, body.id)).toMatchObject({ state: 'ok', domain_count: 0 })
    await w.acme.call('POST', '/v1/domains', { name: 'held.com', registrar_account_id: body.id })
    await w.settle()
    expect(await domainOf(w, 'held.com')).toMatchObject({
      ...{ management: 'registrar', status: 'active', expires_at: '2027-06-01' },
      expiry: { source: 'registrar', confidence: 'certain' },
    })
    expect(await accountOf(w, body.id)).toMatchObject({ domain_count: 1, sync_error: null })
  } finally {
    door.stop()
  }
})

test('a domain that was assigned by mistake is not taken for transferred', async () => {
  const w = await opened()
  registry.names.set('other.com', { expires: '2030-01-01T00:00:00Z' })
  const id = await connect(w)
  await w.acme.call('POST', '/v1/domains', { name: 'other.com', registrar_account_id: id })
  for (let n = 0; n < 4; n++) {
    await w.advance(8 * hourMs)
    await readDueRegistrations(w.hub)
    await w.settle()
  }
  expect(await domainOf(w, 'other.com')).toMatchObject({ status: 'active', registrar_account_id: id, expires_at: '2030-01-01' })
})

describe('domains of an account', () => {
  test('are added with what the registrar says, right after the first check', async () => {
    const w = await opened()
    double.hold(
      'one.com',
      { registered: '2019-04-02T10:11:12Z', expires: '2027-04-02T10:11:12Z' },
      { autoRenew: true, locked: false },
    )
    double.hold('two.net')
    double.withoutAccess.add('two.net')
    const id = await connect(w)
    expect(await accountOf(w, id)).toMatchObject({ state: 'ok', domain_count: 2, sync_error: null })
    expect(await namesOf(w)).toEqual(['one.com', 'two.net'])
    expect(await domainOf(w, 'one.com')).toMatchObject({
      management: 'registrar',
      registrar_account_id: id,
      status: 'active',
      registered_at: '2019-04-02T10:11:12.000Z',
      expires_at: '2027-04-02',
      expiry: { source: 'registrar', confidence: 'certain' },
      auto_renew: true,
      locked: false,
    })
    expect((await domainOf(w, 'one.com')).capabilities).toContain('nameservers')
    expect((await domainOf(w, 'two.net')).capabilities).toEqual([])
    expect((await w.audited()).filter(one => one === 'domains.domain.create')).toHaveLength(2)
  })

  test('follow the registrar, about every six hours', async () => {
    const w = await opened()
    double.hold('one.com')
    const id = await connect(w)
    double.hold('one.com', { expires: '2028-04-02T10:11:12Z' })
    double.hold('new.com')
    await w.advance(5 * hourMs)
    expect(await namesOf(w)).toEqual(['one.com'])
    await w.advance(2 * hourMs)
    expect(await namesOf(w)).toEqual(['new.com', 'one.com'])
    expect(await domainOf(w, 'one.com')).toMatchObject({ expires_at: '2028-04-02' })
    expect((await accountOf(w, id)).domain_count).toBe(2)
  })

  test('are not added again after they were deleted here, and not at all with `ignore`', async () => {
    const w = await opened()
    for (const name of ['one.com', 'two.com', 'three.com']) double.hold(name)
    await w.acme.call('POST', '/v1/domains', { name: 'two.com' })
    const id = await connect(w, { manage_new: 'ignore' })
    expect((await domainsOf(w)).map(one => [one.name, one.management])).toEqual([['two.com', 'registrar']])
    await w.acme.call('PATCH', `${path}/${id}`, { manage_new: 'track' })
    await w.settle()
    expect(await namesOf(w)).toEqual(['one.com', 'three.com', 'two.com'])
    await w.acme.call('DELETE', `/v1/domains/${(await domainOf(w, 'one.com')).id}`)
    expect(await sync(w, id)).toMatchObject({ status: 'success', result: { domains: 3, added: 0, left_out: 0 } })
    expect(await namesOf(w)).toEqual(['three.com', 'two.com'])
  })

  test('are added as far as the plan allows', async () => {
    const w = await opened()
    await w.limit(w.acme.workspaceId, { domains: 2 })
    for (const name of ['a.com', 'b.com', 'c.com']) double.hold(name)
    const id = await connect(w)
    expect(await namesOf(w)).toEqual(['a.com', 'b.com'])
    expect(await notices(w)).toEqual(['registrar_account.domains_left_out'])
    await w.limit(w.acme.workspaceId, { domains: 3 })
    await sync(w, id)
    expect(await namesOf(w)).toEqual(['a.com', 'b.com', 'c.com'])
  })

  test('stay with the account that has them', async () => {
    const w = await opened()
    double.hold('one.com')
    const first = await connect(w)
    const second = await connect(w, { name: 'The same account' })
    expect((await domainOf(w, 'one.com')).registrar_account_id).toBe(first)
    await w.acme.call('DELETE', `${path}/${first}`)
    expect(await domainOf(w, 'one.com')).toMatchObject({ management: 'manual', registrar_account_id: null })
    await sync(w, second)
    expect((await domainOf(w, 'one.com')).registrar_account_id).toBe(second)
  })

  test('expire on their day, although the registrar still calls them active', async () => {
    const w = await opened()
    double.hold('one.de', { expires: '2026-11-22T12:00:00Z' })
    await connect(w)
    expect(await domainOf(w, 'one.de')).toMatchObject({ status: 'active' })
    await w.advance(2 * dayMs)
    expect(await domainOf(w, 'one.de')).toMatchObject({ status: 'expired', expires_at: '2026-11-22' })
  })
})

describe('a reading that failed', () => {
  test.each([
    ['throttled', () => 'throttled' as const],
    ['with a page for JSON', () => ({ raw: { status: 200, body: '<html>' } })],
    ['cut', () => 'cut' as const],
    ['with a 503', () => ({ raw: { status: 503, body: '' } })],
    ['without a response', () => 'dropped' as const],
    ['with an empty list without its format', () => ({ raw: { status: 200, body: '{"status":"SUCCESS"}' } })],
  ])('%s changes no domain', async (_, fault) => {
    const w = await opened()
    double.hold('one.com')
    const id = await connect(w)
    const before = await domainsOf(w)
    double.fault = ({ path: at }) => (at.endsWith('/listAll') ? fault() : null)
    expect(await sync(w, id)).toMatchObject({ status: 'error' })
    expect(await domainsOf(w)).toEqual(before)
    expect(await accountOf(w, id)).toMatchObject({ state: 'ok', domain_count: 1 })
    expect((await accountOf(w, id)).sync_error).not.toBeNull()
    double.fault = () => null
    await w.advance(hourMs)
    expect((await accountOf(w, id)).sync_error).toBeNull()
  })

  test('because of a wrong credential stops all others until a check succeeds', async () => {
    const w = await opened()
    double.hold('one.com')
    const id = await connect(w)
    double.fault = () => ({ status: 403, code: 'INVALID_API_KEYS_001', message: 'Invalid API key.' })
    await sync(w, id)
    expect(await accountOf(w, id)).toMatchObject({ state: 'unknown', next_sync_at: null, sync_error: { code: 'unauthorized' } })
    double.requests.length = 0
    await w.advance(12 * hourMs)
    expect(double.requests.filter(one => one.path.endsWith('/listAll'))).toEqual([])
    expect(await accountOf(w, id)).toMatchObject({ state: 'failing' })
    double.fault = () => null
    double.hold('two.com')
    await w.advance(2 * hourMs)
    expect(await accountOf(w, id)).toMatchObject({ state: 'ok', sync_error: null })
    expect(await namesOf(w)).toEqual(['one.com', 'two.com'])
  })

  test('with under half of the domains proves nothing for three days', async () => {
    const w = await opened()
    for (let n = 0; n < 5; n++) double.hold(`n${n}.com`)
    const id = await connect(w)
    for (let n = 0; n < 3; n++) double.listedLate.add(`n${n}.com`)
    await w.advance(dayMs)
    expect(await accountOf(w, id)).toMatchObject({ domain_count: 5 })
    const readings = async () => {
      const { id: domainId } = await domainOf(w, 'n0.com')
      const [row] = await w.hub.read.select().from(domainReadings).where(eq(domainReadings.domainId, domainId))
      return row!
    }
    expect((await readings()).state).toBe('found')
    expect(await notices(w)).toEqual(['registrar_account.shrunk'])
    await w.advance(3 * dayMs)
    expect(await accountOf(w, id)).toMatchObject({ domain_count: 2 })
    expect((await readings()).state).toBe('absent')
    expect(await namesOf(w)).toHaveLength(5)
  })
})

describe('a domain that leaves the account', () => {
  test('was transferred if it is still missing six hours later, and the registry names another registrar', async () => {
    const w = await opened()
    for (const name of ['one.com', 'stays.com']) double.hold(name)
    const id = await connect(w)
    registry.names.set('one.com', { expires: '2027-04-02T10:11:12Z', registrar: 'Another Registrar' })
    await w.emitted()
    await sync(w, id)
    expect(await domainOf(w, 'one.com')).toMatchObject({ status: 'active', management: 'registrar' })
    const later = async () => {
      await w.advance(7 * hourMs)
      await readDueRegistrations(w.hub)
      await w.settle()
    }
    // The registry is asked within a day, and the account about every six hours.
    for (let n = 0; n < 5; n++) await later()
    expect(await domainOf(w, 'one.com')).toMatchObject({
      status: 'transferred_out',
      management: 'manual',
      registrar_account_id: null,
      auto_renew: null,
    })
    expect((await w.emitted()).filter(one => one === 'domain.status_changed')).toHaveLength(1)
    expect(await domainOf(w, 'stays.com')).toMatchObject({ status: 'active', management: 'registrar' })
  })

  test('only for a while, such as in a late list, changes nothing', async () => {
    const w = await opened()
    for (const name of ['one.com', 'stays.com']) double.hold(name)
    const id = await connect(w)
    double.listedLate.add('one.com')
    await sync(w, id)
    await w.advance(3 * dayMs)
    expect(await domainOf(w, 'one.com')).toMatchObject({ status: 'active', management: 'registrar', registrar_account_id: id })
    double.listedLate.clear()
    await sync(w, id)
    expect(await domainOf(w, 'one.com')).toMatchObject({ status: 'active', registrar_account_id: id })
  })
})

test('an account whose secrets were encrypted again while it was read is read again', async () => {
  const w = await opened()
  const id = await connect(w)
  const [account] = await w.hub.read.select().from(registrarAccounts).where(eq(registrarAccounts.id, id))
  const before = { ...account!, secretsSealed: 'before' }
  const jobs = await record(w.hub, async tx => {
    const finished = await finishSync(tx, w.hub, before, { error: { code: 'timeout', detail: 'Late.' }, retryAfterMs: null })
    return { result: finished.jobs }
  })
  expect(jobs).toMatchObject([{ kind: 'registrars.sync', runAt: w.clock.now() }])
  expect((await accountOf(w, id)).sync_error).toBeNull()
})

test('a credit too low for renewals within 30 days raises a notice once', async () => {
  const w = await opened()
  double.balanceCents = 0
  double.hold('one.com', { expires: '2026-12-05T00:00:00Z' }, { autoRenew: true })
  const id = await connect(w)
  expect(await notices(w)).toEqual(['registrar_account.low_balance'])
  await sync(w, id)
  expect(await notices(w)).toEqual(['registrar_account.low_balance'])
})
