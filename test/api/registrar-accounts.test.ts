import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { pointers } from '../support/pointers'
import { PorkbunDouble } from '../support/porkbun'
import { RegistryDouble } from '../support/registry-double'
import { world, type World } from '../support/world'

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
  double.fault = () => null
  double.balanceCents = 4120
})

const path = '/v1/registrar-accounts'
const settings = () => ({ api_key: double.apiKey, secret_api_key: double.secretApiKey, base_url: double.url })
const input = (more: object = {}) => ({ kind: 'porkbun', name: 'Porkbun', settings: settings(), ...more })
const create = async ({ acme }: World, more: object = {}) => {
  const answer = await acme.call('POST', path, input(more))
  if (answer.status !== 201) throw new Error(answer.text)
  return answer.body
}
const usd = (amount: string) => ({ amount, currency: 'USD' })

test('kinds describe their settings and what they can do', async () => {
  const { acme } = await world()
  const { data, pagination } = (await acme.call('GET', '/v1/registrar-kinds')).body
  expect(pagination).toEqual({ has_more: false, next_cursor: null })
  expect(data.find((one: any) => one.kind === 'porkbun')).toMatchObject({
    title: 'Porkbun',
    secrets: ['secret_api_key'],
    destination: ['base_url'],
    catching: 'allowed',
    currency: 'USD',
  })
  for (const one of data) {
    expect(one.settings.additionalProperties).toBe(false)
    expect(Object.keys(one.settings.properties)).toEqual(expect.arrayContaining([...one.secrets, ...one.destination]))
  }
})

