import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { registrarKindOf, registrarKinds } from '../../src/features/registrars/kinds'
import { readAccount } from '../../src/features/registrars/read-account'
import { freePort } from '../support/free-port'
import { pluginContext } from '../support/plugin-context'
import { PorkbunDouble } from '../support/porkbun'
import { failureOfBody } from '../support/registrar-body'
import { apiTrouble, registrarContract } from '../support/registrar-contract'
import { RegistryDouble } from '../support/registry-double'

const kind = registrarKindOf('porkbun')!
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

const open = (more: object = {}) =>
  kind.open(
    { api_key: double.apiKey, secret_api_key: double.secretApiKey, base_url: double.url, ...more },
    pluginContext({ totalMs: 500 }),
  )

registrarContract('porkbun', async () => ({
  double,
  registrar: open(),
  unauthorized: open({ secret_api_key: `sk1_${'c'.repeat(60)}` }),
  unreachable: open({ base_url: `http://127.0.0.1:${await freePort()}` }),
  pageSize: 1000,
  offered: { name: 'free.com', price: { minor: 973, currency: 'USD' } },
  secrets: [double.apiKey, double.secretApiKey, 'c'.repeat(60)],
  trouble: apiTrouble(double, double.secretApiKey),
  stop() {},
}))

test('all kinds have different names', () => {
  expect(new Set(registrarKinds.map(one => one.kind)).size).toBe(registrarKinds.length)
})

test('what each domain allows, and domains of other registrars', async () => {
  double.hold('one.com')
  double.hold('two.com', {}, { locked: false })
  double.hold('three.com')
  double.withoutAccess.add('one.com')
  double.notLocal.add('three.com')
  const held = await readAccount(open(), systemClock)
  expect(held.map(one => [one.name, one.capabilities, one.locked])).toEqual([
    ['one.com', [], true],
    ['two.com', null, false],
  ])
  expect(await open().read('three.com')).toBeNull()
  registry.names.clear()
  double.notLocal.clear()
})

test('premium names and minimum terms', async () => {
  double.premium.add('gold.com')
  double.minYears.set('ai', 2)
  const offers = await open().offers(['gold.com', 'free.ai'])
  expect(offers[0]).toMatchObject({ available: false, premium: true, price: { minor: 125_000, currency: 'USD' } })
  expect(offers[0]!.reason).toContain('Premium')
  expect(offers[1]).toMatchObject({ available: true, minYears: 2, price: { minor: 1946 }, renewalPrice: { minor: 1037 } })
})

test('a limit that is reported with the status 200', async () => {
  double.isCheckLimited = true
  await expect(open().offers(['free.com'])).rejects.toMatchObject({ failure: 'throttled', retryAfterMs: 7000 })
  double.isCheckLimited = false
})

const changed = (body: unknown, call: (account: ReturnType<typeof open>) => Promise<unknown>) =>
  failureOfBody(double, body, () => call(open()))
const success = { status: 'SUCCESS' }

test('responses that are not of the API are refused', async () => {
  const list = (body: unknown) => changed(body, account => account.list(null))
  for (const body of [[], null, 1, 'x', {}, success, { ...success, domains: {} }, { ...success, domains: [1] }, { domains: [] }])
    expect([body, await list(body)]).toEqual([body, 'invalid_response'])
  for (const domain of ['', 'com', '1.2.3.4', 'a..com', `${'a'.repeat(64)}.com`, 'a b.com', 7, null])
    expect([domain, await list({ ...success, domains: [{ domain }] })]).toEqual([domain, 'invalid_response'])
  expect(await list({ ...success, domains: Array.from({ length: 1001 }, (_, n) => ({ domain: `n${n}.com` })) })).toBe(
    'invalid_response',
  )
  const read = (body: unknown) => changed(body, account => account.read('one.com'))
  for (const body of [
    success,
    { ...success, domain: {} },
    { ...success, domain: { domain: 'two.com' } },
    { ...success, domains: [] },
  ])
    expect([body, await read(body)]).toEqual([body, 'invalid_response'])
  const offer = (response: unknown) => changed({ ...success, response }, account => account.offers(['free.com']))
  for (const response of [
    undefined,
    [],
    {},
    { avail: 'maybe' },
    { avail: 'yes', minDuration: 0 },
    { avail: 'yes', minDuration: 'x' },
  ])
    expect([response, await offer(response)]).toEqual([response, 'invalid_response'])
  for (const balance of ['1e99', null, '', -1, 0.5])
    expect(await changed({ ...success, balance }, account => account.check())).toBe('invalid_response')
})

test('numbers can be texts, and prices that are none are unknown', async () => {
  double.fault = () => ({
    raw: {
      status: 200,
      body: JSON.stringify({ ...success, balance: '4120', response: { avail: 'yes', price: '9.731', minDuration: '1' } }),
    },
  })
  expect((await open().check()).balance).toEqual({ minor: 4120, currency: 'USD' })
  expect((await open().offers(['free.com']))[0]).toMatchObject({ available: true, price: null })
  double.fault = () => null
})

test('pages that overlap, refer back, or never end are not a list', async () => {
  for (let n = 0; n < 1500; n++) double.hold(`n${n}.com`)
  // A name is registered while the pages are read, so that the rows move.
  double.beforePage = page => void (page === 1 && double.hold('a.com'))
  await expect(readAccount(open(), systemClock)).rejects.toMatchObject({ failure: 'incomplete' })
  double.beforePage = () => {}
  const same = { ...success, domains: [{ domain: 'one.com' }] }
  double.fault = () => ({ raw: { status: 200, body: JSON.stringify(same) } })
  let requests = 0
  const endless = { now: () => ++requests * 10_000 } as typeof systemClock
  await expect(readAccount(open(), endless)).rejects.toMatchObject({ failure: 'timeout' })
  double.fault = () => null
  registry.names.clear()
})
