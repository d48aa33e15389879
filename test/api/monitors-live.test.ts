import { expect, test } from 'bun:test'
import type { CheckResult } from '../../src/checks/check'
import { monitors } from '../../src/features/monitors/tables'
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

test('a new monitor is given to the engine at once, and is up with its first good result', async () => {
  const w = await world()
  const id = await watched(w)
  expect(w.engine.specs.get(id)).toMatchObject({ revision: 1, type: 'http', target: 'https://shop.example.com/', settled: 'new' })
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect([await transitionsOf(w, id), await w.audited(), await w.happened()]).toEqual([['new up'], ['monitor.begin'], []])
})

test('the last result tells its phases as the results do', async () => {
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
  expect(await w.happened()).toEqual(['monitor.alert'])
  expect(await dataOf(w, 'monitor.alert')).toMatchObject([
    {
      kind: 'monitor.down',
      status: 'down',
      previous_status: 'up',
      monitor: { id, name: 'shop', type: 'http' },
      incident: { id: incident.id, status: 'open' },
    },
  ])

  await w.pass(60_000)
  const upAt = w.clock.now()
  await say(w, id, {}, {}, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await incidentsOf(w)).toMatchObject([{ id: incident.id, status: 'resolved' }])
  expect(await w.audited()).toEqual(['incident.resolve', 'monitor.recover'])
  expect(await w.happened()).toEqual(['monitor.recovered'])
  const [told] = await dataOf(w, 'monitor.recovered')
  expect(told).toMatchObject({ previous_status: 'down', incident: { id: incident.id, status: 'resolved' } })
  // The second good result confirms that it is well.
  expect(told.downtime_seconds).toBe((upAt + 1000 - failedAt) / 1000)
  expect(await transitionsOf(w, id)).toEqual(['new up', 'up down', 'down up'])
})

test('results of a check that was under way while the monitor was edited, paused or deleted are dropped', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  const old = w.engine.result({ monitor: id, ...bad })
  expect((await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })).status).toBe(200)
  await w.settle()
  expect(w.engine.specs.get(id)).toMatchObject({ revision: 2, target: 'https://new.example.com/' })
  for (let n = 0; n < 3; n++) w.engine.sayAll([old])
  await w.settle()
  expect(await statusOf(w, id)).toBe('up')
  const found = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('POST', `/v1/monitors/${id}/pause`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.sayAll([found, found, found])
  await w.settle()
  expect(await statusOf(w, id)).toBe('paused')
  await w.acme.call('POST', `/v1/monitors/${id}/resume`)
  await w.settle()
  const last = w.engine.result({ monitor: id, ...bad })
  await w.acme.call('DELETE', `/v1/monitors/${id}`)
  await w.settle()
  expect(w.engine.specs.has(id)).toBe(false)
  w.engine.sayAll([last, last, last])
  await w.settle()
  expect([await incidentsOf(w), await w.happened()]).toEqual([[], []])
})

test('after an edit one good result is enough, and what it was stands until then', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {}, bad, bad)
  expect(await statusOf(w, id)).toBe('down')
  await w.acme.call('PATCH', `/v1/monitors/${id}`, { target: 'https://new.example.com/' })
  await w.settle()
  expect(await statusOf(w, id)).toBe('down')
  await say(w, id, {})
  expect(await statusOf(w, id)).toBe('up')
  expect(await w.happened()).toEqual(['monitor.alert', 'monitor.recovered'])
})

test('silence makes a monitor unknown, never down, and the next good result makes it up', async () => {
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
  expect([await w.audited(), await w.happened()]).toEqual([['monitor.lose', 'monitor.begin'], []])
})

test('while the location says that it cannot see, nothing goes down', async () => {
  const w = await world()
  const id = await watched(w)
  await say(w, id, {})
  w.engine.pulse({ impaired: 'No resolver answers.' })
  await say(w, id, bad, bad, bad)
  expect(await statusOf(w, id)).toBe('up')
  expect((await w.stranger.call('GET', '/readyz')).body.checks.monitoring).toEqual({
    status: 'degraded',
    detail: 'Results of this hub do not count at present: No resolver answers.',
  })
  await awake(w, 180_000)
  await say(w, id, bad)
  expect(await statusOf(w, id)).toBe('unknown')
  w.engine.pulse()
  await say(w, id, {})
  expect([await statusOf(w, id), await incidentsOf(w)]).toEqual(['up', []])
})

test('locations that disagree half and half do not make a monitor go to and fro', async () => {
  const w = await world()
  const id = await watched(w)
  await w.hub.store.transact(tx => tx.update(monitors).set({ locations: ['local', 'far'], recoverySeconds: 60 }))
  await restart(w)
  const far = (more: Partial<CheckResult>) => w.monitoring.take('far', [w.engine.result({ monitor: id, ...more })])
  far({})
  await say(w, id, {})
  expect((await rowOf(w, id)).status).toBe('up')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  expect([(await rowOf(w, id)).status, await w.happened()]).toEqual(['degraded', ['monitor.alert']])
  for (let n = 0; n < 2; n++) {
    far(bad)
    await say(w, id, bad)
  }
  expect((await rowOf(w, id)).status).toBe('down')
  for (let n = 0; n < 10; n++) {
    far({})
    await say(w, id, bad)
  }
  // The dwell is not over.
  expect((await rowOf(w, id)).status).toBe('down')
  expect((await dataOf(w, 'monitor.alert')).map(one => one.kind)).toEqual(['monitor.degraded', 'monitor.down'])
})

test('a monitor and an event are shown with the incident and the monitor that belong to them', async () => {
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

test('what was down and answers again, though not well, has its incident eased and told once', async () => {
  const w = await world()
  const id = await watched(w)
  const slow = { status: 'degraded', error: { kind: 'condition', message: 'It is slow.' } } as const
  await say(w, id, { status: 'up' }, bad, bad)
  await w.happened()
  const [incident] = (await w.acme.call('GET', '/v1/incidents?status=open')).body.data
  expect(incident).toMatchObject({ severity: 'critical' })
  await say(w, id, slow, slow)
  expect(await statusOf(w, id)).toBe('degraded')
  expect((await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body).toMatchObject({
    status: 'open',
    severity: 'warning',
    cause: 'It is slow.',
  })
  // Whoever pages on alerts is not paged because something gets better.
  expect(await w.happened()).toEqual([])
  await say(w, id, bad, bad)
  expect(await w.happened()).toEqual(['monitor.alert'])
  await say(w, id, { status: 'up' }, { status: 'up' })
  expect(await w.happened()).toEqual(['monitor.recovered'])
  const { timeline } = (await w.acme.call('GET', `/v1/incidents/${incident.id}`)).body
  expect(timeline.map((one: any) => one.kind).filter((kind: string) => !/notif/.test(kind))).toEqual([
    'opened',
    'eased',
    'worsened',
    'resolved',
  ])
})
