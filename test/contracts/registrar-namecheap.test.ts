import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock } from '../../src/core/clock'
import { registrarKindOf } from '../../src/features/registrars/kinds'
import { readAccount } from '../../src/features/registrars/read-account'
import { freePort } from '../support/free-port'
import { NamecheapDouble } from '../support/namecheap'
import { pluginContext } from '../support/plugin-context'
import { apiTrouble, registrarContract } from '../support/registrar-contract'
import { RegistryDouble } from '../support/registry-double'

const kind = registrarKindOf('namecheap')!
let registry: RegistryDouble
let double: NamecheapDouble

beforeAll(async () => {
  registry = await RegistryDouble.start()
  double = await new NamecheapDouble(registry).start()
})
afterEach(() => {
  registry.names.clear()
  double.fault = () => null
  double.rewritten = xml => xml
  double.beforePage = () => {}
})
afterAll(() => {
  double.stop()
  registry.stop()
})

const open = (more: object = {}) =>
  kind.open(
    { username: double.username, api_key: double.token, client_ip: double.clientIp, base_url: double.url, ...more },
    pluginContext({ totalMs: 1000 }),
  )
const usd = (minor: number) => ({ minor, currency: 'USD' })
const failureOf = async (call: Promise<unknown>) => {
  try {
    return await call
  } catch (error) {
    return (error as { failure: string }).failure
  }
}

registrarContract('namecheap', async () => ({
  double,
  registrar: open(),
  unauthorized: open({ api_key: 'w'.repeat(40) }),
  unreachable: open({ base_url: `http://127.0.0.1:${await freePort()}` }),
  hasDays: true,
  pageSize: 100,
  offered: { name: 'free.com', price: usd(1048) },
  secrets: [double.token, 'w'.repeat(40)],
  trouble: apiTrouble(double, double.token),
  stop() {},
}))

test('months come before days', async () => {
  double.hold('one.com', { registered: '2019-12-31T00:00:00Z', expires: '2099-02-03T00:00:00Z' })
  double.hold('old.com', { expires: '2020-01-02T00:00:00Z' })
  const expected = { registeredAt: Date.parse('2019-12-31'), expiresAt: Date.parse('2099-02-03'), status: 'active' }
  expect(await open().read('one.com')).toMatchObject({ ...expected, privacy: true, locked: true })
  const [old, one] = await readAccount(open(), systemClock)
  expect(one).toMatchObject(expected)
  expect(old).toMatchObject({ status: 'expired', expiresAt: Date.parse('2020-01-02') })
})

test('prices are kept, include fees, and fall back to the usual price', async () => {
  const before = double.commands.length
  const offers = await open().offers(['a.net', 'b.net'])
  for (const offer of offers)
    expect(offer).toMatchObject({
      price: usd(1048),
      renewalPrice: usd(1478),
      restorePrice: usd(12_020),
      transferPrice: usd(1018),
    })
  await open().offers(['c.net'])
  expect(double.commands.slice(before)).toEqual([
    'namecheap.domains.check',
    'namecheap.users.getPricing',
    'namecheap.domains.check',
  ])
})

test('premium names, names with an additional fee, and a registry that did not respond', async () => {
  double.premium.add('gold.com')
  double.early.add('first.com')
  double.unchecked.add('later.com')
  expect(await open().offers(['gold.com', 'first.com', 'later.com'])).toMatchObject([
    { available: false, premium: true, price: usd(125_000) },
    { available: false, premium: false, reason: expect.stringContaining('additional fee') },
    { available: null, reason: 'The registry did not respond.', price: null },
  ])
})

test('the key is in no address, and the balance is read', async () => {
  expect((await open().check()).balance).toEqual(usd(4120))
  for (const { method, path, query } of double.requests)
    expect([method, `${path}${query}`.includes(double.token)]).toEqual(['POST', false])
})

test.each([
  [1011150, 'unauthorized'],
  [1017150, 'unauthorized'],
  [2030166, 'refused'],
  [5050900, 'unreachable'],
  [3050900, 'unreachable'],
  [9999999, 'refused'],
])('the error %p with the status 200 is %s, whatever else is in the response', async (number, failure) => {
  double.hold('one.com')
  double.rewritten = xml =>
    xml.replace('Status="OK"', 'Status="ERROR"').replace('<Errors>', `<Errors><Error Number="${number}">No</Error>`)
  expect(await failureOf(open().read('one.com'))).toBe(failure)
})

test('pages that shrink, overlap, or lack rows are not a list', async () => {
  for (let n = 100; n < 250; n++) double.hold(`n${n}.com`)
  let pages = 0
  // A name is deleted while the pages are read, and another one is registered, so that the total stays the same.
  double.beforePage = () => {
    if (++pages !== 2) return
    registry.names.delete('n100.com')
    double.hold('z.com')
  }
  expect(await failureOf(readAccount(open(), systemClock))).toBe('incomplete')
  double.beforePage = () => {}
  double.rewritten = xml => xml.replace(/<Domain [^>]*>/, '')
  expect(await failureOf(readAccount(open(), systemClock))).toBe('incomplete')
  double.rewritten = xml => xml.replace(/n101\.com/, 'n103.com')
  expect(await failureOf(readAccount(open(), systemClock))).toBe('incomplete')
})

const of = '<ApiResponse Status="OK" xmlns="http://api.namecheap.com/xml.response">'
test.each([
  ['an entity', `<!DOCTYPE a [<!ENTITY x "y">]>${of}<CommandResponse/></ApiResponse>`],
  ['10,000 levels', `${of}${'<a>'.repeat(10_000)}`],
  ['another namespace', `<ApiResponse Status="OK" xmlns="urn:other"><CommandResponse/></ApiResponse>`],
  ['no namespace', '<ApiResponse Status="OK"><CommandResponse/></ApiResponse>'],
  ['no result', `${of}</ApiResponse>`],
  ['another result', `${of}<CommandResponse><Other/></CommandResponse></ApiResponse>`],
  ['JSON', '{"Status": "OK"}'],
  ['nothing', ''],
])('a response with %s is an error', async (_, body) => {
  double.fault = () => ({ raw: { status: 200, body, headers: { 'content-type': 'text/xml' } } })
  for (const call of [open().check(), open().list(null), open().read('one.com'), open().offers(['one.com'])].map(failureOf))
    expect(await call).toBeOneOf(['invalid_response', 'incomplete'])
})

test('another domain, and one without an owner, are not believed', async () => {
  double.hold('one.com')
  double.rewritten = xml => xml.replace('DomainName="one.com"', 'DomainName="two.com"')
  expect(await failureOf(open().read('one.com'))).toBe('invalid_response')
  double.rewritten = xml => xml.replace('IsOwner="true"', '')
  expect(await failureOf(open().read('one.com'))).toBe('invalid_response')
  double.rewritten = xml => xml.replace('IsOwner="true"', 'IsOwner="false"')
  expect(await open().read('one.com')).toBeNull()
  double.rewritten = xml => xml.replace('Name="one.com"', 'Name="a b.com"')
  expect(await failureOf(open().list(null))).toBe('invalid_response')
  double.rewritten = xml => xml.replace('AvailableBalance="41.20"', 'AvailableBalance="4e1"')
  expect(await failureOf(open().check())).toBe('invalid_response')
})