describe('registrar accounts', () => {
  test('are checked right after they are created, and never show their secrets', async () => {
    const here = await world()
    const answer = await here.acme.call('POST', path, input())
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`${path}/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      kind: 'porkbun',
      settings: { api_key: double.apiKey, base_url: double.url },
      secrets_set: ['secret_api_key'],
      state: 'unknown',
      manage_new: 'track',
      currency: 'USD',
      balance: null,
      purchases: { monthly_limit: null, order_limit: null },
      domain_count: 0,
      version: 1,
    })
    await here.settle()
    const checked = await here.acme.call('GET', `${path}/${answer.body.id}`)
    expect(checked.body).toMatchObject({ state: 'ok', detail: 'Credit 41.20 USD', balance: usd('41.20'), version: 1 })
    const listed = await here.acme.call('GET', `${path}?kind=porkbun&state=ok`)
    expect(listed.body.data).toHaveLength(1)
    expect((await here.acme.call('GET', `${path}?state=failing`)).body.data).toEqual([])
    const log = await here.acme.call('GET', '/v1/audit-events?limit=100')
    expect([answer, checked, listed, log].map(one => one.text).join()).not.toContain(double.secretApiKey)
    expect((await here.rival.call('GET', path)).body.data).toEqual([])
    expect((await here.rival.call('GET', `${path}/${answer.body.id}`)).status).toBe(404)
  })

  test('report each invalid setting', async () => {
    const { acme } = await world()
    const refused = async (more: object) => pointers(await acme.call('POST', path, input(more)))
    expect(await refused({ settings: {} })).toEqual([422, ['#/settings/api_key', '#/settings/secret_api_key']])
    expect(await refused({ settings: { ...settings(), nonsense: 1 } })).toEqual([422, ['#/settings/nonsense']])
    expect(await refused({ settings: { ...settings(), api_key: 'two\nlines-long' } })).toEqual([422, ['#/settings/api_key']])
    expect(await refused({ settings: { ...settings(), base_url: 'https://me:x@porkbun.com' } })).toEqual([
      422,
      ['#/settings/base_url'],
    ])
    expect(await refused({ kind: 'godaddy' })).toEqual([422, ['#/kind']])
    expect(await refused({ manage_new: 'delete' })).toEqual([422, ['#/manage_new']])
    expect((await acme.call('GET', path)).body.data).toEqual([])
  })

  test('have unique names, and a limit of 50', async () => {
    const here = await world()
    for (let n = 0; n < 50; n++) await create(here, { name: `n${n}` })
    const more = await here.acme.call('POST', path, input({ name: 'more' }))
    expect([more.status, more.body.code]).toEqual([409, 'conflict'])
    const { id } = (await here.acme.call('GET', path)).body.data[0]
    expect((await here.acme.call('PATCH', `${path}/${id}`, { name: 'n1' })).body.code).toBe('already_exists')
    expect((await here.rival.call('POST', path, input())).status).toBe(201)
  })

  test('are checked again if their settings change, and don’t send secrets elsewhere', async () => {
    const here = await world()
    const { id } = await create(here)
    await here.settle()
    await here.audited()
    const patch = (body: object, headers = {}) => here.acme.call('PATCH', `${path}/${id}`, body, headers)
    expect((await patch({ name: 'other', manage_new: 'ignore' })).body).toMatchObject({ state: 'ok', manage_new: 'ignore' })
    expect(pointers(await patch({ settings: { base_url: 'https://porkbun.example' } }))).toEqual([
      422,
      ['#/settings/secret_api_key'],
    ])
    const wrong = await patch({ settings: { secret_api_key: 'sk1_wrong-from-now-on' } })
    expect(wrong.body).toMatchObject({ state: 'unknown', balance: null, currency: 'USD' })
    await here.settle()
    const { body: failing } = await here.acme.call('GET', `${path}/${id}`)
    expect(failing).toMatchObject({ state: 'failing', last_error: { code: 'unauthorized' }, next_sync_at: null })
    expect(failing.last_error.detail).not.toContain('sk1_wrong-from-now-on')
    const { data: notices } = (await here.acme.call('GET', '/v1/notices')).body
    expect(notices.map((one: any) => one.kind)).toEqual(['registrar_account.failing'])
    expect((await patch({ name: 'x' }, { 'if-match': '"1"' })).status).toBe(412)
    await patch({ settings: { secret_api_key: double.secretApiKey } })
    await here.settle()
    const actions = await here.audited()
    expect(actions.filter(one => !one.endsWith('.update'))).toEqual(['domains.registrar.fail'])
    expect((await here.acme.call('GET', `${path}/${id}`)).body.state).toBe('ok')
  })

  test('can be checked at any time, and tried before they are created', async () => {
    const here = await world()
    const { id } = await create(here)
    double.balanceCents = 7
    const { body } = await here.acme.call('POST', `${path}/${id}/check`)
    expect(body).toMatchObject({ state: 'ok', balance: usd('0.07') })
    const tried = await here.acme.call('POST', '/v1/registrar-account-checks', { kind: 'porkbun', settings: settings() })
    expect(tried.body).toEqual({ state: 'ok', detail: 'Credit 0.07 USD', warnings: [], error: null })
    const failed = await here.acme.call('POST', '/v1/registrar-account-checks', {
      kind: 'porkbun',
      settings: { ...settings(), secret_api_key: 'sk1_something-else' },
    })
    expect(failed.body).toMatchObject({ state: 'failing', detail: null, error: { code: 'unauthorized' } })
    for (let n = 0; n < 4; n++) await here.acme.call('POST', `${path}/${id}/check`)
    expect((await here.acme.call('POST', `${path}/${id}/check`)).status).toBe(429)
  })

  test('are deleted with their secrets', async () => {
    const here = await world()
    const { id } = await create(here)
    expect((await here.rival.call('DELETE', `${path}/${id}`)).status).toBe(404)
    expect((await here.acme.call('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await here.acme.call('GET', `${path}/${id}`)).status).toBe(404)
    await here.settle()
    expect(await here.audited()).toEqual(['domains.registrar.create', 'domains.registrar.delete'])
  })

  test('are changed with domains.write only', async () => {
    const here = await world()
    const { id } = await create(here)
    const reader = await here.scoped('domains.read')
    expect((await reader.call('GET', `${path}/${id}`)).status).toBe(200)
    for (const [method, at, body] of [
      ['POST', path, {}],
      ['PATCH', `${path}/${id}`, {}],
      ['DELETE', `${path}/${id}`, undefined],
      ['POST', `${path}/${id}/check`, undefined],
      ['POST', '/v1/registrar-account-checks', {}],
    ] as const)
      expect((await reader.call(method, at, body)).status).toBe(403)
    expect((await (await here.scoped('dns.write')).call('GET', path)).status).toBe(403)
  })
})

describe('limits of purchases', () => {
  test('are set with account.write only', async () => {
    const here = await world()
    const limited = { monthly_limit: usd('100'), order_limit: usd('25.5') }
    const { id, purchases } = await create(here, { purchases: limited })
    expect(purchases).toEqual({ monthly_limit: usd('100.00'), order_limit: usd('25.50') })
    const writer = await here.scoped('domains.write')
    for (const monthly of [usd('1000'), usd('1'), null]) {
      const answer = await writer.call('PATCH', `${path}/${id}`, { purchases: { monthly_limit: monthly } })
      expect([answer.status, answer.body.code]).toEqual([403, 'insufficient_permission'])
    }
    expect((await writer.call('POST', path, input({ name: 'x', purchases: {} }))).status).toBe(403)
    expect((await writer.call('PATCH', `${path}/${id}`, { name: 'renamed' })).status).toBe(200)
    const lowered = await here.acme.call('PATCH', `${path}/${id}`, { purchases: { order_limit: null } })
    expect(lowered.body.purchases).toEqual({ monthly_limit: usd('100.00'), order_limit: null })
    const off = await here.acme.call('PATCH', `${path}/${id}`, { purchases: { monthly_limit: null } })
    expect(off.body.purchases).toEqual({ monthly_limit: null, order_limit: null })
  })

  test('are amounts in the currency of the account', async () => {
    const { acme } = await world()
    const refused = async (monthly_limit: unknown) =>
      pointers(await acme.call('POST', path, input({ purchases: { monthly_limit } })))
    for (const amount of ['-1', '1e3', '1,5', '', '01', '1234567890123', '1.23456', '0x1', ' 1'])
      expect([amount, await refused(usd(amount))]).toEqual([amount, [422, ['#/purchases/monthly_limit/amount']]])
    expect(await refused(usd('1.005'))).toEqual([422, ['#/purchases/monthly_limit']])
    expect(await refused(usd('12345678901'))).toEqual([422, ['#/purchases/monthly_limit']])
    expect(await refused({ amount: '1', currency: 'XYZ' })).toEqual([422, ['#/purchases/monthly_limit']])
    expect(await refused({ amount: '1', currency: 'EUR' })).toEqual([422, ['#/purchases/monthly_limit/currency']])
    expect(await refused({ amount: '1', currency: 'usd' })).toEqual([422, ['#/purchases/monthly_limit/currency']])
    expect((await refused({ amount: '1' }))[0]).toBe(422)
    expect((await refused({ amount: 1, currency: 'USD' }))[0]).toBe(422)
    expect((await refused('10 USD'))[0]).toBe(422)
    expect((await acme.call('GET', path)).body.data).toEqual([])
  })
})

describe('domains in an account', () => {
  test('are listed page by page, as they are now', async () => {
    const here = await world()
    const { id } = await create(here)
    for (const name of ['b.com', 'a.com', 'xn--bcher-kva.com']) double.hold(name, {}, { autoRenew: true })
    registry.names.set('other.com', { registrar: 'Another Registrar' })
    const first = (await here.acme.call('GET', `${path}/${id}/domains?limit=2`)).body
    expect(first.data.map((one: any) => one.name)).toEqual(['a.com', 'b.com'])
    expect(first.data[0]).toMatchObject({
      status: 'active',
      expires_at: '2027-04-02T10:11:12.000Z',
      auto_renew: true,
      locked: true,
    })
    const cursor = encodeURIComponent(first.pagination.next_cursor)
    const second = (await here.acme.call('GET', `${path}/${id}/domains?limit=2&cursor=${cursor}`)).body
    expect(second).toMatchObject({
      data: [{ name: 'xn--bcher-kva.com', unicode_name: 'bücher.com' }],
      pagination: { has_more: false },
    })
    const found = (await here.acme.call('GET', `${path}/${id}/domains?q=${encodeURIComponent('BÜCHER')}`)).body
    expect(found.data.map((one: any) => one.name)).toEqual(['xn--bcher-kva.com'])
    expect((await here.acme.call('GET', `${path}/${id}/domains?q=b&cursor=${cursor}`)).status).toBe(400)
    expect((await here.rival.call('GET', `${path}/${id}/domains`)).status).toBe(404)
  })

  test('are not listed if the registrar fails', async () => {
    const here = await world()
    const { id } = await create(here)
    double.hold('a.com')
    const failed = async () => {
      const { status, body, headers } = await here.acme.call('GET', `${path}/${id}/domains`)
      return [status, body.code, body.failure, headers.get('retry-after')]
    }
    double.fault = () => 'throttled'
    expect(await failed()).toEqual([424, 'provider_failed', 'throttled', '12'])
    double.fault = () => 'cut'
    expect(await failed()).toEqual([424, 'provider_failed', 'incomplete', null])
    double.fault = () => ({ raw: { status: 200, body: '<html>' } })
    expect(await failed()).toEqual([424, 'provider_failed', 'invalid_response', null])
  })
})
