import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { cloudScene, proxmoxScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { ed25519KeyPair } from '../support/ssh-server'
import { world } from '../support/world'

setDefaultTimeout(30_000)

const gib = 2 ** 30

/** Accounts at doubles of all clouds, and two servers that were found at Hetzner. */
async function scene() {
  const here = await world()
  const hetzner = await cloudScene(here)
  for (const name of ['web-1', 'web-2']) hetzner.double.addServer({ name })
  await here.advance(60_000)
  const [web, other] = [await hetzner.named('web-1'), await hetzner.named('web-2')]
  let keys = 0
  const call = (method: string, path: string, body?: object) =>
    here.acme.call(method, `/v1${path}`, body, { 'Idempotency-Key': `key-${++keys}` })
  const incus = await incusScene(here)
  const proxmox = await proxmoxScene(here)
  return {
    ...{ here, call, hetzner, web, other, incus, proxmox },
    act: (id: string, action: string, params: object = {}) => call('POST', `/servers/${id}/actions`, { action, params }),
    volume: (fields: object) =>
      call('POST', '/volumes', { name: 'a', account_id: hetzner.account.id, size_bytes: 10 * gib, location: 'fsn1', ...fields }),
    policy: (fields: object) =>
      call('POST', '/snapshot-policies', {
        ...{ name: 'nightly', server_ids: [web.id], schedule: { cron: '0 3 * * *', timezone: 'UTC' } },
        ...{ keep: { last: 1, hourly: 0, daily: 0, weekly: 0, monthly: 0 }, ...fields },
      }),
  }
}
let s: Awaited<ReturnType<typeof scene>>
beforeEach(async () => {
  s = await scene()
})

type Answer = Promise<{ status: number; body: any; text: string }>
/** The field and code of each error. Refused input creates nothing. */
const refusal = async (answer: Answer) => {
  const { status, body, text } = await answer
  if (status !== 422) throw new Error(text)
  return body.errors.map((one: any) => `${one.pointer} ${one.code}`)
}
const detailOf = async (answer: Answer): Promise<string> => (await answer).body.errors[0].detail

test('names that a cloud would refuse', async () => {
  const rules = {
    hetzner: (name: string) => s.hetzner.create(name),
    incus: (name: string) => s.incus.call('POST', '/servers', s.incus.order(name)),
    proxmox: (name: string) =>
      s.call('POST', '/servers', {
        ...{ name, account_id: s.proxmox.accountId, image: '9000' },
        size: { cores: 1, memory_bytes: gib, disk_bytes: 16 * gib },
      }),
  }
  for (const [kind, name, rule] of [
    ['hetzner', 'a b', 'hostname'],
    ['hetzner', '-a', 'hostname'],
    ['hetzner', 'a_b', 'hostname'],
    ['incus', 'a.b', 'start with a letter'],
    ['incus', '1a', 'start with a letter'],
    ['incus', 'a'.repeat(64), '1 to 63'],
    ['proxmox', 'a_b', 'DNS name'],
    ['proxmox', 'a.', 'DNS name'],
  ] as const) {
    expect([kind, name, await refusal(rules[kind](name))]).toEqual([kind, name, ['#/name format']])
    expect(await detailOf(rules[kind](name))).toContain(rule)
  }
  expect(await refusal(s.act(s.web.id, 'rename', { name: 'a b' }))).toEqual(['#/params/name format'])
  expect(await refusal(s.act(s.incus.id, 'rename', { name: 'a.b' }))).toEqual(['#/params/name format'])
  expect(await refusal(s.volume({ name: 'a b' }))).toEqual(['#/name format'])
  expect(
    await refusal(s.incus.call('POST', '/volumes', { name: 'a_b', account_id: s.incus.account.id, size_bytes: gib })),
  ).toEqual(['#/name format'])
})

test('sizes, locations, and images that do not exist, with those that do', async () => {
  const order = (fields: object) => s.hetzner.create('a', fields)
  const atIncus = (fields: object) => s.incus.call('POST', '/servers', s.incus.order('a', fields))
  const sizes = 'Sizes in fsn1: cpx11, cax11, ccx13, cx22, cx32, cx42.'
  expect(await detailOf(order({ size: 'cx1' }))).toBe(`There is no size cx1. ${sizes}`)
  const places = 'Locations: fsn1, nbg1, hel1, ash.'
  expect(await refusal(order({ location: 'moon' }))).toEqual(['#/location not_found'])
  expect(await detailOf(order({ location: 'moon' }))).toBe(`There is no location moon. ${places}`)
  expect(await detailOf(order({ fallback_locations: ['moon'] }))).toBe(`There is no location moon. ${places}`)
  expect(await detailOf(s.volume({ location: 'moon', max_monthly_price: '5', currency: 'EUR' }))).toContain(places)
  expect(await refusal(atIncus({ location: 'moon' }))).toEqual(['#/location not_found'])
  expect(await detailOf(atIncus({ location: 'moon' }))).toContain('has no locations')
  expect(await detailOf(order({ image: 'debian-0' }))).toContain('debian-12')
  expect(await detailOf(s.act(s.web.id, 'rebuild', { image: 'debian-0' }))).toContain('debian-12')
  s.hetzner.double.console.powerOff(s.hetzner.double.serverNamed('web-1')!)
  await s.here.advance(60_000)
  const resize = (size: unknown) => s.act(s.web.id, 'resize', { size, max_monthly_price: '50', currency: 'EUR' })
  expect(await refusal(resize('cx1'))).toEqual(['#/params/size not_found'])
  expect(await detailOf(resize('cx1'))).toContain('cx32')
  expect(await refusal(resize({ cores: 1, memory_bytes: gib, disk_bytes: gib }))).toEqual(['#/params/size type'])
  expect(await refusal(atIncus({ size: 'cx22' }))).toEqual(['#/size type'])
  // Each number is named.
  const tooLarge = { cores: 1e9, memory_bytes: gib, disk_bytes: 1e18 }
  expect(await refusal(atIncus({ size: tooLarge }))).toEqual(['#/size/cores out_of_range', '#/size/disk_bytes out_of_range'])
  // They can no longer be ordered there.
  const type = s.hetzner.double.project.serverType('cx22')
  for (const one of type.locations.filter((each: any) => each.name === 'fsn1'))
    one.deprecation = { announced: '2026-01-01T00:00:00Z', unavailable_after: '2026-02-01T00:00:00Z' }
  await s.call('GET', `/cloud-accounts/${s.hetzner.account.id}/sizes?refresh=true`)
  expect(await detailOf(order({ size: 'cx22' }))).toContain('cx22 can no longer be ordered in fsn1. Sizes in fsn1: ')
})

test('prices without a currency, or that are none', async () => {
  const missing = ['#/currency required']
  const price = { max_monthly_price: '5' }
  expect(await refusal(s.hetzner.create('a', { currency: undefined }))).toEqual(missing)
  expect(await refusal(s.hetzner.create('a', { currency: undefined, provision: false }))).toEqual(missing)
  expect(await refusal(s.incus.call('POST', '/servers', s.incus.order('a', price)))).toEqual(missing)
  expect(await refusal(s.volume(price))).toEqual(missing)
  expect(await refusal(s.policy(price))).toEqual(missing)
  expect(await refusal(s.call('POST', '/snapshots', { server_id: s.web.id, name: 'a', ...price }))).toEqual(missing)
  for (const [action, params] of [
    ['snapshot', { name: 'a' }],
    ['enable_backups', {}],
  ] as const)
    expect([action, await refusal(s.act(s.web.id, action, { ...params, ...price }))]).toEqual([
      action,
      ['#/params/currency required'],
    ])
  const policy = (await s.policy({})).body
  expect(await refusal(s.call('PATCH', `/snapshot-policies/${policy.id}`, price))).toEqual(missing)
  const dry = await s.hetzner.create('a', { currency: undefined }, '?dry_run=true')
  expect(dry.body.problems.map((one: any) => one.pointer)).toEqual(['#/currency'])
  const spend = { spend: { monthly_cap: '5', confirm_above: '0', currency: null } }
  expect(await refusal(s.call('PATCH', `/cloud-accounts/${s.hetzner.account.id}`, spend))).toEqual(['#/spend/currency required'])
  expect(await refusal(s.hetzner.create('a', { currency: 'USD' }))).toEqual(['#/currency currency'])
  expect(await refusal(s.hetzner.create('a', { currency: 'euro' }))).toEqual(['#/currency pattern'])
  for (const amount of ['5,00', '-1', '1e3', '5.1234567', ''])
    expect(await refusal(s.hetzner.create('a', { max_monthly_price: amount }))).toEqual(['#/max_monthly_price pattern'])
})

test('label selectors that can’t be read, and labels that can’t be stored', async () => {
  for (const selector of ['a==b', '!a=b', 'a,,b', '=', 'a b']) {
    const field = ['#/label_selector format']
    expect(await refusal(s.call('POST', '/firewalls', { name: 'x', rules: [], label_selector: selector }))).toEqual(field)
    expect(await refusal(s.policy({ label_selector: selector }))).toEqual(field)
    for (const list of ['servers', 'volumes', 'firewalls']) {
      const { status, body } = await s.call('GET', `/${list}?label_selector=${encodeURIComponent(selector)}`)
      expect([status, body.errors[0].pointer]).toEqual([400, '#/query/label_selector'])
    }
    const account = { import: { mode: 'selector', label_selector: selector } }
    const patched = s.call('PATCH', `/cloud-accounts/${s.hetzner.account.id}`, account)
    expect(await refusal(patched)).toEqual(['#/import/label_selector format'])
  }
  expect(await refusal(s.hetzner.create('a', { labels: { bailiwick: 'srv_x' } }))).toEqual(['#/labels/bailiwick pattern'])
  expect(await refusal(s.hetzner.create('a', { labels: { role: 'a b' } }))).toEqual(['#/labels/role pattern'])
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`k${n}`, 'v']))
  expect(await refusal(s.hetzner.create('a', { labels: many }))).toEqual(['#/labels too_many'])
})

