import { expect, test } from 'bun:test'
import type { CheckResult } from '../../src/checks/check'
import { monitors } from '../../src/features/monitors/tables'
import { addMonitor } from '../support/monitor-series'
import { world } from '../support/world'
import {
  bad,
  watched,
  say,
  awake,
  restart,
  rowOf,
  statusOf,
  incidentsOf,
  transitionsOf,
  dataOf,
} from '../support/watched-monitors'

test('a new monitor is sent to the engine immediately, and is up after its first success', async () => {
  const w = await world()
  const id = await watched(w)
  expect(w.engine.specs.get(id)).toMatchObject({
    revision: 1,
    type: 'http',
    target: 'https://shop.example.com/',
    domain_expires_at: null,
    confirmed_status: 'new',
  })
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect([await transitionsOf(w, id), await w.audited(), await w.emitted()]).toEqual([['new up'], ['monitor.begin'], []])
})

test('the last result has the same phases as the list of results', async () => {
  const w = await world()
  const id = await watched(w)
  const took = { dns: 0.5843870000098832, connect: null, tls: 30.24999, first_byte: 41.96, total: 70.3499 }
  await say(w, id, { phases: took })
  const { last_result } = (await w.acme.call('GET', `/v1/monitors/${id}`)).body
  expect(last_result).toMatchObject({
    latency_ms: 70.3,
    phases: { dns_ms: 0.6, connect_ms: null, tls_ms: 30.2, first_byte_ms: 42 },
  })
  expect(last_result.phases).not.toHaveProperty('total')
})

test('an outage is one incident with evidence, one alert and one recovery with the downtime from the first failure', async () => {
  const w = await world()
  const id = await watched(w, { confirm: 3 })
  await say(w, id, {})
  await w.audited()
  const failedAt = w.clock.now()
  await say(w, id, bad, bad)
  expect([await statusOf(w, id), await incidentsOf(w)]).toEqual(['up', []])
  await say(w, id, bad, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await addMonitor(w.hub, w.acme.workspaceId, { name: 'a', status: 'degraded' })
  expect((await w.acme.call('GET', '/v1/monitors?sort=status')).body.data[0].id).toBe(id)
  const [incident, ...others] = await incidentsOf(w)
  expect(others).toEqual([])
  expect(incident).toMatchObject({
    status: 'open',
    severity: 'critical',
    started_at: new Date(failedAt).toISOString(),
    confirmed_at: new Date(failedAt + 2000).toISOString(),
    cause: expect.stringContaining('503'),
    locations: ['local'],
  })
  const { body: whole } = await w.acme.call('GET', `/v1/incidents/${incident.id}`)
  expect(whole.evidence).toMatchObject({ status: 503, body: 'Service Unavailable' })
  expect(await w.audited()).toEqual(['incident.open', 'monitor.fail'])
  expect(await w.emitted()).toEqual(['monitor.alert'])
  expect(await dataOf(w, 'monitor.alert')).toMatchObject([
    {
      kind: 'monitor.down',
      status: 'down',
      previous_status: 'up',
      monitor: { id, name: 'shop', type: 'http' },
      incident: { id: incident.id, status: 'open' },
    },
  ])

  await w.advance(60_000)
  const upAt = w.clock.now()
  await say(w, id, {}, {}, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await incidentsOf(w)).toMatchObject([{ id: incident.id, status: 'resolved' }])
  expect(await w.audited()).toEqual(['incident.resolve', 'monitor.recover'])
  expect(await w.emitted()).toEqual(['monitor.recovered'])
  const [recovery] = await dataOf(w, 'monitor.recovered')
  expect(recovery).toMatchObject({ previous_status: 'down', incident: { id: incident.id, status: 'resolved' } })
  // The second success confirms the recovery.
  expect(recovery.downtime_seconds).toBe((upAt + 1000 - failedAt) / 1000)
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up down', 'down up'])
})

test('results of a check that was running while the monitor was updated, paused, or deleted are dropped', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const old = w.engine.result({ monitor: id, ...bad })
  expect((await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })).status).toBe(200)
  await w.settle()
  expect(w.engine.specs.get(id)).toMatchObject({ revision: 2, target: 'https://new.example.com/' })
  for (let n = 0; n < 3; n++) w.engine.reportAll([old])
  await w.settle()
  expect(await statusOf(w, id)).toBe('up')
  const found = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('POST', `/v1/monitors/${id}/pause`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.reportAll([found, found, found])
  await w.settle()
  expect(await statusOf(w, id)).toBe('paused')
  await w.acme.call('POST', `/v1/monitors/${id}/resume`)
  await w.settle()
  const last = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('DELETE', `/v1/monitors/${id}`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.reportAll([last, last, last])
  await w.settle()
  expect([await incidentsOf(w), await w.emitted()]).toEqual([[], []])
})

test('after an update the status is kept until the first result, and one success is enough', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })
  await w.settle()
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await w.emitted()).toEqual(['monitor.alert', 'monitor.recovered'])
})

