import { expect, test } from 'bun:test'
import { world } from '../support/world'
import {
  bad,
  watched,
  say,
  awake,
  rowOf,
  rowsOf,
  statusOf,
  incidentsOf,
  transitionsOf,
  dataOf,
} from '../support/watched-monitors'

test('a monitor whose dependency is down opens no incident, unless the dependency recovers without it', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  await say(w, router, {})
  await say(w, shop, {})
  await say(w, router, bad, bad)
  await say(w, shop, bad, bad, bad)
  expect([await statusOf(w, router), await statusOf(w, shop)]).toEqual(['down', 'down'])
  expect(await incidentsOf(w)).toHaveLength(1)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router])
  await say(w, router, {}, {})
  await w.advance(1000)
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [shop] })
  await say(w, shop, bad)
  await w.advance(1000)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router, shop])
  await say(w, shop, {}, {})
  expect((await dataOf(w, 'monitor.recovered')).map(one => one.monitor.id)).toEqual([router, shop])
})

test('the status of a group follows from its members', async () => {
  const w = await world()
  const members = [await watched(w, { name: 'one' }), await watched(w, { name: 'two' })]
  const created = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'both', options: { members, rule: 'all' } })
  expect(created.status).toBe(201)
  const group = created.body.id
  await w.settle()
  expect(w.engine.specs.has(group)).toBe(false)
  for (const id of members) await say(w, id, {})
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('up')
  await say(w, members[0]!, bad, bad)
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('degraded')
  await say(w, members[1]!, bad, bad)
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('down')
  for (const id of members) await say(w, id, {}, {})
  await w.advance(1000)
  expect(await statusOf(w, group)).toBe('up')
})

test('a group of monitors behind a flapping router sends no alerts and does not flap', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const members = [
    await watched(w, { name: 'one', depends_on: [router] }),
    await watched(w, { name: 'two', depends_on: [router] }),
  ]
  const options = { members, rule: 'percent', percent: 50 }
  const created = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'LAN', options })
  await w.settle()
  const all = [router, ...members]
  for (const id of all) await say(w, id, {})
  await w.advance(1000)
  for (let round = 0; round < 4; round++) {
    for (const id of all) {
      await say(w, id, bad, bad)
      await awake(w, 10_000)
    }
    expect([await statusOf(w, members[1]!), await statusOf(w, created.body.id)]).toEqual(['down', 'down'])
    for (const id of all) await say(w, id, {}, {})
    await awake(w, 60_000)
    expect(await statusOf(w, created.body.id)).toBe('up')
  }
  expect(new Set((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id))).toEqual(new Set([router]))
  const [incident, ...more] = await incidentsOf(w)
  expect(more).toEqual([])
  const flapping = (await rowsOf(w)).filter(row => row.state.flapping).map(row => row.name)
  expect(flapping).toEqual(['router'])
  const affected = (await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body.monitors.map((one: any) => one.name)
  expect(affected.toSorted()).toEqual(['LAN', 'one', 'router', 'two'])
})

test('flapping is reported once, and single status changes are not', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 1, recover: 1 })
  await say(w, id, {})
  await w.audited()
  for (let n = 0; n < 12; n++) {
    w.engine.report({ monitor: id, ...bad })
    await w.advance(60_000)
    w.engine.report({ monitor: id })
    await w.advance(60_000)
  }
  const audited = await w.audited()
  expect(audited.filter(one => one === 'monitor.flap')).toHaveLength(1)
  expect((await w.emitted()).length).toBeLessThan(12)
})

test('alerts are suppressed in a maintenance window, and sent if still down an interval after it', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const created = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'upgrade',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: new Date(w.clock.now() + 60_000).toISOString().slice(0, 19),
    duration_seconds: 600,
    targets: { monitors: [id] },
  })
  expect(created.status).toBe(201)
  await w.audited()
  await w.advance(61_000)
  expect([await statusOf(w, id), await w.audited()]).toEqual(['maintenance', ['monitor.enter_maintenance']])
  const failedAt = w.clock.now()
  await say(w, id, bad, bad, bad)
  expect([await statusOf(w, id), await w.emitted()]).toEqual(['maintenance', []])
  for (let n = 0; n < 10; n++) {
    await w.advance(59_000)
    await say(w, id, bad)
  }
  expect([await statusOf(w, id), await w.emitted()]).toEqual(['down', []])
  await awake(w, 62_000)
  expect(await w.emitted()).toEqual(['monitor.alert'])
  expect(await incidentsOf(w)).toMatchObject([{ started_at: new Date(failedAt).toISOString() }])
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up maintenance', 'maintenance down'])
  const { data } = (await w.acme.call('GET', `/v1/monitors/${id}/transitions`)).body
  const fell = data.find((one: any) => one.to === 'down')
  expect(fell.incident_id).toBe((await incidentsOf(w))[0].id)
})