test('private keys, and user data of more than 32 KiB', async () => {
  const { private: key } = ed25519KeyPair()
  expect(await refusal(s.call('POST', '/ssh-keys', { name: 'x', public_key: key }))).toEqual(['#/public_key private_key'])
  expect(await refusal(s.hetzner.create('a', { ssh_keys: [key] }))).toEqual(['#/ssh_keys/0 private_key'])
  expect(await refusal(s.hetzner.create('a', { user_data: 'x'.repeat(32 * 1024 + 1) }))).toEqual(['#/user_data too_long'])
  // Bytes count.
  expect(await refusal(s.hetzner.create('a', { user_data: 'é'.repeat(20_000) }))).toEqual(['#/user_data too_long'])
  const user_data = 'é'.repeat(20_000)
  expect(await refusal(s.act(s.web.id, 'rebuild', { image: 'debian-12', user_data }))).toEqual(['#/params/user_data too_long'])
})

test('snapshots of other servers, and volumes in other locations', async () => {
  const price = { max_monthly_price: '5', currency: 'EUR' }
  await s.hetzner.finish((await s.act(s.web.id, 'snapshot', { name: 'one', ...price })).body.id)
  const [{ id: snapshot_id }] = (await s.call('GET', '/snapshots')).body.data
  const restore = (id: string) => s.act(s.other.id, 'restore_snapshot', { snapshot_id: id, safety_snapshot: false })
  expect(await refusal(restore(snapshot_id))).toEqual(['#/params/snapshot_id not_found'])
  expect(await detailOf(restore(snapshot_id))).toContain('not a snapshot of this server')
  expect(await refusal(restore('snap_01k3z9a1b2c3d4e5f6g7h8j9km'))).toEqual(['#/params/snapshot_id not_found'])
  const far = (await s.volume({ name: 'far', location: 'nbg1', ...price })).body
  await s.hetzner.finish(far.action_id)
  const attach = s.call('POST', `/volumes/${far.id}/actions`, { action: 'attach', params: { server_id: s.web.id } })
  expect(await refusal(attach)).toEqual(['#/params/server_id location'])
  expect(await refusal(s.hetzner.create('a', { volume_ids: [far.id] }))).toEqual(['#/volume_ids/0 location'])
  const fallback = { location: 'nbg1', fallback_locations: ['fsn1'], volume_ids: [far.id] }
  expect(await refusal(s.hetzner.create('a', fallback))).toEqual(['#/fallback_locations/0 location'])
  const elsewhere = s.incus.call('POST', '/servers', s.incus.order('a', { volume_ids: [far.id] }))
  expect(await refusal(elsewhere)).toEqual(['#/volume_ids/0 account'])
}, 180_000)

describe('a certificate that changed', () => {
  const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')
  const loopback = new X509Certificate(fixture('loopback.pem')).fingerprint256
  const expected = 'ab'.repeat(32)

  test('lets the account fail, and names the fingerprint that was seen', async () => {
    const seen = loopback.replaceAll(':', '').toLowerCase()
    const client = { client_certificate: fixture('client.pem'), client_key: fixture('client.key') }
    for (const [id, secrets] of [
      [s.incus.account.id, client],
      [s.proxmox.accountId, { token_secret: s.proxmox.double.secret }],
    ] as const) {
      const path = `/cloud-accounts/${id}`
      const before = (await s.call('GET', path)).body
      expect(before.state).toBe('ok')
      const { status, text } = await s.call('PATCH', path, { settings: { fingerprint: expected, ...secrets } })
      if (status !== 200) throw new Error(text)
      await s.here.settle()
      await s.call('POST', `${path}/check`)
      const { state, last_error: error } = (await s.call('GET', path)).body
      expect([before.kind, state, error.code]).toEqual([before.kind, 'failing', 'unreachable'])
      expect(error.detail).toContain(seen)
    }
  })
})
