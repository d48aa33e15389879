import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import Cloudflare from 'cloudflare'
import { systemClock } from '../../src/core/clock'
import { registrarKindOf } from '../../src/features/registrars/kinds'
import { readAccount } from '../../src/features/registrars/read-account'
import { CloudflareRegistrarDouble } from '../support/cloudflare-registrar'
import { freePort } from '../support/free-port'
import { pluginContext } from '../support/plugin-context'
import { failureOfBody } from '../support/registrar-body'
import { apiTrouble, registrarContract } from '../support/registrar-contract'
import { RegistryDouble } from '../support/registry-double'

const kind = registrarKindOf('cloudflare')!
let registry: RegistryDouble
let double: CloudflareRegistrarDouble

beforeAll(async () => {
  registry = await RegistryDouble.start()
  double = await new CloudflareRegistrarDouble(registry).start()
})
afterEach(() => {
  registry.names.clear()
  double.fault = () => null
  double.answered = body => body
})
afterAll(() => {
  double.stop()
  registry.stop()
})

const open = (more: object = {}) =>
  kind.open(
    { account_id: double.accountId, api_token: double.token, base_url: double.url, ...more },
    pluginContext({ totalMs: 1000 }),
  )

registrarContract('cloudflare', async () => ({
  double,
  registrar: open(),
  unauthorized: open({ api_token: 'w'.repeat(40) }),
  unreachable: open({ base_url: `http://127.0.0.1:${await freePort()}` }),
  pageSize: 50,
  hidesNameservers: true,
  offered: { name: 'free.com', price: { minor: 977, currency: 'USD' } },
  secrets: [double.token, 'w'.repeat(40)],
  trouble: apiTrouble(double, double.token),
  stop() {},
}))

const failureOf = async (call: Promise<unknown>) => {
  try {
    return await call
  } catch (error) {
    return (error as { failure: string }).failure
  }
}

test('the client of Cloudflare reads the same', async () => {
  for (const name of ['one.com', 'two.com', 'three.com']) double.hold(name)
  double.statuses.set('two.com', 'registration_pending')
  const { registrar } = new Cloudflare({ apiToken: double.token, baseURL: double.url, maxRetries: 0 })
  const account_id = double.accountId
  const names: string[] = []
  for await (const one of registrar.registrations.list({ account_id, per_page: 2 })) names.push(one.domain_name)
  expect(names).toEqual(['one.com', 'three.com', 'two.com'])
  expect(await registrar.registrations.get('two.com', { account_id })).toMatchObject({
    status: 'registration_pending',
    expires_at: null,
    privacy_mode: 'redaction',
  } as object)
  const { domains } = await registrar.check({ account_id, domains: ['one.com', 'free.com', 'free.cc'] })
  expect(domains).toMatchObject([
    { registrable: false, reason: 'domain_unavailable' },
    { registrable: true, pricing: { currency: 'USD', registration_cost: '9.77' } },
    { registrable: false, reason: 'extension_not_supported_via_api' },
  ])
  const missing = await registrar.registrations.get('none.com', { account_id }).catch(error => error.status)
  expect(missing).toBe(404)
  double.statuses.clear()
})

test.each([
  ['active', 'active'],
  ['registration_pending', 'pending_registration'],
  ['transfer_pending', 'pending_transfer'],
  ['expired', 'expired'],
  ['suspended', 'suspended'],
  ['redemption_period', 'redemption'],
  ['pending_delete', 'pending_delete'],
  ['on_the_moon', 'unknown'],
])('the status %s is %s', async (status, expected) => {
  double.hold('one.com')
  double.statuses.set('one.com', status)
  expect((await open().read('one.com'))?.status).toBe(expected as never)
  double.statuses.clear()
})

test('premium names, and top-level domains that are not sold by the API', async () => {
  double.premium.add('gold.com')
  expect(await open().offers(['free.cc', 'gold.com', 'free.com'])).toMatchObject([
    { available: false, reason: expect.stringContaining('dashboard') },
    { available: false, premium: true, price: null },
    { available: true, reason: null, renewalPrice: { minor: 1044, currency: 'USD' } },
  ])
})

test('an account that the token can’t access is not an empty one', async () => {
  const other = open({ account_id: 'f'.repeat(32) })
  const calls = [() => other.check(), () => other.list(null), () => other.read('one.com'), () => other.offers(['one.com'])]
  for (const call of calls) expect(await failureOf(call())).toBe('unauthorized')
})

test('errors with the status 200 are errors', async () => {
  const failed = (code: number) =>
    failureOfBody(double, { success: false, errors: [{ code, message: 'no' }], result: null }, () => open().read('one.com'))
  expect([await failed(971), await failed(10_000), await failed(1234)]).toEqual(['throttled', 'unauthorized', 'refused'])
  double.fault = () => 'throttled'
  await expect(open().check()).rejects.toMatchObject({ retryAfterMs: 300_000 })
})

test('pages without a cursor, that refer back, or overlap, are not a list', async () => {
  for (let n = 0; n < 60; n++) double.hold(`n${n}.com`)
  const failed = (result_info: unknown) => {
    double.answered = body => ({ ...body, result_info })
    return failureOf(readAccount(open(), systemClock))
  }
  for (const info of [undefined, null, {}, { cursor: 7 }, { cursor: null }, { cursor: 'x'.repeat(2000) }])
    expect([info, await failed(info)]).toEqual([info, 'invalid_response'])
  expect(await failed({ cursor: 'a' })).toBe('incomplete')
  double.answered = body => (body.result.length < 50 ? { ...body, result: [...body.result, { domain_name: 'n0.com' }] } : body)
  expect(await failureOf(readAccount(open(), systemClock))).toBe('incomplete')
})

test('responses that are not of the API are refused', async () => {
  const of = (body: unknown, call: (account: ReturnType<typeof open>) => Promise<unknown>) =>
    failureOfBody(double, body, () => call(open()))
  const ok = { success: true, errors: [] }
  const end = { result_info: { cursor: '' } }
  for (const body of [
    [],
    null,
    1,
    'x',
    {},
    ok,
    { ...ok, ...end, result: {} },
    { ...ok, ...end, result: [1] },
    { ...end, result: [] },
  ])
    expect([body, await of(body, account => account.list(null))]).toEqual([body, 'invalid_response'])
  for (const domain_name of ['', 'com', '1.2.3.4', 'a..com', `${'a'.repeat(64)}.com`, 'a b.com', 7, null])
    expect([domain_name, await of({ ...ok, ...end, result: [{ domain_name }] }, account => account.list(null))]).toEqual([
      domain_name,
      'invalid_response',
    ])
  for (const result of [undefined, [], {}, { domain_name: 'two.com' }])
    expect([result, await of({ ...ok, result }, account => account.read('one.com'))]).toEqual([result, 'invalid_response'])
  for (const domains of [undefined, {}, [1], [], [{ name: 'one.com' }], [{ name: 'one.com', registrable: 'maybe' }]])
    expect([domains, await of({ ...ok, result: { domains } }, account => account.offers(['one.com']))]).toEqual([
      domains,
      'invalid_response',
    ])
})
