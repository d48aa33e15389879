import { afterAll, beforeAll, expect, test } from 'bun:test'
import { desec } from '../../src/features/dns/providers/desec'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { DesecDouble } from '../support/desec'
import { desecUnderTest } from '../support/desec-under-test'
import { driftContract, troubleContract } from '../support/drift-contract'
import { hubContract } from '../support/hub-contract'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'

const double = await new DesecDouble().start()
afterAll(() => double.stop())

// The contracts send requests without pauses, and their clock stands still.
const { pace } = desec.caps
beforeAll(() => void delete desec.caps.pace)
afterAll(() => void (desec.caps.pace = pace!))

for (const contract of [hubContract, driftContract, troubleContract]) contract('desec', async () => desecUnderTest(double))

const settings = { api_token: double.token, base_url: double.url }
const minute = 60_000

/** A zone of the hub at deSEC, in sync. */
async function hosted(name: string, minimumTtl?: number) {
  const w = await world()
  const there = double.domain(name, minimumTtl)
  const account = await w.acme.call('POST', '/v1/dns/providers', { kind: 'desec', name: 'deSEC', settings })
  const zone = await createZone(w.acme, name, { provider_id: account.body.id })
  await w.settle()
  const path = `/v1/dns/zones/${zone.id}`
  await w.acme.call('POST', `${path}/adopt`, { all: true })
  await w.settle()
  const call = async (method: string, below: string, body?: object) => (await w.acme.call(method, path + below, body)).body
  return {
    w,
    there,
    account,
    call,
    target: async () => (await call('GET', '')).sync.targets[0],
    async put(record: string, ttl: number, content: string) {
      await call('PUT', '/rrsets', { rrsets: [{ name: record, type: 'A', ttl, records: [{ content }] }] })
      await w.settle()
    },
    shown: () => there.rrsets.filter(one => one.type === 'A').map(one => [one.subname, one.ttl, ...one.records]),
  }
}

/** Lets minutes pass, with the polls that are due in them. */
async function later(w: World, minutes: number): Promise<void> {
  for (let n = 0; n < minutes; n++) {
    w.clock.advance(minute)
    await readDueTargets(w.hub)
    await w.settle()
  }
}

test('an account at deSEC is stored and checked, and its token is neither shown nor sent to another address', async () => {
  const { acme, settle } = await world()
  const created = await acme.call('POST', '/v1/dns/providers', { kind: 'desec', name: 'deSEC', settings })
  expect([created.status, created.body.settings, created.body.secrets_set]).toEqual([
    201,
    { base_url: double.url },
    ['api_token'],
  ])
  await settle()
  const path = `/v1/dns/providers/${created.body.id}`
  const checked = await acme.call('GET', path)
  expect(checked.body).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^deSEC account dns@example.com: \d+ zones$/) })
  for (const answer of [created, checked, await acme.call('GET', '/v1/audit-events')])
    expect(answer.text).not.toContain(double.token)
  const edited = await acme.call('PATCH', path, { settings: { base_url: 'https://elsewhere.example/api/v1' } })
  expect([edited.status, edited.body.errors[0].pointer]).toEqual([422, '#/settings/api_token'])
  const kinds = (await acme.call('GET', '/v1/dns/provider-kinds')).body.data
  expect(kinds.find((one: any) => one.kind === 'desec')).toMatchObject({ title: 'deSEC', capabilities: { min_ttl: 3600 } })
})

test('TTLs are raised to the minimum of the zone, in plans too', async () => {
  const usual = await hosted('usual.example')
  await usual.put('www', 300, '192.0.2.1')
  expect(usual.shown()).toEqual([['www', 3600, '192.0.2.1']])
  expect((await usual.call('POST', '/plan', {})).targets[0].ops).toEqual([])

  const { call, w, there, put, shown } = await hosted('short.example', 60)
  await call('PATCH', '', { apply: 'manual' })
  await put('www', 300, '192.0.2.1')
  const plan = await call('POST', '/plan', {})
  expect(plan.targets[0].ops).toMatchObject([{ name: 'www', after: { ttl: 300 } }])
  await call('POST', '/apply', { plan_id: plan.id, hash: plan.hash })
  await w.settle()
  expect(shown()).toEqual([['www', 300, '192.0.2.1']])
  // deSEC no longer grants it. What is there stays.
  there.minimumTtl = 900
  await call('POST', '/refresh', {})
  await w.settle()
  expect((await call('POST', '/plan', {})).targets[0].ops).toEqual([])
  await put('www', 300, '192.0.2.2')
  expect((await call('POST', '/plan', {})).targets[0].ops).toMatchObject([{ name: 'www', after: { ttl: 900 } }])
})

test('polls of all zones share one request an hour, and changes of others are found', async () => {
  const { w, there, account, call, target } = await hosted('one.example')
  for (const name of ['two.example', 'three.example']) {
    double.domain(name)
    await createZone(w.acme, name, { provider_id: account.body.id })
  }
  await w.settle()
  // The first polls end what the first syncs left open.
  await later(w, 75)
  const { serial } = await target()
  double.requests.splice(0)
  await later(w, 66)
  const paths = double.requests.map(one => one.path)
  expect(paths.filter(path => path.includes('example'))).toEqual([])
  expect((await target()).serial).toBe(serial)
  there.patch([{ subname: 'theirs', type: 'A', ttl: 3600, records: ['192.0.2.7'] }])
  await later(w, 75)
  expect((await target()).serial).toBeGreaterThan(serial)
  expect((await call('GET', '/drift')).rrsets.map((one: any) => one.name)).toContain('theirs')
})

test('a spent quota of changes is shown as the time when they are applied again', async () => {
  const { w, target, put, shown } = await hosted('quota.example')
  double.isThrottled = true
  const start = w.clock.now()
  double.now = () => w.clock.now()
  try {
    // deSEC allows 300 changes a day. Others have used them.
    for (let n = 0; n < 300; n++) {
      double.now = () => start + n * minute
      await fetch(`${double.url}/domains/quota.example/rrsets/`, {
        method: 'PATCH',
        headers: { authorization: `Token ${double.token}`, 'content-type': 'application/json' },
        body: '[]',
      })
    }
    double.now = () => w.clock.now()
    w.clock.advance(300 * minute)
    await w.settle()
    await put('www', 3600, '192.0.2.1')
    expect(await target()).toMatchObject({ state: 'pending', throttled_until: new Date(start + 24 * 60 * minute).toISOString() })
    await later(w, 60)
    await put('www', 3600, '192.0.2.2')
    expect(shown()).toEqual([])
    w.clock.advance(start + 24 * 60 * minute - w.clock.now())
    await later(w, 1)
    expect(await target()).toMatchObject({ state: 'synced', throttled_until: null })
    expect(shown()).toEqual([['www', 3600, '192.0.2.2']])
  } finally {
    double.isThrottled = false
  }
})
