import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { registrarKindOf } from '../../src/features/registrars/kinds'
import { readAccount } from '../../src/features/registrars/read-account'
import { freePort } from '../support/free-port'
import { GandiDouble } from '../support/gandi'
import { pluginContext } from '../support/plugin-context'
import { failureOfBody } from '../support/registrar-body'
import { apiTrouble, registrarContract } from '../support/registrar-contract'
import { RegistryDouble } from '../support/registry-double'

const kind = registrarKindOf('gandi')!
let registry: RegistryDouble
let double: GandiDouble

beforeAll(async () => {
  registry = await RegistryDouble.start()
  double = await new GandiDouble(registry).start()
})
afterEach(() => {
  registry.names.clear()
  double.fault = () => null
  double.answered = body => body
  double.beforePage = () => {}
})
afterAll(() => {
  double.stop()
  registry.stop()
})

const open = (more: object = {}) =>
  kind.open({ api_token: double.token, base_url: double.url, ...more }, pluginContext({ totalMs: 1000 }))
const eur = (minor: number) => ({ minor, currency: 'EUR' })

registrarContract('gandi', async () => ({
  double,
  registrar: open(),
  unauthorized: open({ api_token: 'w'.repeat(40) }),
  unreachable: open({ base_url: `http://127.0.0.1:${await freePort()}` }),
  pageSize: 100,
  offered: { name: 'free.com', price: eur(1500) },
  secrets: [double.token, 'w'.repeat(40)],
  trouble: apiTrouble(double, double.token),
  stop() {},
}))

test('keys, host records, and locks of a domain', async () => {
  double.hold('full.fr')
  double.keys.set('full.fr', [{ id: 1, keytag: 12345, algorithm: 13, digest_type: 2, digest: 'AB'.repeat(32), type: 'ksk' }])
  double.hosts.set('full.fr', [{ name: 'ns1', fqdn: 'full.fr', ips: ['192.0.2.1', '2001:DB8::0:1'] }])
  const held = await open().read('full.fr')
  expect(held).toMatchObject({
    locked: true,
    eppStatuses: ['client transfer prohibited'],
    ds: [{ keyTag: 12345, algorithm: 13, digestType: 2, digest: 'ab'.repeat(32) }],
    glue: [{ name: 'ns1.full.fr', addresses: ['192.0.2.1', '2001:db8::1'] }],
  })
  expect(held!.capabilities).not.toContain('lock')
  // The auth code is in the response.
  expect(JSON.stringify(held)).not.toContain('secret-code')
})

test.each([
  [['pending delete', 'redemption period'], 'redemption'],
  [['pending delete'], 'pending_delete'],
  [['client hold'], 'suspended'],
  [['auto renew period'], 'active'],
])('the statuses %p mean %s', async (statuses, expected) => {
  double.hold('one.com', { expires: '2099-01-01T00:00:00Z', statuses })
  expect((await open().read('one.com'))?.status).toBe(expected as never)
})

test('prices include tax, and are those of the shortest registration', async () => {
  double.premium.add('gold.com')
  double.minYears.set('two.com', 2)
  expect(await open({ currency: 'USD' }).offers(['two.com', 'gold.com'])).toMatchObject([
    {
      available: true,
      minYears: 2,
      price: { minor: 3000, currency: 'USD' },
      restorePrice: { minor: 28_800, currency: 'USD' },
      premium: false,
    },
    { available: true, premium: true, price: { minor: 144_000, currency: 'USD' } },
  ])
  double.minYears.clear()
})

test('only a clear answer of the registry is one', async () => {
  const statuses = ['pending', 'error_timeout', 'error_unknown', 'error_eoi', 'reserved_corporate']
  for (const status of statuses) double.checkStatuses.set(`${status.replace('_', '-')}.com`, status)
  const offers = await open().offers(statuses.map(one => `${one.replace('_', '-')}.com`))
  for (const offer of offers) {
    expect(offer).toMatchObject({ available: null, price: null })
    expect(offer.reason).toEndWith('.')
  }
})

test('the organization that pays is named', async () => {
  const sharing_id = '26af6c16-79a7-11ef-b5a1-00163e816020'
  await open({ sharing_id }).list(null)
  await open({ sharing_id }).offers(['free.com'])
  expect(double.payers.slice(-2)).toEqual([sharing_id, sharing_id])
})

test('pages that shrink, overlap, or lack rows are not a list', async () => {
  for (let n = 100; n < 250; n++) double.hold(`n${n}.com`)
  const failed = async () => {
    try {
      return await readAccount(open(), systemClock)
    } catch (error) {
      return (error as { failure: string }).failure
    }
  }
  let pages = 0
  // A name is deleted while the pages are read, and another one is registered, so that the total stays the same.
  double.beforePage = () => {
    if (++pages !== 2) return
    registry.names.delete('n100.com')
    double.hold('z.com')
  }
  expect(await failed()).toBe('incomplete')
  double.beforePage = () => {}
  double.answered = body => (Array.isArray(body) ? body.slice(0, 70) : body)
  expect(await failed()).toBe('incomplete')
  double.answered = body => (Array.isArray(body) ? body.map(() => body[0]) : body)
  expect(await failed()).toBe('incomplete')
})

test('responses that are not of the API are refused', async () => {
  const of = (body: unknown, call: (account: ReturnType<typeof open>) => Promise<unknown>) =>
    failureOfBody(double, body, () => call(open()))
  // Without the number of domains.
  for (const body of [[], {}, null, 1, 'x'])
    expect([body, await of(body, account => account.list(null))]).toEqual([body, 'invalid_response'])
  for (const body of [{}, [], 7, { fqdn: 'two.com' }, { fqdn: 'a b.com' }])
    expect([body, await of(body, account => account.read('one.com'))]).toEqual([body, 'invalid_response'])
  for (const body of [{}, [], { products: {} }, { products: [1] }, { products: [{ process: 'renew', status: 'available' }] }])
    expect([body, await of(body, account => account.offers(['one.com']))]).toEqual([body, 'invalid_response'])
})
