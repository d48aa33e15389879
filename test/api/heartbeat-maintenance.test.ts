import { expect, test } from 'bun:test'
import { world, type World } from '../support/world'

const minute = 60_000

/** A heartbeat that was pinged, and a window of an hour that covers it and begins now. */
async function scene() {
  const w = await world()
  const schedule = { kind: 'period', period_seconds: 300, grace_seconds: 60 }
  const beat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule, tags: ['db'] })).body
  const ping = (rest = '') => w.app.handle(new Request(`http://localhost:8484/ping/${beat.uuid}${rest}`))
  await ping()
  const window = await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'New disks',
    kind: 'once',
    starts_at_local: new Date(w.clock.now()).toISOString().slice(0, 19),
    timezone: 'UTC',
    duration_seconds: 3600,
    targets: { tags: ['db'] },
  })
  expect(window.status).toBe(201)
  await w.watch.settled()
  const status = async () => (await w.acme.call('GET', `/v1/heartbeats/${beat.id}`)).body.status
  await w.audited()
  await w.happened()
  return { w, beat, ping, window: window.body, status }
}

const incidents = async (w: World) => (await w.acme.call('GET', '/v1/incidents')).body.data

test('what is missed within a maintenance window is told after it, once more a grace time later, from its beginning', async () => {
  const { w, status } = await scene()
  await w.pass(6 * minute)
  const downAt = w.clock.now()
  expect(await status()).toBe('down')
  expect(await w.happened()).toEqual([])
  expect(await w.audited()).toEqual(['heartbeat.miss'])
  await w.pass(54 * minute)
  await w.pass(minute - 2_000)
  expect(await incidents(w)).toEqual([])
  await w.pass(2_000)
  expect(await w.happened()).toEqual(['monitor.alert'])
  expect(await incidents(w)).toMatchObject([
    { status: 'open', started_at: new Date(downAt).toISOString(), confirmed_at: new Date(w.clock.now()).toISOString() },
  ])
  const [event] = (await w.acme.call('GET', '/v1/events')).body.data
  expect(event.data).toMatchObject({
    previous_status: 'up',
    reason: 'late',
    heartbeat: { down_at: new Date(downAt).toISOString() },
  })
})

test('what is well again by the end of the window is told neither as missed nor as recovered', async () => {
  const { w, ping, status } = await scene()
  await ping('/fail')
  await w.pass(10 * minute)
  await ping()
  expect(await status()).toBe('up')
  for (let n = 0; n < 14; n++) {
    await w.pass(5 * minute)
    await ping()
  }
  expect(await w.happened()).toEqual([])
  expect(await incidents(w)).toEqual([])
})

test('a window that is stopped early, or gone, holds back nothing any more, and one that is made longer holds on', async () => {
  const { w, ping, window } = await scene()
  await ping('/fail')
  const path = `/v1/maintenance-windows/${window.id}`
  expect((await w.acme.call('PATCH', path, { duration_seconds: 7200 })).status).toBe(200)
  await w.pass(70 * minute)
  expect(await incidents(w)).toEqual([])
  expect((await w.acme.call('POST', `${path}/stop`)).status).toBe(200)
  await w.watch.settled()
  await w.pass(59_000)
  expect(await incidents(w)).toEqual([])
  await w.pass(1_000)
  expect(await incidents(w)).toHaveLength(1)
})

test('one that was paused meanwhile is told of no more, and one that was down before recovers within the window', async () => {
  const { w, beat, ping } = await scene()
  await ping('/fail')
  await w.acme.call('POST', `/v1/heartbeats/${beat.id}/pause`)
  await w.pass(120 * minute)
  expect(await w.happened()).toEqual([])
  await ping()
  await ping('/fail')
  expect(await w.happened()).toEqual(['monitor.alert'])
  await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'Everything',
    kind: 'once',
    starts_at_local: new Date(w.clock.now()).toISOString().slice(0, 19),
    timezone: 'UTC',
    duration_seconds: 600,
    targets: { all: true },
  })
  await ping()
  expect(await w.happened()).toEqual(['monitor.recovered'])
  expect((await incidents(w)).map((one: any) => one.status)).toEqual(['resolved'])
})
