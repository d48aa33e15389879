import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { snapshots } from '../../src/features/servers/snapshots/tables'
import { servers } from '../../src/features/servers/tables'
import { workspaces } from '../../src/access/tables'
import { syncStorage } from '../../src/features/servers/accounts/sync-storage'
import { cloudAccounts } from '../../src/features/servers/accounts/tables'
import { watchStorage } from '../../src/features/servers/snapshots/watch'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { world } from '../support/world'

const price = { max_monthly_price: '1', currency: 'EUR' }

/** A running server that was created here. */
async function scene(more: object = {}) {
  const here = await world()
  const cloud = await cloudScene(here, more)
  const created = (await cloud.create('web-1')).body
  await cloud.finish(created.action_id)
  const call = (method: string, path: string, body?: object) => here.acme.call(method, `/v1${path}`, body)
  const taken = async (name: string, params: object = {}) => {
    const started = await cloud.act(created.id, 'snapshot', { name, ...price, ...params })
    if (started.status !== 202) throw new Error(started.text)
    const action = await cloud.finish(started.body.id)
    const snapshot = (await call('GET', `/snapshots?q=${encodeURIComponent(name)}`)).body.data[0]
    return { action, snapshot }
  }
  const images = () => [...cloud.double.project.images.values()].filter(one => one.type === 'snapshot')
  return { here, ...cloud, id: created.id as string, call, taken, images }
}

