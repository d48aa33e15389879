import { expect, test } from 'bun:test'
import { world, type World } from '../support/world'

const minute = 60_000

/** A pinged heartbeat, and a window of one hour that covers it and starts now. */
async function setUp() {
  const w = await world()
  const schedule = { kind: 'period', period_seconds: 300, grace_seconds: 60 }
  const heartbeat = (await w.acme.call('POST', '/v1/heartbeats', { name: 'backup', schedule, tags: ['db'] })).body
  const ping = (suffix = '') => w.app.handle(new Request(`http://localhost:8484/ping/${heartbeat.uuid}${suffix}`))
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
  const status = async () => (await w.acme.call('GET', `/v1/heartbeats/${heartbeat.id}`)).body.status
  await w.audited()
  await w.emitted()
  return { w, heartbeat, ping, window: window.body, status }
}

const incidents = async (w: World) => (await w.acme.call('GET', '/v1/incidents')).body.data

test('the alert for a ping missed during maintenance is sent a grace period after the window, with the original start', async () => {
  const { w, status } = await setUp()
  await w.advance(6 * minute)
  const downAt = w.clock.now()
  expect(await status()).toBe('down')
  expect(await w.emitted()).toEqual([])
  expect(await w.audited()).toEqual(['heartbeat.miss'])
  await w.advance(54 * minute)
  await w.advance(minute - 2_000)
  expect(await incidents(w)).toEqual([])
  await w.advance(2_000)
  expect(await w.emitted()).toEqual(['monitor.alert'])
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

test('a heartbeat that recovers before the end of the window sends neither an alert nor a recovery', async () => {
  const { w, ping, status } = await setUp()
  await ping('/fail')
  await w.advance(10 * minute)
  await ping()
  expect(await status()).toBe('up')
  for (let n = 0; n < 14; n++) {
    await w.advance(5 * minute)
    await ping()
  }
  expect(await w.emitted()).toEqual([])
  expect(await incidents(w)).toEqual([])
})

test('extending a window extends the hold, and stopping it early ends the hold', async () => {
  const { w, ping, window } = await setUp()
  await ping('/fail')
  const path = `/v1/maintenance-windows/${window.id}`
  expect((await w.acme.call('PATCH', path, { duration_seconds: 7200 })).status).toBe(200)
  await w.advance(70 * minute)
  expect(await incidents(w)).toEqual([])
  expect((await w.acme.call('POST', `${path}/stop`)).status).toBe(200)
  await w.watch.settled()
  await w.advance(59_000)
  expect(await incidents(w)).toEqual([])
  await w.advance(1_000)
  expect(await incidents(w)).toHaveLength(1)
})

test('a held alert is dropped when the heartbeat is paused, and an outage from before a window recovers during it', async () => {
  const { w, heartbeat, ping } = await setUp()
  await ping('/fail')
  await w.acme.call('POST', `/v1/heartbeats/${heartbeat.id}/pause`)
  await w.advance(120 * minute)
  expect(await w.emitted()).toEqual([])
  await ping()
  await ping('/fail')
  expect(await w.emitted()).toEqual(['monitor.alert'])
  await w.acme.call('POST', '/v1/maintenance-windows', {
    name: 'Everything',
    kind: 'once',
    starts_at_local: new Date(w.clock.now()).toISOString().slice(0, 19),
    timezone: 'UTC',
    duration_seconds: 600,
    targets: { all: true },
  })
  await ping()
  expect(await w.emitted()).toEqual(['monitor.recovered'])
  expect((await incidents(w)).map((one: any) => one.status)).toEqual(['resolved'])
})
