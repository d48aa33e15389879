import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { systemClock, type Clock } from '../../src/core/clock'
import { ns } from '../../src/features/registrars/kinds/epp/commands'
import { maxMessageLength } from '../../src/features/registrars/kinds/epp/frames'
import type { RegistrarError } from '../../src/features/registrars/registrar'
import { EppDoor, type EppFault } from '../support/epp-door'
import type { EppDomain } from '../support/epp-domain'
import { eppPassword, eppUser, openEpp } from '../support/epp-under-test'
import { freePort } from '../support/free-port'
import { ManualClock } from '../support/manual-clock'
import { ownCertificate } from '../support/own-certificate'
import { registrarContract } from '../support/registrar-contract'
import { RegistryDouble, type RegisteredName } from '../support/registry-double'

// What is particular to EPP. What all kinds of registrars promise is tested with the registrar contract.

const clock = new ManualClock()
let registry: RegistryDouble
let door: EppDoor
const open = (more: object = {}) => openEpp(door, clock, more)
const opened = (more: object = {}) => {
  const account = open(more)
  accounts.push(account)
  return account
}
const accounts: ReturnType<typeof open>[] = []
const failureOf = async (call: Promise<unknown>) => {
  try {
    return await call
  } catch (error) {
    const { failure, sent, vendorCode, message } = error as RegistrarError
    return { failure, sent, vendorCode, message }
  }
}
const dayMs = 86_400_000
/** Registers a name in the account. @param days until it expires */
const hold = (name: string, known: RegisteredName, days = 100): EppDomain => {
  const expires = new Date(clock.now() + days * dayMs).toISOString()
  registry.names.set(name, { expires, registrar: eppUser, ...known })
  return door.registry.domain(name)!
}
const verbs = () => door.requests.map(one => one.verb).join(' ')

/** Time limits are a fiftieth. */
const quickClock: Clock = { now: () => systemClock.now(), after: (ms, fn) => systemClock.after(ms / 50, fn) }