test('a monitor without results becomes unknown, never down, and up with the next success', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  await w.audited()
  await awake(w, 170_000)
  expect(await statusOf(w, id)).toBe('up')
  await awake(w, 20_000)
  expect(await statusOf(w, id)).toBe('unknown')
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect([await w.audited(), await w.emitted()]).toEqual([['monitor.lose_contact', 'monitor.begin'], []])
})

test('nothing goes down while the location is impaired', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  w.engine.pulse({ impaired: 'No resolver answers.' })
  await say(w, id, bad, bad, bad)
  expect(await statusOf(w, id)).toBe('up')
  expect((await w.anonymous.call('GET', '/readyz')).body.checks.monitoring).toEqual({
    status: 'degraded',
    detail: 'Check results of this hub are being discarded: No resolver answers.',
  })
  await awake(w, 180_000)
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('unknown')
  w.engine.pulse()
  await say(w, id, {})
  expect([await statusOf(w, id), await incidentsOf(w)]).toEqual(['up', []])
})

test('an even split between locations causes no flapping', async () => {
  const w = await world()
  const id = await watched(w)
  await w.hub.store.transact(tx => tx.update(monitors).set({ locations: ['local', 'far'], recoverySeconds: 60 }))
  await restart(w)
  const far = (more: Partial<CheckResult>) => w.monitoring.acceptResults('far', [w.engine.result({ monitor: id, ...more })])
  far({})
  await say(w, id, {})
  expect((await rowOf(w, id)).status).toBe('up')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  expect([(await rowOf(w, id)).status, await w.emitted()]).toEqual(['degraded', ['monitor.alert']])
  for (let n = 0; n < 2; n++) {
    far(bad)
    await say(w, id, bad)
  }
  expect((await rowOf(w, id)).status).toBe('down')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  // The recovery time is not over.
  expect((await rowOf(w, id)).status).toBe('down')
  expect((await dataOf(w, 'monitor.alert')).map(one => one.kind)).toEqual(['monitor.degraded', 'monitor.down'])
})

test('a monitor expands its incident, and an event its monitor', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const shown = async () => (await w.acme.call('GET', `/v1/monitors/${id}?expand=incident`)).body.expanded.incident
  expect(await shown()).toBeNull()
  await say(w, id, bad, bad)
  const [incident] = await incidentsOf(w)
  expect(await shown()).toEqual(incident)
  const listed = await w.acme.call('GET', '/v1/monitors?expand=incident')
  expect(listed.body.data.map((one: any) => one.expanded.incident.id)).toEqual([incident.id])
  const { body } = await w.acme.call('GET', '/v1/events?kind=monitor.alert&expand=resource')
  expect(body.data[0].expanded.resource).toMatchObject({ id, name: 'shop', status: 'down' })
  await say(w, id, {}, {})
  expect(await shown()).toBeNull()
})

test('a monitor whose certificate expires soon is degraded after one result', async () => {
  const w = await world()
  const id = await watched(w)
  const error = { kind: 'condition', message: 'Certificate expires in 10d, less than 14d' } as const
  const failed = (condition: string) => [{ level: 'degraded' as const, index: 0, condition, found: condition }]
  await say(w, id, { status: 'degraded', error, conditions: failed('[RESPONSE_TIME] > 500') })
  expect(await statusOf(w, id)).toBe('up')
  await say(w, id, { status: 'up' })
  for (const condition of ['[CERTIFICATE_EXPIRATION] < 14d', '14d > [CERTIFICATE_EXPIRATION]', '[DOMAIN_EXPIRATION] < 30d']) {
    await say(w, id, { status: 'up' }, { status: 'up' })
    expect(await statusOf(w, id)).toBe('up')
    await say(w, id, { status: 'degraded', error, conditions: failed(condition) })
    expect(await statusOf(w, id)).toBe('degraded')
  }
})

test('a monitor that goes from down to degraded has its incident downgraded and reported once', async () => {
  const w = await world()
  const id = await watched(w)
  const slow = { status: 'degraded', error: { kind: 'condition', message: 'It is slow.' } } as const
  await say(w, id, { status: 'up' }, bad, bad)
  await w.emitted()
  const [incident] = (await w.acme.call('GET', '/v1/incidents?status=open')).body.data
  expect(incident).toMatchObject({ severity: 'critical' })
  await say(w, id, slow, slow)
  expect(await statusOf(w, id)).toBe('degraded')
  expect((await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body).toMatchObject({
    status: 'open',
    severity: 'warning',
    cause: 'It is slow.',
  })
  // An improvement must not page anyone.
  expect(await w.emitted()).toEqual([])
  await say(w, id, bad, bad)
  expect(await w.emitted()).toEqual(['monitor.alert'])
  await say(w, id, { status: 'up' }, { status: 'up' })
  expect(await w.emitted()).toEqual(['monitor.recovered'])
  const { timeline } = (await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body
  expect(timeline.map((one: any) => one.kind).filter((kind: string) => !/notif/.test(kind))).toEqual([
    'opened',
    'improved',
    'worsened',
    'resolved',
  ])
})