describe('snapshots of a server', () => {
  test('are created with their mark, once, and cost what they take', async () => {
    const { here, id, taken, images, refresh, get, double } = await scene()
    const before = (await refresh()).committed.monthly
    const { action, snapshot } = await taken('before the upgrade', { expires_at: '2100-01-01T00:00:00Z' })
    expect(action).toMatchObject({ type: 'server.snapshot', status: 'success', error: null })
    expect(images().map(one => [one.description, one.labels])).toEqual([['before the upgrade', { bailiwick: snapshot.id }]])
    expect(snapshot).toMatchObject({
      ...{ server_id: id, origin: 'made', state: 'available', provider_ref: String(images()[0]!.id), action_id: null },
      ...{ created_by: { type: 'user' }, survives_server: true, includes_memory: false, expires_at: '2100-01-01T00:00:00.000Z' },
      price: { currency: 'EUR', known: true },
    })
    const after = (await refresh()).committed.monthly
    expect(Number(after) - Number(before)).toBeCloseTo(Number(snapshot.price.monthly), 6)
    expect(Math.round(Number(after) * 1e6)).toBe(double.bill().monthlyMicros)
    expect((await get(id)).status).toBe('running')
    expect(await here.audited()).toContain('cloud.server.snapshot')
    expect(double.offences).toEqual([])
  })

  test('are created once, even if the response of the cloud is lost', async () => {
    const { taken, images, double } = await scene()
    let lost = 0
    double.fault = request => (request.path.endsWith('/create_image') && lost++ === 0 ? 'lost' : null)
    double.project.actionMs = command => (command === 'create_image' ? 60_000 : 0)
    // The action waits for the snapshot that is found.
    const { action, snapshot } = await taken('one')
    expect([action.status, snapshot.state]).toEqual(['success', 'available'])
    expect([lost, images().length]).toEqual([1, 1])
  })

  test('can also be created in the list, with the price that is accepted', async () => {
    const { call, id, finish, images } = await scene()
    const refused = await call('POST', '/snapshots', { server_id: id, name: 'a' })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/max_monthly_price'])
    const low = await call('POST', '/snapshots', { server_id: id, name: 'a', max_monthly_price: '0.01', currency: 'EUR' })
    expect([low.status, low.body.code]).toEqual([409, 'price_above_maximum'])
    expect((await call('GET', '/snapshots')).body.data).toEqual([])
    const created = await call('POST', '/snapshots', { server_id: id, name: 'a', ...price })
    expect([created.status, created.body.state]).toEqual([201, 'creating'])
    await finish(created.body.action_id)
    expect((await call('GET', `/snapshots/${created.body.id}`)).body.state).toBe('available')
    expect(images()).toHaveLength(1)
    const absent = await call('POST', '/snapshots', { server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km', name: 'a' })
    expect([absent.status, absent.body.errors[0].pointer]).toEqual([422, '#/server_id'])
    const memory = await call('POST', '/snapshots', { server_id: id, name: 'a', includes_memory: true, ...price })
    expect([memory.status, memory.body.errors[0].pointer]).toEqual([422, '#/includes_memory'])
    const past = await call('POST', '/snapshots', { server_id: id, name: 'a', expires_at: '2020-01-01T00:00:00Z', ...price })
    expect(past.status).toBe(422)
  })

  test('have the labels that are set here, where the cloud can store them', async () => {
    const { id, call, finish, images, here } = await scene()
    const snapshot = (await call('POST', '/snapshots', { server_id: id, name: 'one', labels: { stage: 'test' }, ...price })).body
    await finish(snapshot.action_id)
    expect(images()[0]!.labels).toEqual({ bailiwick: snapshot.id, stage: 'test' })
    await here.audited()
    const patched = (await call('PATCH', `/snapshots/${snapshot.id}`, { labels: { keep: 'long' }, protected: true })).body
    expect(await finish(patched.action_id)).toMatchObject({ type: 'snapshot.set_labels', status: 'success', error: null })
    expect(images()[0]!.labels).toEqual({ bailiwick: snapshot.id, keep: 'long' })
    expect(await here.audited()).toEqual(['cloud.snapshot.update'])
    // Someone else changes one, adds another, and removes the mark.
    images()[0]!.labels = { keep: 'short', added: 'there' }
    for (let seconds = 0; seconds < 900; seconds += 5) await here.advance(5000)
    expect(images()[0]!.labels).toEqual({ bailiwick: snapshot.id, keep: 'long', added: 'there' })
    expect(await here.audited()).toEqual(['cloud.snapshot.update'])
    const cleared = (await call('PATCH', `/snapshots/${snapshot.id}`, { labels: {} })).body
    await finish(cleared.action_id)
    expect(images()[0]!.labels).toEqual({ bailiwick: snapshot.id, added: 'there' })
    expect((await call('GET', `/snapshots/${snapshot.id}`)).body).toMatchObject({
      labels: {},
      state: 'available',
      action_id: null,
    })
  })

  test('are restored at Incus on ZFS only if they are the newest, without a safety snapshot', async () => {
    const here = await world()
    const { double, call, act, finish, id } = await incusScene(here, one => (one.driver = 'zfs'))
    const taken = async (name: string) => {
      await finish((await act(id, 'snapshot', { name })).body.id)
      return (await call('GET', `/snapshots?q=${name}`)).body.data[0]
    }
    const [first, second] = [await taken('first'), await taken('second')]
    const web = double.named('web')!
    // One that is not known here yet counts, too.
    web.snapshots.push({ name: 'by-hand', created_at: '2100-01-01T00:00:00Z', stateful: false, size: 1, devices: {} })
    const restore = (snapshot: { id: string }, more: object = {}) =>
      act(id, 'restore_snapshot', { snapshot_id: snapshot.id, ...more })
    const before = double.requests.length
    const refused = await restore(first)
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict'])
    expect(refused.body.detail).toContain('Delete 2 newer snapshots first: second, by-hand.')
    expect(double.requests.slice(before).filter(one => one.method !== 'GET')).toEqual([])
    web.snapshots.pop()
    const safe = await restore(second, { safety_snapshot: true })
    expect([safe.status, safe.body.errors[0].pointer]).toEqual([422, '#/params/safety_snapshot'])
    expect(safe.body.errors[0].detail).toContain('ZFS')
    expect((await finish((await restore(second)).body.id)).status).toBe('success')
    expect(web.snapshots).toHaveLength(2)
    // It may remove the newer ones, or the storage can restore all.
    double.removesSnapshots = true
    expect((await finish((await restore(first, { safety_snapshot: false })).body.id)).status).toBe('success')
    double.driver = 'btrfs'
    expect((await finish((await restore(first)).body.id)).status).toBe('success')
    expect(web.snapshots).toHaveLength(3)
  }, 180_000)

  test('shut the server down first if asked to, and switch it on again, also if they fail', async () => {
    const { here, taken, get, id, double, images } = await scene()
    const quietUntil = async () => (await here.hub.read.select().from(servers).where(eq(servers.id, id)))[0]!.quietUntil ?? 0
    await here.advance(300_000)
    await taken('loud')
    expect(await quietUntil()).toBeLessThan(here.clock.now())
    const commands = () => [...double.project.actions.values()].map(one => one.command).slice(-3)
    const { action } = await taken('quiet', { quiesce: 'shutdown' })
    expect([action.status, (await get(id)).status]).toEqual(['success', 'running'])
    // Its monitors and agent get the time to notice that it runs again.
    expect(await quietUntil()).toBeGreaterThan(here.clock.now())
    expect(commands()).toEqual(['shutdown_server', 'create_image', 'start_server'])
    double.project.actionErrors = { create_image: { code: 'action_failed', message: 'no space' } }
    const failed = await taken('broken', { quiesce: 'shutdown' })
    expect([failed.action.status, failed.action.error.code]).toEqual(['error', 'provider_failed'])
    expect((await get(id)).status).toBe('running')
    expect(commands()).toEqual(['shutdown_server', 'create_image', 'start_server'])
    expect(failed.snapshot).toMatchObject({ state: 'error', action_id: null, price: { monthly: null } })
    expect(images().length).toBeGreaterThan(0)
  })

  test('are restored, after a safety snapshot if that is wanted', async () => {
    const { taken, act, finish, get, id, call, images } = await scene()
    const { snapshot } = await taken('first')
    const restored = await act(id, 'restore_snapshot', { snapshot_id: snapshot.id })
    expect(restored.status).toBe(202)
    expect((await get(id)).status).toBe('restoring')
    expect((await call('GET', `/snapshots/${snapshot.id}`)).body.state).toBe('restoring')
    expect((await finish(restored.body.id)).status).toBe('success')
    expect((await get(id)).status).toBe('running')
    expect((await call('GET', `/snapshots/${snapshot.id}`)).body).toMatchObject({ state: 'available', action_id: null })
    // Where snapshots cost money, one more is only taken on request.
    expect(images()).toHaveLength(1)
    const safe = await act(id, 'restore_snapshot', { snapshot_id: snapshot.id, safety_snapshot: true, ...price })
    expect((await finish(safe.body.id)).status).toBe('success')
    expect(images().map(one => one.description)).toEqual(['first', 'Before restoring first'])
    const absent = await act(id, 'restore_snapshot', { snapshot_id: 'snap_01k3z9a1b2c3d4e5f6g7h8j9km' })
    expect([absent.status, absent.body.errors[0].pointer]).toEqual([422, '#/params/snapshot_id'])
  })

  test('are either restored or deleted, if both are requested at the same time', async () => {
    const { id, taken, act, call, finish } = await scene()
    for (const name of ['one', 'two', 'three']) {
      const { snapshot } = await taken(name)
      const answers = await Promise.all([
        act(id, 'restore_snapshot', { snapshot_id: snapshot.id }),
        call('DELETE', `/snapshots/${snapshot.id}`),
      ])
      expect(answers.map(one => one.status).toSorted()).toEqual([202, 409])
      const started = answers.find(one => one.status === 202)!.body
      expect((await call('GET', `/snapshots/${snapshot.id}`)).body.action_id).toBe(started.id)
      expect((await finish(started.id)).status).toBe('success')
    }
  })

  test('are restored once, even if the response of the cloud is lost', async () => {
    const { id, taken, act, finish, double } = await scene()
    const { snapshot } = await taken('first')
    let sent = 0
    double.fault = request => (request.path.endsWith('/actions/rebuild') && sent++ === 0 ? 'lost' : null)
    const restored = await act(id, 'restore_snapshot', { snapshot_id: snapshot.id, safety_snapshot: false })
    expect((await finish(restored.body.id)).status).toBe('success')
    expect(sent).toBe(1)
  })

  test('of another server are refused', async () => {
    const { taken, act, create, finish } = await scene()
    const { snapshot } = await taken('first')
    const other = (await create('web-2')).body
    await finish(other.action_id)
    const refused = await act(other.id, 'restore_snapshot', { snapshot_id: snapshot.id })
    expect([refused.status, refused.body.errors[0].detail]).toEqual([422, 'It is not a snapshot of this server.'])
  })

  test('are deleted at the cloud, unless they are protected', async () => {
    const { taken, call, finish, images, here } = await scene()
    const { snapshot } = await taken('first')
    const path = `/snapshots/${snapshot.id}`
    expect((await call('PATCH', path, { protected: true, name: 'kept' })).body).toMatchObject({ protected: true, name: 'kept' })
    const refused = await call('DELETE', path)
    expect([refused.status, refused.body.code]).toEqual([409, 'protected'])
    await call('PATCH', path, { protected: false })
    await here.audited()
    const deleted = await call('DELETE', path)
    expect([deleted.status, deleted.body.type]).toEqual([202, 'snapshot.delete'])
    const again = await call('DELETE', path)
    expect([again.status, again.body.code]).toEqual([409, 'resource_locked'])
    expect((await finish(deleted.body.id)).status).toBe('success')
    expect([(await call('GET', path)).status, images().length]).toEqual([404, 0])
    expect(await here.audited()).toEqual(['cloud.snapshot.delete'])
  })

  test('that are protected keep their server from being deleted, if they would be deleted with it', async () => {
    const { here, id, taken, call, finish } = await scene()
    const { snapshot } = await taken('first')
    await record(here.hub, async tx => {
      await tx.update(snapshots).set({ survivesServer: false }).where(eq(snapshots.id, snapshot.id))
      return { result: undefined }
    })
    const remove = (query = '') => call('DELETE', `/servers/${id}?at_provider=destroy${query}`)
    expect((await remove()).body.code).toBe('conflict')
    await call('PATCH', `/snapshots/${snapshot.id}`, { protected: true })
    const refused = await remove('&snapshots=destroy')
    expect([refused.status, refused.body.code]).toEqual([409, 'protected'])
    await call('PATCH', `/snapshots/${snapshot.id}`, { protected: false })
    const deleted = await remove('&snapshots=destroy')
    expect((await finish(deleted.body.id)).status).toBe('success')
  })

  test('are deleted once they expire, unless they are protected', async () => {
    const { taken, call, images, here } = await scene()
    const soon = new Date(here.clock.now() + 3_600_000).toISOString()
    await taken('temporary', { expires_at: soon })
    const { snapshot } = await taken('kept', { expires_at: soon })
    await call('PATCH', `/snapshots/${snapshot.id}`, { protected: true })
    await watchStorage(here.hub)
    expect(images()).toHaveLength(2)
    await here.advance(3_700_000)
    await watchStorage(here.hub)
    await here.advance(60_000)
    expect((await call('GET', '/snapshots')).body.data.map((one: any) => one.name)).toEqual(['kept'])
    expect(images()).toHaveLength(1)
  })

  test('that expired and can’t be deleted are tried again after an hour, but not in suspended workspaces', async () => {
    const { taken, here, double, images, call } = await scene()
    const { snapshot } = await taken('temporary', { expires_at: new Date(here.clock.now() + 3_600_000).toISOString() })
    double.fault = request => (request.method === 'DELETE' ? { status: 403, code: 'forbidden' } : null)
    const watch = async (minutes: number) => {
      for (let n = 0; n < minutes; n++) {
        await watchStorage(here.hub)
        await here.advance(60_000)
      }
      return (await call('GET', `/actions?resource_id=${snapshot.id}&type=snapshot.delete`)).body.data.length
    }
    await here.advance(3_700_000)
    expect(await watch(10)).toBe(1)
    expect(await watch(65)).toBe(2)
    double.fault = () => null
    const { acme } = here
    await here.hub.store.transact(tx => tx.update(workspaces).set({ suspendedAt: 1 }).where(eq(workspaces.id, acme.workspaceId)))
    await watchStorage(here.hub)
    await here.advance(7_200_000)
    await watchStorage(here.hub)
    await here.hub.store.transact(tx =>
      tx.update(workspaces).set({ suspendedAt: null }).where(eq(workspaces.id, acme.workspaceId)),
    )
    expect([await watch(0), images().length]).toEqual([2, 1])
    expect([await watch(2), images().length]).toEqual([3, 0])
  })

  test('follow what happens at the cloud', async () => {
    const { taken, call, images, here, double, id } = await scene()
    const { snapshot } = await taken('first')
    const there = images()[0]!
    double.project.images.set(9999, { ...structuredClone(there), id: 9999, description: 'in the console', labels: {} })
    await here.advance(600_000)
    const found = (await call('GET', '/snapshots?origin=found')).body.data
    expect(found).toMatchObject([
      { name: 'in the console', server_id: id, state: 'available', created_by: null, price: { known: true } },
    ])
    double.project.images.delete(there.id)
    await here.audited()
    await here.advance(600_000)
    expect((await call('GET', `/snapshots/${snapshot.id}`)).body).toMatchObject({ state: 'missing', price: { monthly: null } })
    expect(await here.audited()).toEqual(['cloud.snapshot.follow'])
    expect((await call('DELETE', `/snapshots/${snapshot.id}`)).status).toBe(204)
  })

  test('are distinguished from others that use their name again, by when they were taken', async () => {
    const here = await world()
    const cloud = await cloudScene(here, { import: { mode: 'all', label_selector: null } })
    const [account] = await here.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, cloud.account.id))
    // Scheduled readings fail, so they change nothing.
    cloud.double.fault = () => 'dropped'
    const sync = async (createdAt: number | null) => {
      const seen = { ref: '100/daily', name: 'daily', serverRef: '100', status: 'available', sizeBytes: null, mark: null }
      const one = { ...seen, includesMemory: false, createdAt }
      await here.advance(1000)
      await syncStorage(here.hub, account!, { snapshots: { list: async () => [one], get: async () => one } } as never, null)
      const rows = (await here.acme.call('GET', '/v1/snapshots')).body.data
      return rows.map((row: any) => [Date.parse(row.taken_at), row.state]).toSorted()
    }
    expect(await sync(1000)).toEqual([[1000, 'available']])
    expect(await sync(1000)).toEqual([[1000, 'available']])
    const both = [
      [1000, 'missing'],
      [2000, 'available'],
    ]
    expect(await sync(2000)).toEqual(both)
    expect(await sync(2000)).toEqual(both)
  })

  test('count against the limit of the plan', async () => {
    const { taken, act, id, here } = await scene()
    await here.limit(here.acme.workspaceId, { snapshots: 1 })
    await taken('first')
    const second = await act(id, 'snapshot', { name: 'second', ...price })
    expect([second.status, second.body.code, second.body.limit]).toEqual([403, 'plan_limit_reached', 'snapshots'])
  })
})