registrarContract('epp', async () => {
  const registry = await RegistryDouble.start()
  const door = await EppDoor.start(registry, Date.now)
  const double = {
    registry,
    registrar: eppUser,
    listedLate: new Set<string>(),
    isHalved: false,
    premium: new Set<string>(),
    settings: new Map(),
    hold(name: string, known: RegisteredName = {}) {
      registry.names.set(name, { expires: '2027-04-02T10:11:12Z', ...known, registrar: eppUser })
    },
  }
  const isTracked = (name: string) =>
    !double.listedLate.has(name) && !(double.isHalved && [...registry.names.keys()].sort().indexOf(name) % 2 === 1)
  const open = (more: object = {}) => openEpp(door, quickClock, { currency: 'USD', ...more }, isTracked)
  const trouble = (fault: EppFault) => () => void (door.fault = () => fault)
  return {
    double,
    registrar: open(),
    unauthorized: open({ password: 'wrong-password' }),
    unreachable: open({ port: await freePort() }),
    hidesAutoRenew: true,
    pageSize: 20,
    offered: { name: 'free.com', price: { minor: 1000, currency: 'USD' } },
    secrets: [eppPassword, 'wrong-password'],
    trouble: {
      throttle: trouble(2502),
      refuse: trouble(2306),
      fail: trouble(2400),
      fallSilent: trouble('silent'),
      cut: trouble('cut'),
      showPage: trouble({ raw: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n<html>') }),
      calm: () => void (door.fault = () => null),
    },
    stop() {
      door.stop()
      registry.stop()
    },
  }
})

beforeAll(async () => {
  registry = await RegistryDouble.start()
  door = await EppDoor.start(registry, clock.now)
  hold('shop.example', {})
})
afterEach(async () => {
  door.fault = () => null
  door.greeting = null
  door.clientFingerprint = null
  door.extensions = [ns.rgp, ns.secDns, ns.fee]
  for (const account of accounts.splice(0)) await account.close?.()
  door.endSessions()
  door.requests.length = 0
})
afterAll(() => {
  door.stop()
  registry.stop()
})

test('all calls of a process use one session, one after another, which ends when it is idle', async () => {
  const [one, other] = [opened(), opened()]
  const before = door.connections
  const results = await Promise.all([one.read('shop.example'), other.read('shop.example'), one.read('none.example')])
  expect(results.map(one => one?.name ?? null)).toEqual(['shop.example', 'shop.example', null])
  expect(verbs()).toBe('login info hello info hello info')
  expect(door.connections - before).toBe(1)
  expect(door.users).toEqual(['registrar-1'])
  clock.advance(10_000)
  await one.read('shop.example')
  expect(verbs()).toBe('login info hello info hello info logout login info')
  expect(door.connections - before).toBe(2)
})

test('a session that the server ended meanwhile is opened again', async () => {
  const account = opened()
  await account.read('shop.example')
  door.endSessions()
  expect((await account.read('shop.example'))?.name).toBe('shop.example')
})

test('another session with the same login means to try again later', async () => {
  door.accounts.get('registrar-1')!.maxSessions = 0
  expect(await failureOf(opened().check())).toMatchObject({ failure: 'throttled', sent: false, vendorCode: '2502' })
  door.accounts.get('registrar-1')!.maxSessions = 1
})

test('a new password is set once', async () => {
  const account = door.accounts.get('registrar-1')!
  await opened({ new_password: 'second-password' }).check()
  expect(account.password).toBe('second-password')
  door.endSessions()
  await opened({ new_password: 'second-password' }).check()
  expect(verbs()).toBe('login login poll login poll')
  account.password = 'first-password'
})

test('a client certificate is presented', async () => {
  const certificate = ownCertificate({ from: Date.parse('2020-01-01'), until: Date.parse('2099-01-01') })
  door.clientFingerprint = certificate.sha256
  expect(await failureOf(opened().check())).toMatchObject({ failure: 'unreachable', sent: false })
  const { detail } = await opened({ client_certificate: certificate.pem, client_key: certificate.key }).check()
  expect(detail).toBe('Example Registry, 0 messages in the queue')
})

test('only the pinned certificate is accepted, and the error contains the fingerprint of another one', async () => {
  const before = door.requests.length
  const unknown = await failureOf(opened({ fingerprint: undefined }).check())
  expect(unknown).toMatchObject({ failure: 'unreachable', message: expect.stringContaining(door.certificate.sha256) })
  const other = await failureOf(opened({ fingerprint: 'ab'.repeat(32) }).check())
  expect(other).toMatchObject({ failure: 'unreachable', message: expect.stringContaining(door.certificate.sha256) })
  expect(door.requests).toHaveLength(before)
})

test('a server that echoes the password does not get it into a message', async () => {
  door.fault = ({ verb }) =>
    verb === 'login' ? { message: response('<result code="2200"><msg>first-password is wrong</msg></result>') } : null
  expect(await failureOf(opened().check())).toEqual({
    failure: 'unauthorized',
    sent: false,
    vendorCode: '2200',
    message: 'The EPP server rejected the command (2200: [redacted] is wrong).',
  })
})

test('a domain that the registry hides from others is not in the account', async () => {
  for (const code of [2201, 2303]) {
    door.fault = ({ verb }) => (verb === 'info' ? code : null)
    expect(await opened().read('shop.example')).toBeNull()
  }
  expect(verbs()).toBe('login info hello info')
})

test('a response that does not come in time ends the session', async () => {
  door.fault = ({ verb }) => (verb === 'info' ? 'silent' : null)
  const reading = failureOf(opened().read('shop.example'))
  while (!door.requests.some(one => one.verb === 'info')) await Bun.sleep(1)
  clock.advance(30_000)
  expect(await reading).toMatchObject({ failure: 'timeout', sent: true })
  door.fault = () => null
  expect((await opened().read('shop.example'))?.name).toBe('shop.example')
})

const head = `<?xml version="1.0"?><epp xmlns="${ns.epp}">`
const response = (inner: string, id = '') =>
  `${head}<response>${inner}<trID>${id === '' ? '' : `<clTRID>${id}</clTRID>`}<svTRID>1</svTRID></trID></response></epp>`
const ok = '<result code="1000"><msg>ok</msg></result>'
const info = (inner: string, namespace: string = ns.domain) =>
  response(`${ok}<resData><domain:infData xmlns:domain="${namespace}">${inner}</domain:infData></resData>`)
const shop = '<domain:name>shop.example</domain:name><domain:roid>1</domain:roid><domain:clID>registrar-1</domain:clID>'
const length = (value: number) => ({ raw: Uint8Array.from([value >>> 24, value >>> 16, value >>> 8, value]) })

const hostile: [what: string, fault: EppFault, failure: string][] = [
  ['a length of 0', length(0), 'invalid_response'],
  ['a length of 3', length(3), 'invalid_response'],
  ['a length of 2^31', length(2 ** 31), 'invalid_response'],
  ['a message above the limit', length(maxMessageLength + 5), 'invalid_response'],
  ['a web page', { raw: Buffer.from('HTTP/1.1 200 OK\r\n\r\n<html></html>') }, 'invalid_response'],
  ['a truncated message', 'cut', 'incomplete'],
  ['a closed connection', 'closed', 'unreachable'],
  ['an entity', { message: `<!DOCTYPE epp [<!ENTITY a "b">]>${info(shop)}` }, 'invalid_response'],
  ['an external entity', { message: `<!DOCTYPE epp SYSTEM "http://127.0.0.1/">${info(shop)}` }, 'invalid_response'],
  ['10,000 levels', { message: `${'<a>'.repeat(10_000)}${'</a>'.repeat(10_000)}` }, 'invalid_response'],
  ['the wrong namespace of a domain', { message: info(shop, 'urn:ietf:params:xml:ns:domain-2.0') }, 'invalid_response'],
  ['the wrong namespace of EPP', { message: info(shop).replace(ns.epp, 'urn:other') }, 'invalid_response'],
  ['another domain', { message: info(shop.replace('shop.', 'other.')) }, 'invalid_response'],
  ['no data', { message: response(ok) }, 'invalid_response'],
  ['no result', { message: response('') }, 'invalid_response'],
  ['a result that is no code', { message: response('<result code="1e3"><msg>ok</msg></result>') }, 'invalid_response'],
  ['the response to another command', { message: response(ok, 'BW-other-1') }, 'invalid_response'],
  ['a greeting', { message: `${head}<greeting/></epp>` }, 'invalid_response'],
  ['octets that are not UTF-8', { raw: Uint8Array.from([0, 0, 0, 6, 0xc3, 0x28]) }, 'invalid_response'],
  ['two messages', { raw: Uint8Array.from([0, 0, 0, 5, 0x61, 0, 0, 0, 5, 0x61]) }, 'invalid_response'],
  ['a failure of the server', 2400, 'unreachable'],
  ['a closing server', 2500, 'unreachable'],
  ['a refusal by policy', 2306, 'refused'],
]
test.each(hostile)('%s is an error, and the next call works', async (_, fault, failure) => {
  door.fault = ({ verb }) => (verb === 'info' ? fault : null)
  const account = opened()
  expect(await failureOf(account.read('shop.example'))).toMatchObject({ failure })
  door.fault = () => null
  expect((await account.read('shop.example'))?.name).toBe('shop.example')
})

test.each([
  ['without domains', `<svID>x</svID><svMenu><version>1.0</version><lang>en</lang><objURI>${ns.host}</objURI></svMenu>`],
  ['of another version', `<svMenu><version>2.0</version><lang>en</lang><objURI>${ns.domain}</objURI></svMenu>`],
  ['without services', '<svID>x</svID>'],
])('a greeting %s is refused before logging in', async (_, inner) => {
  door.greeting = () => `${head}<greeting>${inner}</greeting></epp>`
  expect(await failureOf(opened().check())).toMatchObject({ failure: 'invalid_response', sent: false })
  expect(verbs()).toBe('')
})

const statuses: [statuses: string[], graces: string[], days: number, status: string][] = [
  [[], [], 1, 'active'],
  [['clientHold'], [], 1, 'suspended'],
  [['serverHold'], [], -1, 'expired'],
  [[], ['autoRenewPeriod'], 360, 'active'],
  [['pendingCreate'], [], 1, 'pending_registration'],
  [['pendingTransfer'], [], 1, 'active'],
  [['pendingDelete'], ['redemptionPeriod'], 1, 'redemption'],
  [['pendingDelete'], ['pendingRestore'], 1, 'redemption'],
  [['pendingDelete'], ['pendingDelete'], 1, 'pending_delete'],
  [['pendingDelete'], [], 1, 'pending_delete'],
]
test.each(statuses)('the statuses %p and %p mean what they should', async (statuses, graces, days, status) => {
  const domain = hold('state.example', {}, days)
  for (const one of statuses) domain.statuses.add(one)
  for (const one of graces) domain.graces.add(one)
  expect(await opened().read('state.example')).toMatchObject({ status, expiresAt: clock.now() + days * dayMs })
})

test('DS records, nameservers, and glue are read', async () => {
  const ds = { keyTag: '12345', alg: '13', digestType: '2', digest: 'AB'.repeat(32) }
  const nameservers = ['ns1.full.example', 'ns.other.example']
  hold('full.example', { nameservers, statuses: ['server transfer prohibited'] }).ds.push(ds)
  door.registry.objects.hosts.set('ns1.full.example', {
    name: 'ns1.full.example',
    sponsor: 'registrar-1',
    createdAt: 0,
    addresses: [
      { ip: '192.0.2.1', version: 'v4' },
      { ip: '2001:DB8:0:0::1', version: 'v6' },
    ],
  })
  expect(await opened().read('full.example')).toMatchObject({
    nameservers: ['ns1.full.example', 'ns.other.example'],
    ds: [{ keyTag: 12345, algorithm: 13, digestType: 2, digest: 'ab'.repeat(32) }],
    glue: [{ name: 'ns1.full.example', addresses: ['192.0.2.1', '2001:db8::1'] }],
    locked: true,
  })
  door.extensions = [ns.rgp]
  door.endSessions()
  expect(await opened().read('full.example')).toMatchObject({ ds: null })
})

test('prices are those of the fee extension, and unknown without it', async () => {
  door.registry.premium.set('gold.example', { create: 500_000, renew: 120_000, transfer: 0, restore: 0 })
  door.registry.reserved.set('taken.example', 'Reserved by the registry')
  const usd = (minor: number) => ({ minor, currency: 'USD' })
  expect(await opened().offers(['free.example', 'gold.example', 'taken.example'])).toMatchObject([
    { available: true, reason: null, price: usd(1000), renewalPrice: usd(1000), restorePrice: usd(4000), premium: false },
    { available: true, price: usd(500_000), renewalPrice: usd(120_000), premium: true },
    { available: false, reason: 'Reserved by the registry.' },
  ])
  expect(await failureOf(opened({ currency: 'EUR' }).offers(['free.example']))).toMatchObject({ failure: 'refused' })
  door.extensions = []
  door.endSessions()
  expect(await opened().offers(['free.example'])).toMatchObject([{ available: true, price: null, renewalPrice: null }])
  expect((await opened().check()).warnings).toHaveLength(1)
})
