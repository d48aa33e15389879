import { afterAll, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { registrarKindOf } from '../../src/features/registrars/kinds'
import { readAccount } from '../../src/features/registrars/read-account'
import { freePort } from '../support/free-port'
import { NamecomDouble } from '../support/namecom'
import { pluginContext } from '../support/plugin-context'
import { apiTrouble, registrarContract } from '../support/registrar-contract'
import { RegistryDouble } from '../support/registry-double'
import { failureOfBody } from '../support/registrar-body'

const kind = registrarKindOf('namecom')!
let registry: RegistryDouble
let double: NamecomDouble

beforeAll(async () => {
  registry = await RegistryDouble.start()
  double = await new NamecomDouble(registry).start()
})
afterAll(() => {
  double.stop()
  registry.stop()
})

const open = (more: object = {}) =>
  kind.open(
    { username: double.username, api_token: double.token, base_url: double.url.replace('/core/v1', ''), ...more },
    pluginContext({ totalMs: 2000 }),
  )

registrarContract('namecom', async () => ({
  double,
  registrar: open(),
  unauthorized: open({ api_token: 'w'.repeat(40) }),
  unreachable: open({ base_url: `http://127.0.0.1:${await freePort()}` }),
  pageSize: 500,
  offered: { name: 'free.com', price: { minor: 1099, currency: 'USD' } },
  secrets: [double.token, 'w'.repeat(40), Buffer.from(`${double.username}:${double.token}`).toString('base64')],
  trouble: apiTrouble(double, double.token),
  stop() {},
}))

test('DS records, host records, locks, and prices', async () => {
  double.hold('full.com', {}, { locked: true })
  const ds = { keyTag: 12345, algorithm: 13, digestType: 2, digest: 'AB'.repeat(32) }
  double.ds.set('full.com', [{ domainName: 'full.com', ...ds }])
  double.glue.set('full.com', [{ domainName: 'full.com', hostname: 'ns1.full.com', ips: ['192.0.2.1', '2001:DB8::0:1'] }])
  expect(await open().read('full.com')).toMatchObject({
    locked: true,
    privacy: true,
    eppStatuses: ['client transfer prohibited'],
    ds: [{ ...ds, digest: 'ab'.repeat(32) }],
    glue: [{ name: 'ns1.full.com', addresses: ['192.0.2.1', '2001:db8::1'] }],
    renewalPrice: { minor: 1599, currency: 'USD' },
  })
  expect((await open().check()).balance).toEqual({ minor: 4120, currency: 'USD' })
  registry.names.clear()
})

test('offers in the order of the names, with the reason for names that are not registered here', async () => {
  double.premium.add('gold.com')
  double.aftermarket.add('owned.com')
  double.reasons.set('later.com', 'The registry is in maintenance')
  const offers = await open().offers(['gold.com', 'owned.com', 'free.zz', 'later.com', 'free.com'])
  expect(offers).toMatchObject([
    { name: 'gold.com', available: true, premium: true, price: { minor: 125_000 } },
    { name: 'owned.com', available: false, reason: 'The name is sold by its owner or in an auction, not registered.' },
    { name: 'free.zz', available: false, reason: 'Name.com does not offer this top-level domain.' },
    { name: 'later.com', available: false, reason: 'The registry is in maintenance.' },
    { name: 'free.com', available: true, renewalPrice: { minor: 1599, currency: 'USD' } },
  ])
  expect(await open().offers(['free.zz'])).toMatchObject([{ available: false }])
})

test('the end of the rate limit is in a header', async () => {
  double.fault = () => 'throttled'
  double.resetAt = Math.ceil(Date.now() / 1000) + 120
  const error = await open()
    .check()
    .catch(failed => failed)
  expect(error.retryAfterMs).toBeWithin(110_000, 130_000)
  double.fault = () => null
})

test('pages that shrink, overlap, or lack rows are not a list', async () => {
  for (let n = 1000; n < 2500; n++) double.hold(`n${n}.com`)
  let pages = 0
  // A name is deleted while the pages are read, and another one is registered, so that the total stays the same.
  double.beforePage = () => {
    if (++pages !== 2) return
    registry.names.delete('n1000.com')
    double.hold('z.com')
  }
  await expect(readAccount(open(), systemClock)).rejects.toMatchObject({ failure: 'incomplete' })
  double.beforePage = () => {}
  double.answered = body => (body.domains ? { ...body, domains: body.domains.slice(0, 300) } : body)
  await expect(readAccount(open(), systemClock)).rejects.toMatchObject({ failure: 'incomplete' })
  double.answered = body => (body.domains ? { ...body, nextPage: undefined } : body)
  await expect(readAccount(open(), systemClock)).rejects.toMatchObject({ failure: 'incomplete' })
  double.answered = body => (body.domains ? { ...body, totalCount: 1e9 } : body)
  await expect(readAccount(open(), systemClock)).rejects.toMatchObject({ failure: 'refused' })
  double.answered = body => body
  registry.names.clear()
})

test('responses that are not of the API are refused', async () => {
  const of = (body: unknown, call: (account: ReturnType<typeof open>) => Promise<unknown>) =>
    failureOfBody(double, body, () => call(open()))
  const row = { domainName: 'one.com' }
  for (const body of [[], null, 1, 'x', {}, { domains: {} }, { domains: [1], totalCount: 1 }, { domains: [row] }])
    expect([body, await of(body, account => account.list(null))]).toEqual([body, 'invalid_response'])
  for (const domainName of ['', 'com', '1.2.3.4', 'a..com', `${'a'.repeat(64)}.com`, 'a b.com', 7, null])
    expect([domainName, await of({ domains: [{ domainName }], totalCount: 1 }, account => account.list(null))]).toEqual([
      domainName,
      'invalid_response',
    ])
  for (const body of [{}, [], { domainName: 'two.com' }])
    expect([body, await of(body, account => account.read('one.com'))]).toEqual([body, 'invalid_response'])
  for (const results of [{}, [1], [{ domainName: 'one.com' }], [{ domainName: 'one.com', purchasable: 'maybe' }]])
    expect([results, await of({ results }, account => account.offers(['one.com']))]).toEqual([results, 'invalid_response'])
  for (const balance of ['1e9', -5, null, 1.234])
    expect([balance, await of({ balance }, account => account.check())]).toEqual([balance, 'invalid_response'])
})
