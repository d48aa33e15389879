import { describe, expect, test } from 'bun:test'
import { watchServers } from '../../src/features/servers/watch'
import { cloudScene } from '../support/clouds/cloud-scene'
import { pointers } from '../support/pointers'
import { say, watched } from '../support/watched-monitors'
import { world } from '../support/world'

test('bound monitors tell whether a server is up', async () => {
  const here = await world()
  const { double, get, named } = await cloudScene(here)
  double.addServer({ name: 'web-1' })
  await here.advance(60_000)
  const { id } = await named('web-1')
  const monitor = (await here.acme.call('POST', '/v1/monitors', { name: 'Site', target: 'https://example.com/' })).body
  const theirs = (await here.rival.call('POST', '/v1/monitors', { name: 'Site', target: 'https://example.com/' })).body
  expect(pointers(await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [theirs.id] }))).toEqual([
    422,
    ['#/health_monitor_ids/0'],
  ])
  expect((await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor.id] })).status).toBe(200)
  expect(await get(id)).toMatchObject({ health: 'up', status: 'running' })
})

describe('the health of a server', () => {
  test('is concluded from what its cloud reports once an action is long enough ago', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    const web = double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    await finish((await act(id, 'reboot')).body.id)
    double.console.powerOff(web)
    await here.advance(65_000)
    await watchServers(here.hub)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'up' })
    await here.advance(180_000)
    await watchServers(here.hub)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'down' })
    expect(await here.emitted()).toEqual(['server.status_changed'])
  })

  test('is unknown as soon as it is deleted', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    await finish((await act(id, 'delete')).body.id)
    expect(await get(id)).toMatchObject({ status: 'deleted', health: 'unknown', health_reason: 'The server was deleted.' })
    expect(await here.emitted()).toEqual([])
  })

  test('does not change because the hub was down for an hour', async () => {
    const here = await world()
    const { double, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    double.console.powerOff(double.addServer({ name: 'db-1' }))
    await here.advance(60_000)
    const before = [await named('web-1'), await named('db-1')]
    await here.emitted()
    await here.audited()
    here.clock.jump(3_600_000)
    await watchServers(here.hub)
    for (const one of before) expect(await get(one.id)).toMatchObject({ status: one.status, health: one.health })
    await here.advance(60_000)
    for (const one of before)
      expect(await get(one.id)).toMatchObject({ health: one.health, health_since_at: one.health_since_at })
    expect(await here.emitted()).toEqual([])
    expect(await here.audited()).toEqual([])
    expect((await here.acme.call('GET', '/v1/notices')).body.data).toEqual([])
  })
})

test('monitors that are still up do not contradict a server that was switched off', async () => {
  const here = await world()
  const { double, act, finish, get, named } = await cloudScene(here)
  double.addServer({ name: 'web-1' })
  await here.advance(60_000)
  const { id } = await named('web-1')
  const monitor = await watched(here, { name: 'Site' })
  await say(here, monitor, { status: 'up' })
  await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] })
  expect(await get(id)).toMatchObject({ health: 'up', health_reason: 'A monitor of the server is up.' })
  await here.emitted()
  await finish((await act(id, 'power_off')).body.id)
  await watchServers(here.hub)
  expect((await get(id)).health).toBe('down')
  expect(await here.emitted()).toEqual(['server.status_changed'])
  await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [] })
  await finish((await act(id, 'power_on')).body.id)
  expect(await get(id)).toMatchObject({ health: 'up', health_reason: 'The cloud reports the status running.' })
})