test('a manually started window for a group covers its members immediately', async () => {
  const w = await world()
  const id = await watched(w)
  const group = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'all', options: { members: [id], rule: 'any' } })
  await say(w, id, {})
  const targets = { groups: [group.body.id] }
  const created = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'manual',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets,
  })
  expect(created.status).toBe(201)
  expect((await w.acme.call('POST', `/v1/maintenance-windows/${created.body.id}/start`)).status).toBe(200)
  await w.settle()
  expect([await statusOf(w, id), await statusOf(w, group.body.id)]).toEqual(['maintenance', 'maintenance'])
  expect((await w.acme.call('POST', `/v1/maintenance-windows/${created.body.id}/stop`)).status).toBe(200)
  await w.settle()
  expect(await statusOf(w, id)).toBe('up')
})

test('a failure is reported immediately if the dependency was just confirmed as up', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  await say(w, router, {})
  await say(w, shop, {})
  await w.advance(30_000)
  await say(w, shop, bad, bad)
  // Suppressed until its dependency was checked.
  expect([await statusOf(w, shop), await w.emitted()]).toEqual(['down', []])
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [router] })
  await say(w, router, {})
  await w.advance(1000)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([shop])
})

test('a failure before or during maintenance does not replace the maintenance in the history', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const created = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'manual',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets: { monitors: [id] },
  })
  await w.acme.call('POST', `/v1/maintenance-windows/${created.body.id}/start`)
  await w.settle()
  const begunAt = (await rowOf(w, id)).statusSince
  await w.advance(590_000)
  await say(w, id, bad)
  // The window ends at the moment the second failure arrives, before anything else is processed.
  w.clock.jump(600_000 - (w.clock.now() - begunAt) + 1)
  const endedAt = w.clock.now()
  w.engine.report({ monitor: id, ...bad })
  await w.settle()
  expect(await statusOf(w, id)).toBe('down')
  const row = await rowOf(w, id)
  expect(row.statusSince).toBeGreaterThanOrEqual(endedAt)
})

test('a monitor behind an affected monitor is listed on the incident that was reported', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const host = await watched(w, { name: 'host', depends_on: [router] })
  const shop = await watched(w, { name: 'shop', depends_on: [host] })
  for (const id of [router, host, shop]) await say(w, id, {})
  for (const id of [router, host, shop]) await say(w, id, bad, bad)
  await w.advance(1000)
  const [incident, ...others] = await incidentsOf(w)
  expect(others).toEqual([])
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router])
  const { body } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(body.monitors.map((one: any) => one.name).sort()).toEqual(['host', 'router', 'shop'])
})

test('an affected monitor is listed once the outage of its dependency is reported', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router', tags: ['core'] })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  for (const id of [router, shop]) await say(w, id, {})
  const created = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'manual',
    kind: 'once',
    timezone: 'UTC',
    starts_at_local: '2026-01-01T00:00:00',
    duration_seconds: 600,
    targets: { tags: ['core'] },
  })
  await w.acme.call('POST', `/v1/maintenance-windows/${created.body.id}/start`)
  await w.settle()
  await say(w, router, bad, bad)
  await say(w, shop, bad, bad)
  expect(await incidentsOf(w)).toEqual([])
  await w.acme.call('POST', `/v1/maintenance-windows/${created.body.id}/stop`)
  await awake(w, 30_000)
  await say(w, router, bad)
  await awake(w, 40_000)
  const [incident] = await incidentsOf(w)
  const { body } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(body.monitors.map((one: any) => one.name).sort()).toEqual(['router', 'shop'])
})

test('pausing a dependency immediately rechecks the monitors whose alerts it suppressed', async () => {
  const w = await world()
  const router = await watched(w, { name: 'router' })
  const shop = await watched(w, { name: 'shop', depends_on: [router] })
  for (const id of [router, shop]) await say(w, id, {})
  for (const id of [router, shop]) await say(w, id, bad, bad)
  await w.acme.call('POST', `/v1/monitors/${router}/pause`)
  await w.settle()
  await w.advance(1000)
  await w.advance(1000)
  expect(w.engine.sent.at(-1)).toMatchObject({ kind: 'run_now', monitors: [shop] })
  await say(w, shop, bad)
  expect((await dataOf(w, 'monitor.alert')).map(one => one.monitor.id)).toEqual([router, shop])
})
