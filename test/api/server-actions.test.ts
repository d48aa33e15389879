import { describe, expect, test } from 'bun:test'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { pointers } from '../support/pointers'
import { world } from '../support/world'

describe('actions on a server', () => {
  test('switch it off and on, which its events say at once', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const off = await act(id, 'power-off')
    expect(off.status).toBe(202)
    expect(await get(id)).toMatchObject({ status: 'stopping', health: 'up', action_id: off.body.id, actions: [] })
    await finish(off.body.id)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'down', power: 'off' })
    const [event] = (await here.acme.call('GET', '/v1/events')).body.data
    expect(event.data).toMatchObject({ status: 'down', source: 'action' })
    const again = await act(id, 'power_off')
    expect(again.body).toMatchObject({ status: 'success', result: { unchanged: true } })
    const on = await act(id, 'power_on')
    await finish(on.body.id)
    expect(await get(id)).toMatchObject({ status: 'running', health: 'up' })
    expect(await here.emitted()).toEqual(['server.status_changed', 'server.status_changed'])
    const reboot = await act(id, 'reboot')
    await finish(reboot.body.id)
    expect(await here.emitted()).toEqual([])
  })

  test('wait if the caller prefers, and are refused for what is impossible', async () => {
    const here = await world()
    const { double, act, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const impossible = await act(id, 'power_on', {})
    expect(impossible.body.result).toEqual({ unchanged: true })
    const resized = await act(id, 'resize', { size: 'cx32', max_monthly_price: '20', currency: 'EUR' })
    expect([resized.status, resized.body.code, resized.body.detail]).toEqual([
      409,
      'conflict',
      'The server is running, so the action resize is not possible now.',
    ])
    expect(pointers(await act(id, 'reboot', { hard: true }))).toEqual([422, ['#/params/hard']])
    expect(pointers(await act(id, 'shutdown', { timeout_seconds: 1 }))).toEqual([422, ['#/params/timeout_seconds']])
    const unknown = await act(id, 'explode')
    expect([unknown.status, unknown.body.code]).toEqual([422, 'unsupported_action'])
    expect(unknown.body.supported).toContain('power_cycle')
  })

  test('rename, resize, and protect it, and delete it at the cloud', async () => {
    const here = await world()
    const { double, act, finish, get, named, refresh } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id, price } = await named('web-1')
    await finish((await act(id, 'rename', { name: 'web-one' })).body.id)
    expect(double.serverNamed('web-one')).toBeDefined()
    expect((await get(id)).name).toBe('web-one')
    await finish((await act(id, 'power_off')).body.id)
    const before = Number(price.monthly)
    const resize = await finish((await act(id, 'resize', { size: 'cx32', max_monthly_price: '50', currency: 'EUR' })).body.id)
    expect(resize.status).toBe('success')
    const resized = await get(id)
    expect(resized.size.slug).toBe('cx32')
    expect(Number(resized.price.monthly)).toBeGreaterThan(before)
    await finish((await act(id, 'set_protection', { delete: true, rebuild: true })).body.id)
    expect((await get(id)).protection).toEqual({ delete: true, rebuild: true })
    const refused = await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=destroy`)
    expect([refused.status, refused.body.code]).toEqual([409, 'protected'])
    await finish((await act(id, 'set_protection', { delete: false, rebuild: false })).body.id)
    expect(pointers(await here.acme.call('DELETE', `/v1/servers/${id}`))).toEqual([422, ['#/query/at_provider']])
    const deletion = await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=destroy`)
    expect(deletion.status).toBe(202)
    expect((await finish(deletion.body.id)).status).toBe('success')
    expect(double.project.servers.size).toBe(0)
    expect(await get(id)).toMatchObject({ status: 'deleted', price: { monthly: null } })
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
    expect((await refresh()).committed.monthly).toBe('0.00')
  })

  test('only remove it here if that is wanted, and it is not added again', async () => {
    const here = await world()
    const { double, named, refresh } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    expect((await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=keep`)).status).toBe(204)
    await here.advance(180_000)
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
    expect((await refresh()).counts).toEqual({ servers: 0, unclaimed: 1 })
    expect(double.project.servers.size).toBe(1)
  })

  test('do not fail because of a response that was cut off or is not of the cloud', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const broken = [
      { status: 404, body: '{"error":{"code":"not_f' },
      { status: 200, body: '<html>Welcome</html>' },
      { status: 404, body: '<html>Not Found</html>' },
    ]
    let isSent = false
    double.fault = ({ path, method }) => {
      isSent ||= method === 'DELETE'
      const raw = isSent && method === 'GET' && /^\/(?:servers\/\d+|actions)$/.test(path) ? broken.shift() : undefined
      return raw ? { raw } : null
    }
    expect((await finish((await act(id, 'delete')).body.id)).status).toBe('success')
    expect(broken).toEqual([])
    expect(double.project.servers.size).toBe(0)
    expect(await get(id)).toMatchObject({ status: 'deleted' })
  })

  test('retry while the cloud is busy or limits requests, and fail with its reason', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    let refusals = 3
    double.fault = request =>
      request.method === 'POST' && refusals-- > 0 ? { status: 423, code: 'locked', message: 'item is locked' } : null
    expect((await finish((await act(id, 'power_off')).body.id)).status).toBe('success')
    double.fault = request =>
      request.method === 'POST' ? { status: 422, code: 'invalid_input', message: 'that is not possible' } : null
    const failed = await finish((await act(id, 'power_on')).body.id)
    expect(failed).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
    expect(failed.error.detail).toContain('that is not possible')
    expect(await get(id)).toMatchObject({ status: 'off', action_id: null })
  })

  test('a request that can’t wait fails after it bought something', async () => {
    const here = await world()
    const { create } = await cloudScene(here)
    const one = (await create('web-1')).body
    const busy = await here.acme.call('POST', `/v1/servers/${one.id}/actions`, { action: 'delete' })
    expect([busy.status, busy.body.code, busy.body.holder]).toEqual([409, 'resource_locked', one.action_id])
  })
})

// Incus forgets operations a few seconds after they ended.
describe('operations that the cloud forgot', () => {
  /** Counts requests that change the instance. Each operation is forgotten before its end is seen, and the first ones fail. */
  const scene = async (failures = 0) => {
    const here = await world()
    const cloud = await incusScene(here)
    const sent: string[] = []
    cloud.double.fault = ({ method, path, body }) => {
      if (path.startsWith('/operations/')) cloud.double.operations = []
      if (method === 'GET' || !path.startsWith('/instances/')) return null
      sent.push(body?.action ?? method)
      cloud.double.failure = sent.length <= failures ? 'The host is busy' : null
      return null
    }
    return {
      ...cloud,
      here,
      sent,
      run: async (action: string, params: object = {}) => {
        const started = await cloud.act(cloud.id, action, params)
        if (started.status !== 202) throw new Error(started.text)
        return await cloud.finish(started.body.id)
      },
    }
  }

  test('succeeded if the server is as it should be', async () => {
    const { run, sent, get } = await scene()
    for (const action of ['power_off', 'power_on', 'suspend', 'resume', 'reboot', 'power_cycle'])
      expect([action, (await run(action)).status]).toEqual([action, 'success'])
    expect(sent).toEqual(['stop', 'start', 'freeze', 'unfreeze', 'restart', 'restart'])
    const size = { cores: 2, memory_bytes: 2 ** 29, disk_bytes: 2 ** 30 }
    expect((await run('resize', { size })).status).toBe('success')
    expect((await get()).size).toMatchObject({ cores: 2, memory_bytes: 2 ** 29 })
  })

  test('are started again if the server is not as it should be', async () => {
    const { run, sent, instance } = await scene(1)
    expect((await run('power_off')).status).toBe('success')
    expect([sent, instance.status]).toEqual([['stop', 'stop'], 'Stopped'])
  })

  test('end as interrupted if they never succeed', async () => {
    const { run, sent, instance } = await scene(Infinity)
    expect(await run('power_off')).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
    expect([sent, instance.status]).toEqual([['stop', 'stop', 'stop', 'stop'], 'Running'])
  })

  test('end as interrupted without another attempt if the server doesn’t show how they ended', async () => {
    const { run, sent, get, double, call } = await scene(1)
    expect(await run('reboot')).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
    expect([sent, (await get()).status]).toEqual([['restart'], 'running'])
    double.failure = null
    expect((await run('snapshot', { name: 'one' })).status).toBe('success')
    const [snapshot] = (await call('GET', '/snapshots')).body.data
    sent.length = 0
    const restored = await run('restore_snapshot', { snapshot_id: snapshot.id, safety_snapshot: false })
    expect(restored).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
    expect([sent, (await get()).status]).toEqual([['PUT'], 'running'])
    expect((await call('GET', `/snapshots/${snapshot.id}`)).body).toMatchObject({ state: 'available', action_id: null })
  })

  test('of volumes end as interrupted if a restoration may have succeeded', async () => {
    const here = await world()
    const { double, volume, call, finish } = await incusScene(here)
    const { id } = (await volume('data-1')).volume
    const taken = (await call('POST', '/snapshots', { volume_id: id, name: 'one' })).body
    await finish(taken.action_id)
    const puts: string[] = []
    double.fault = ({ method, path }) => {
      if (path.startsWith('/operations/')) double.operations = []
      if (method === 'PUT') puts.push(path)
      return null
    }
    const started = await call('POST', `/volumes/${id}/actions`, {
      action: 'restore_snapshot',
      params: { snapshot_id: taken.id },
    })
    expect(await finish(started.body.id)).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
    expect(puts).toHaveLength(1)
    expect((await call('GET', `/volumes/${id}`)).body).toMatchObject({ state: 'available', action_id: null })
    expect((await call('GET', `/snapshots/${taken.id}`)).body).toMatchObject({ state: 'available', action_id: null })
  })
})
