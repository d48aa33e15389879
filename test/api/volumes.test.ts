import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { AdapterError } from '../../src/adapters/failure'
import { syncStorage } from '../../src/features/servers/accounts/sync-storage'
import { cloudAccounts } from '../../src/features/servers/accounts/tables'
import { snapshots } from '../../src/features/servers/snapshots/tables'
import { watchStorage } from '../../src/features/servers/snapshots/watch'
import { volumes } from '../../src/features/servers/volumes/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { AgentDouble } from '../support/agent-double'
import { world } from '../support/world'

const gib = 2 ** 30
const price = { max_monthly_price: '5', currency: 'EUR' }

/** A running server that was created here, at a double of Hetzner Cloud. */
async function scene(more: object = {}) {
  const here = await world()
  const cloud = await cloudScene(here, more)
  const created = (await cloud.create('web-1')).body
  await cloud.finish(created.action_id)
  const call = (method: string, path: string, body?: object, headers?: Record<string, string>) =>
    here.acme.call(method, `/v1${path}`, body, headers)
  let keys = 0
  const order = (name: string, fields: object = {}) => ({
    ...{ name, account_id: cloud.account.id, size_bytes: 10 * gib, location: 'fsn1' },
    ...price,
    ...fields,
  })
  const buy = (name: string, fields: object = {}) =>
    call('POST', '/volumes', order(name, fields), { 'Idempotency-Key': `volume-${++keys}` })
  const bought = async (name: string, fields: object = {}) => {
    const answer = await buy(name, fields)
    if (answer.status !== 201) throw new Error(answer.text)
    const action = await cloud.finish(answer.body.action_id)
    return { action, volume: (await call('GET', `/volumes/${answer.body.id}`)).body }
  }
  const actOn = (id: string, action: string, params: object = {}) => call('POST', `/volumes/${id}/actions`, { action, params })
  const done = async (id: string, action: string, params: object = {}) => {
    const started = await actOn(id, action, params)
    if (started.status !== 202) throw new Error(started.text)
    return [await cloud.finish(started.body.id), (await call('GET', `/volumes/${id}`)).body]
  }
  const there = () => [...cloud.double.project.volumes.values()]
  return { here, ...cloud, id: created.id as string, call, order, buy, bought, actOn, done, there }
}

const refusal = ({ status, body }: { status: number; body: any }) => [status, body.errors?.[0]?.pointer ?? body.code]

describe('volumes', () => {
  test('are created with their mark, attached, and cost what was accepted', async () => {
    const { here, id, bought, there, refresh, get, double } = await scene()
    await here.audited()
    const { action, volume } = await bought('data-1', { server_id: id, format: 'ext4', labels: { role: 'database' } })
    expect(action).toMatchObject({ type: 'volume.create', status: 'success', error: null })
    expect(there()).toMatchObject([
      { name: 'data-1', size: 10, format: 'ext4', location: 'fsn1', labels: { bailiwick: volume.id, role: 'database' } },
    ])
    expect(volume).toMatchObject({
      ...{
        server_id: id,
        state: 'in_use',
        origin: 'made',
        location: 'fsn1',
        size_bytes: 10 * gib,
        format: 'ext4',
        action_id: null,
      },
      ...{ device: `/dev/disk/by-id/scsi-0HC_Volume_${there()[0]!.id}`, protection: { delete: false }, mount_path: null },
      price: { currency: 'EUR', known: true },
    })
    expect(Math.round(Number((await refresh()).committed.monthly) * 1e6)).toBe(double.bill().monthlyMicros)
    expect((await get(id)).volume_ids).toEqual([volume.id])
    expect(await here.audited()).toEqual(['cloud.volume.create'])
    expect(double.offences).toEqual([])
  })

  test('get their labels and their mark back, which is recorded once', async () => {
    const { here, bought, there, call, double } = await scene()
    const { volume } = await bought('data-1', { labels: { role: 'database' } })
    const found = { ...there()[0]!, id: 999_999, name: 'found', labels: { role: 'web' } }
    double.project.volumes.set(found.id, found)
    await here.audited()
    const changes: Record<string, string>[] = [{ bailiwick: volume.id }, { role: 'database', added: 'there' }]
    for (const labels of changes) {
      there()[0]!.labels = labels
      for (let seconds = 0; seconds < 900; seconds += 5) await here.advance(5000)
      expect(there()[0]!.labels).toEqual({ ...labels, bailiwick: volume.id, role: 'database' })
      expect((await here.audited()).filter(one => one === 'cloud.volume.update')).toHaveLength(1)
    }
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({ labels: { role: 'database' }, action_id: null })
    expect(found.labels).toEqual({ role: 'web' })
    expect(double.offences).toEqual([])
  }, 180_000)

  test('are bought once: with an idempotency key, even if the response of the cloud is lost', async () => {
    const { call, order, finish, double, there } = await scene()
    const without = await call('POST', '/volumes', order('data-1'))
    expect(refusal(without)).toEqual([400, 'idempotency_key_required'])
    let lost = 0
    double.fault = request => (request.method === 'POST' && request.path === '/volumes' && lost++ === 0 ? 'lost' : null)
    const key = { 'Idempotency-Key': 'one' }
    const first = await call('POST', '/volumes', order('data-1'), key)
    expect((await call('POST', '/volumes', order('data-1'), key)).body).toEqual(first.body)
    expect((await finish(first.body.action_id)).status).toBe('success')
    expect([lost, there().length]).toEqual([1, 1])
    expect((await call('GET', `/volumes/${first.body.id}`)).body.state).toBe('available')
  })

  test('are not bought above the accepted price, the cap, or if the price rises meanwhile', async () => {
    const { buy, finish, there, call, double } = await scene({
      spend: { monthly_cap: '10.00', confirm_above: '0', currency: 'EUR' },
    })
    expect(refusal(await buy('a', { max_monthly_price: undefined, currency: undefined }))).toEqual([422, '#/max_monthly_price'])
    expect(refusal(await buy('a', { max_monthly_price: '0.10' }))).toEqual([409, 'price_above_maximum'])
    expect(refusal(await buy('a', { size_bytes: 1000 * gib, max_monthly_price: '500' }))).toEqual([403, 'spend_cap_reached'])
    expect((await call('GET', '/volumes')).body.data).toEqual([])
    const created = (await buy('a', { max_monthly_price: '0.60' })).body
    double.project.prices.volumePerGb = { net: '1.0000000000', gross: '1.1900000000000000' }
    expect(await finish(created.action_id)).toMatchObject({ status: 'error', error: { code: 'price_above_maximum' } })
    expect(there()).toEqual([])
    expect((await call('GET', `/volumes/${created.id}`)).body).toMatchObject({ state: 'error', price: { monthly: null } })
    expect((await call('DELETE', `/volumes/${created.id}`)).status).toBe(204)
  })

  test('are not bought if the price rises above the cap meanwhile, and reserve the new one otherwise', async () => {
    const { here, buy, finish, there, call, double, refresh } = await scene({
      spend: { monthly_cap: '10.00', confirm_above: '0', currency: 'EUR' },
    })
    const rise = (gross: string) => (double.project.prices.volumePerGb = { net: gross, gross })
    const priceOf = async (id: string) => (await call('GET', `/volumes/${id}`)).body.price.monthly
    const server = Number((await refresh()).committed.monthly)
    const bought = (await buy('a', { max_monthly_price: '10' })).body
    rise('0.2000')
    // The creation takes longer than this test waits.
    double.project.actionMs = command => (command === 'create_volume' ? 600_000 : 0)
    for (let seconds = 0; seconds < 30 && there().length === 0; seconds += 5) await here.advance(5000)
    expect(Number(await priceOf(bought.id))).toBe(2)
    expect(Number((await refresh()).committed.monthly) - server).toBeCloseTo(2, 6)
    const refused = (await buy('b', { max_monthly_price: '10' })).body
    rise('0.9000')
    expect(await finish(refused.action_id)).toMatchObject({ status: 'error', error: { code: 'spend_cap_reached' } })
    expect([there().length, await priceOf(refused.id)]).toEqual([1, null])
  })

  test('cost what was accepted for their new size, if it is unknown whether they were resized', async () => {
    const { bought, call, actOn, finish, double } = await scene()
    const { volume } = await bought('a')
    const resized = await actOn(volume.id, 'resize', { size_bytes: 20 * gib, ...price })
    let lost = 0
    const revoked = { status: 401, code: 'unauthorized', message: 'unable to authenticate' }
    double.fault = request => (lost > 0 ? revoked : request.path.endsWith('/actions/resize') && lost++ === 0 ? 'lost' : null)
    expect((await finish(resized.body.id)).status).toBe('error')
    const after = (await call('GET', `/volumes/${volume.id}`)).body
    expect([lost, Number(after.price.monthly)]).toEqual([1, 2 * Number(volume.price.monthly)])
  })

  test('are renamed and labeled at their cloud, and have their old name again if that fails', async () => {
    const { bought, call, finish, there, double, here } = await scene()
    const { volume } = await bought('data-1', { labels: { role: 'database', stage: 'test' } })
    const patch = (body: object) => call('PATCH', `/volumes/${volume.id}`, body)
    const get = async () => (await call('GET', `/volumes/${volume.id}`)).body
    await here.audited()
    const renamed = (await patch({ name: 'data-2', labels: { role: 'files' } })).body
    expect(renamed).toMatchObject({ name: 'data-2', labels: { role: 'files' }, state: 'available' })
    expect(await finish(renamed.action_id)).toMatchObject({ type: 'volume.update', status: 'success', error: null })
    expect(there()).toMatchObject([{ name: 'data-2' }])
    expect(there()[0]!.labels).toEqual({ bailiwick: volume.id, role: 'files' })
    expect(await here.audited()).toEqual(['cloud.volume.update'])
    expect(await get()).toMatchObject({ name: 'data-2', action_id: null, version: renamed.version })
    expect(refusal(await patch({ name: '-a' }))).toEqual([422, '#/name'])
    const { volume: other } = await bought('data-3')
    const taken = (await patch({ name: other.name })).body
    expect(refusal(await patch({ name: 'data-4' }))).toEqual([409, 'resource_locked'])
    expect(await finish(taken.action_id)).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
    expect(await get()).toMatchObject({ name: 'data-2', labels: { role: 'files' }, state: 'available', action_id: null })
    expect(double.offences).toEqual([])
  })

  test('are renamed at Incus while they are not attached, and keep their data and snapshots by their new ref', async () => {
    const here = await world()
    const { id, volume: bought, call, finish, double } = await incusScene(here)
    const { volume } = await bought('data-1', { server_id: id, labels: { role: 'files' } })
    const refused = await call('PATCH', `/volumes/${volume.id}`, { name: 'data-2' })
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('Detach it before you rename it')])
    const labeled = (await call('PATCH', `/volumes/${volume.id}`, { labels: {} })).body
    expect((await finish(labeled.action_id)).status).toBe('success')
    expect(double.volumes[0]!.config['user.bailiwick.label.role']).toBe('')
    const detached = await call('POST', `/volumes/${volume.id}/actions`, { action: 'detach', params: { force: true } })
    await finish(detached.body.id)
    const renamed = (await call('PATCH', `/volumes/${volume.id}`, { name: 'data-2' })).body
    expect((await finish(renamed.action_id)).status).toBe('success')
    expect(double.volumes.map(one => one.name)).toEqual(['data-2'])
    await here.advance(600_000)
    const all = (await call('GET', '/volumes')).body.data
    expect(all).toMatchObject([{ id: volume.id, name: 'data-2', provider_ref: 'default/data-2', state: 'available' }])
  })

  test('that were found at Incus are renamed once, even if the response is lost', async () => {
    const here = await world()
    const { call, finish, double } = await incusScene(here)
    const marks = { mine: 'vol_01k3z9a1b2c3d4e5f6g7h8j9km' }
    for (const [name, mark] of Object.entries({ ...marks, free: null }))
      double.volumes.push({
        name,
        used: null,
        snapshots: [],
        config: { ...(mark !== null && { 'user.bailiwick.volume': mark }) },
      })
    await here.advance(300_000)
    const all = async () => (await call('GET', '/volumes?sort=name')).body.data
    const [free, mine] = await all()
    let lost = 0
    double.fault = ({ method, path }) => (method === 'POST' && path.endsWith('/free') && lost++ === 0 ? 'lost' : null)
    for (const { id, name } of [free, mine]) {
      const { body } = await call('PATCH', `/volumes/${id}`, { name: `${name}-2` })
      expect((await finish(body.action_id)).status).toBe('success')
    }
    await here.advance(600_000)
    expect((await all()).map((one: any) => [one.id, one.name, one.origin, one.state])).toEqual([
      [free.id, 'free-2', 'found', 'available'],
      [mine.id, 'mine-2', 'found', 'available'],
    ])
    // The mark of another installation stays.
    expect(double.volumes.map(one => one.config['user.bailiwick.volume'])).toEqual([marks.mine, free.id])
    expect(lost).toBe(1)
  }, 180_000)

  test('are attached to new servers in the same location', async () => {
    const { here, bought, create, finish, get, there, call, double, id: web1 } = await scene()
    const { volume } = await bought('data-1')
    const { volume: elsewhere } = await bought('data-2', { location: 'nbg1' })
    const { volume: used } = await bought('data-3', { server_id: web1 })
    const query = (fields: object) => create('web-2', fields, '?dry_run=true')
    const problems = async (fields: object) => (await query(fields)).body.problems.map((one: any) => [one.pointer, one.code])
    expect(await problems({ volume_ids: [volume.id] })).toEqual([])
    expect(await problems({ volume_ids: [volume.id, elsewhere.id, used.id, 'vol_01k3z9a1b2c3d4e5f6g7h8j9km'] })).toEqual([
      ['#/volume_ids/1', 'location'],
      ['#/volume_ids/2', 'status'],
      ['#/volume_ids/3', 'not_found'],
    ])
    expect(await problems({ volume_ids: [volume.id], fallback_locations: ['nbg1'] })).toEqual([
      ['#/fallback_locations/0', 'location'],
    ])
    expect(refusal(await create('web-2', { volume_ids: [elsewhere.id] }))).toEqual([422, '#/volume_ids/0'])
    const ordered = (await create('web-2', { volume_ids: [volume.id] })).body
    expect(ordered.order.volume_ids).toEqual([volume.id])
    const held = await call('GET', `/volumes/${volume.id}`)
    expect(held.body).toMatchObject({ state: 'attaching', action_id: ordered.action_id })
    expect(refusal(await create('web-3', { volume_ids: [volume.id] }))).toEqual([422, '#/volume_ids/0'])
    expect((await finish(ordered.action_id)).status).toBe('success')
    const server = await get(ordered.id)
    expect([server.volume_ids, server.status]).toEqual([[volume.id], 'running'])
    expect(there().find(one => one.name === 'data-1')!.server).toBe(Number(server.provider_ref))
    const attached = (await call('GET', `/volumes/${volume.id}`)).body
    expect(attached).toMatchObject({ state: 'in_use', server_id: ordered.id, action_id: null })
    const { expanded } = (await call('GET', `/servers/${ordered.id}?expand=volumes,account`)).body
    expect([expanded.volumes, expanded.account.name]).toEqual([[attached], 'Hetzner'])
    const list = (await call('GET', '/servers?expand=volumes&sort=name')).body.data
    expect(list.map((one: any) => one.expanded.volumes.map((each: any) => each.name))).toEqual([['data-3'], ['data-1']])
    // A server that can't be created lets go of its volumes.
    const { volume: free } = await bought('data-4')
    double.project.actionErrors = { create_server: { code: 'action_failed', message: 'no host' } }
    const failed = (await create('web-4', { volume_ids: [free.id] })).body
    expect((await finish(failed.action_id)).status).toBe('error')
    expect((await call('GET', `/volumes/${free.id}`)).body).toMatchObject({
      state: 'available',
      action_id: null,
      server_id: null,
    })
    expect((await here.rival.call('GET', `/v1/volumes/${volume.id}/metrics`)).status).toBe(404)
    expect(double.offences).toEqual([])
  }, 180_000)

  test('are not attached to new servers while a snapshot of them is being created', async () => {
    const here = await world()
    const { volume: bought, bought: server, call, order, finish } = await incusScene(here)
    const { volume } = await bought('data-1')
    const created = (await call('POST', '/snapshots', { volume_id: volume.id, name: 'one' })).body
    expect(refusal(await call('POST', '/servers', order('web-2', { volume_ids: [volume.id] })))).toEqual([409, 'resource_locked'])
    expect((await finish(created.action_id)).status).toBe('success')
    expect((await server('web-2', { volume_ids: [volume.id] })).action.status).toBe('success')
  })

  test('are attached to one server, if an order and an action want them at the same time', async () => {
    const { bought, create, actOn, call, finish, id: web1 } = await scene()
    for (const name of ['one', 'two', 'three']) {
      const { volume } = await bought(name)
      const [ordered, attached] = await Promise.all([
        create(`web-${name}`, { volume_ids: [volume.id] }),
        actOn(volume.id, 'attach', { server_id: web1 }),
      ])
      expect([
        [201, 409],
        [422, 202],
      ]).toContainEqual([ordered.status, attached.status])
      const actionId = ordered.status === 201 ? ordered.body.action_id : attached.body.id
      expect((await call('GET', `/volumes/${volume.id}`)).body.action_id).toBe(actionId)
      expect((await finish(actionId)).status).toBe('success')
    }
  }, 180_000)

  test('tell how much of them is used, and have metrics, at Incus', async () => {
    const here = await world()
    const { volume: bought, bought: server, call, double } = await incusScene(here)
    const { volume } = await bought('data-1')
    const { server: created } = await server('web-2', { volume_ids: [volume.id] })
    expect(double.named('web-2')!.devices['bw-data-1']).toEqual({
      type: 'disk',
      pool: 'default',
      source: 'data-1',
      path: '/mnt/data-1',
    })
    double.volumes[0]!.used = 5_000_000
    await here.advance(300_000)
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({
      ...{ used_bytes: 5_000_000, server_id: created.id, mount_path: '/mnt/data-1', state: 'in_use' },
    })
    double.volumes[0]!.used = 7_000_000
    await here.advance(300_000)
    const metrics = (await call('GET', `/volumes/${volume.id}/metrics?step=300`)).body
    expect(metrics.sources).toMatchObject([{ source: 'cloud', stale: false }])
    // Stored with about five digits.
    const megabytes = (values: (number | null)[]) => values.flatMap(one => (one === null ? [] : Math.round(one / 1e6))).slice(-2)
    const series = metrics.series.map((one: any) => [one.name, one.unit, megabytes(one.avg)])
    expect(series).toEqual([
      ['volume.size_bytes', 'bytes', [1074, 1074]],
      ['volume.used_bytes', 'bytes', [5, 7]],
    ])
    await here.advance(1_200_000)
    // A pool that doesn't report it now.
    double.volumes[0]!.used = null
    await here.advance(1_200_000)
    const later = (await call('GET', `/volumes/${volume.id}/metrics`)).body
    expect(later.sources).toMatchObject([{ source: 'cloud', stale: true }])
    expect((await call('GET', `/volumes/${volume.id}`)).body.used_bytes).toBe(7_000_000)

    // The agent of its server measures it, too.
    const agent = await AgentDouble.enroll(here, created.id)
    const mounts = [{ path: '/mnt/data-1', source: '/dev/sdb', type: 'ext4', disk: 'sdb', disk_ids: ['virtio-data'] }]
    expect((await agent.sendReport({ mounts })).status).toBe(200)
    const measured = { 'filesystem.used_bytes:/mnt/data-1': 9e6, 'filesystem.used_bytes:/': 1e9, 'disk.busy_percent:sdb': 4 }
    await agent.measured(measured, Math.floor(here.clock.now() / 60_000 - 1) * 60_000)
    const both = (await call('GET', `/volumes/${volume.id}/metrics?from=${new Date(here.clock.now() - 3_600_000).toISOString()}`))
      .body
    expect(both.sources).toMatchObject([{ source: 'agent', stale: false }, { source: 'cloud' }])
    expect(both.series.map((one: any) => [one.name, one.source, one.avg.findLast((value: unknown) => value !== null)])).toEqual([
      ['volume.busy_percent', 'agent', 4],
      ['volume.size_bytes', 'cloud', expect.any(Number)],
      ['volume.used_bytes', 'agent', 8_999_900],
    ])
  })

  test('have snapshots at Incus, which are restored while they are not attached', async () => {
    const here = await world()
    const { id, volume: bought, call, finish, double } = await incusScene(here)
    const { volume } = await bought('data-1', { server_id: id })
    const take = (body: object) => call('POST', '/snapshots', { volume_id: volume.id, ...body })
    const act = (action: string, params: object = {}) => call('POST', `/volumes/${volume.id}/actions`, { action, params })
    await here.audited()
    const created = await take({ name: 'before', labels: { keep: 'yes' } })
    expect([created.status, created.body]).toMatchObject([
      201,
      { state: 'creating', volume_id: volume.id, server_id: null, survives_server: false, created_by: { type: 'user' } },
    ])
    expect(await finish(created.body.action_id)).toMatchObject({ type: 'snapshot.create', status: 'success', error: null })
    expect(await here.audited()).toEqual(['cloud.snapshot.create'])
    expect(double.volumes[0]!.snapshots.map(one => one.name)).toEqual([created.body.id])
    const get = async () => (await call('GET', `/snapshots/${created.body.id}`)).body
    expect(await get()).toMatchObject({ state: 'available', provider_ref: `default/data-1/${created.body.id}`, action_id: null })
    // One that was created there.
    double.volumes[0]!.snapshots.push({ name: 'by-hand', created_at: '2026-11-20T00:00:00Z' })
    await here.advance(300_000)
    const all = (await call('GET', `/snapshots?volume_id=${volume.id}&sort=name`)).body.data
    expect(all.map((one: any) => [one.name, one.origin])).toEqual([
      ['before', 'made'],
      ['by-hand', 'found'],
    ])
    expect(refusal(await act('restore_snapshot', { snapshot_id: created.body.id }))).toEqual([409, 'conflict'])
    await finish((await act('detach', { force: true })).body.id)
    const restored = await act('restore_snapshot', { snapshot_id: created.body.id })
    expect([restored.status, (await get()).state]).toEqual([202, 'restoring'])
    expect((await call('GET', `/volumes/${volume.id}`)).body.state).toBe('restoring')
    expect(await finish(restored.body.id)).toMatchObject({ type: 'volume.restore_snapshot', status: 'success' })
    expect([(await get()).state, (await call('GET', `/volumes/${volume.id}`)).body.state]).toEqual(['available', 'available'])
    // Their refs follow the name of the volume.
    await finish((await call('PATCH', `/volumes/${volume.id}`, { name: 'data-2' })).body.action_id)
    expect((await get()).provider_ref).toBe(`default/data-2/${created.body.id}`)
    double.driver = 'zfs'
    const older = await act('restore_snapshot', { snapshot_id: created.body.id })
    expect([older.status, older.body.detail]).toEqual([409, expect.stringContaining('Delete 1 newer snapshot first: by-hand.')])
    const kept = await call('DELETE', `/volumes/${volume.id}`)
    expect([kept.status, kept.body.detail]).toEqual([409, expect.stringContaining('2 snapshots')])
    for (const one of all) await finish((await call('DELETE', `/snapshots/${one.id}`)).body.id)
    expect(double.volumes[0]!.snapshots).toEqual([])
    await finish((await call('DELETE', `/volumes/${volume.id}`)).body.id)
    expect((await call('GET', '/snapshots')).body.data).toEqual([])
    expect(refusal(await take({ name: 'a' }))).toEqual([422, '#/volume_id'])
    expect(refusal(await call('POST', '/snapshots', { name: 'a' }))).toEqual([422, '#/server_id'])
    expect(refusal(await take({ name: 'a', server_id: id }))).toEqual([422, '#/volume_id'])
  }, 180_000)

  test('are not deleted with snapshots that only the cloud has, but with those that only the workspace has', async () => {
    const here = await world()
    const { volume: bought, call, finish, double } = await incusScene(here)
    const { volume } = await bought('data-1')
    const remove = async () => (await call('DELETE', `/volumes/${volume.id}`)).body
    const created = (await call('POST', '/snapshots', { volume_id: volume.id, name: 'one' })).body
    await finish(created.action_id)
    const [there] = double.volumes
    there!.snapshots = []
    await here.advance(600_000)
    expect((await call('GET', `/snapshots/${created.id}`)).body.state).toBe('missing')
    there!.snapshots.push({ name: 'by-hand', created_at: '2026-11-20T00:00:00Z' })
    const failed = await finish((await remove()).id)
    expect([failed.status, failed.error.detail]).toEqual(['error', expect.stringContaining('has 1 snapshot at the cloud')])
    expect([double.volumes.length, (await call('GET', `/volumes/${volume.id}`)).body.state]).toEqual([1, 'available'])
    there!.snapshots = []
    await here.advance(600_000)
    expect((await finish((await remove()).id)).status).toBe('success')
    expect([double.volumes, (await call('GET', '/snapshots')).body.data]).toEqual([[], []])
  })

  test('are not renamed while an action works on one of their snapshots, nor the other way around', async () => {
    const here = await world()
    const { volume: bought, call, finish, double } = await incusScene(here)
    const { volume } = await bought('data-1')
    const rename = (name: string) => call('PATCH', `/volumes/${volume.id}`, { name })
    const taken = (await call('POST', '/snapshots', { volume_id: volume.id, name: 'a' })).body
    const locked = (holder: string) => [409, 'resource_locked', holder]
    const refused = ({ status, body }: { status: number; body: any }) => [status, body.code, body.holder]
    expect(refused(await rename('data-2'))).toEqual(locked(taken.action_id))
    await finish(taken.action_id)
    const renamed = (await rename('data-2')).body
    expect(refused(await call('DELETE', `/snapshots/${taken.id}`))).toEqual(locked(renamed.action_id))
    const expired = { expiresAt: here.clock.now() - 1 }
    await here.hub.store.transact(tx => tx.update(snapshots).set(expired).where(eq(snapshots.id, taken.id)))
    await watchStorage(here.hub)
    expect((await call('GET', `/snapshots/${taken.id}`)).body.action_id).toBeNull()
    await finish(renamed.action_id)
    // A reading that began before must not write the old ref.
    const [written] = await here.hub.read
      .select({ snapshot: snapshots.writtenAt, volume: volumes.writtenAt })
      .from(snapshots)
      .innerJoin(volumes, eq(volumes.id, snapshots.volumeId))
    expect(written!.snapshot).toBe(written!.volume)
    await watchStorage(here.hub)
    const deletion = (await call('GET', `/snapshots/${taken.id}`)).body.action_id
    expect(refused(await rename('data-3'))).toEqual(locked(deletion))
    await finish(deletion)
    expect(double.volumes.map(one => [one.name, one.snapshots.length])).toEqual([['data-2', 0]])
  }, 180_000)

  test('are restored once: if the response is lost, it is not known whether they were', async () => {
    const here = await world()
    const { volume: bought, call, finish, double } = await incusScene(here)
    const { volume } = await bought('data-1')
    const taken = (await call('POST', '/snapshots', { volume_id: volume.id, name: 'a' })).body
    await finish(taken.action_id)
    double.fault = ({ method }) => (method === 'PUT' ? 'lost' : null)
    const params = { snapshot_id: taken.id }
    const { body } = await call('POST', `/volumes/${volume.id}/actions`, { action: 'restore_snapshot', params })
    expect(await finish(body.id)).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
    expect(double.requests.filter(one => one.method === 'PUT')).toHaveLength(1)
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({ state: 'available', action_id: null })
    expect((await call('GET', `/snapshots/${taken.id}`)).body).toMatchObject({ state: 'available', action_id: null })
  }, 180_000)

  test('have no snapshots at Hetzner', async () => {
    const { bought, call, actOn, here } = await scene()
    const { volume } = await bought('data-1')
    const refused = await call('POST', '/snapshots', { volume_id: volume.id, name: 'a' })
    expect([refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([
      422,
      'unsupported_action',
      '#/volume_id',
    ])
    const acted = await actOn(volume.id, 'restore_snapshot', { snapshot_id: 'snap_01k3z9a1b2c3d4e5f6g7h8j9km' })
    expect([acted.status, acted.body.code, acted.body.supported]).toEqual([
      422,
      'unsupported_action',
      ['attach', 'detach', 'resize', 'set_protection'],
    ])
    const theirs = await here.rival.call('POST', '/v1/snapshots', { volume_id: volume.id, name: 'a' })
    expect(refusal(theirs)).toEqual([422, '#/volume_id'])
  })

  test('are bought after reading only their price', async () => {
    const { bought, double } = await scene()
    double.requests.length = 0
    await bought('data-1')
    expect(double.requests.filter(one => one.path === '/pricing')).toHaveLength(1)
    expect(double.requests.filter(one => ['/server_types', '/images', '/locations'].includes(one.path))).toEqual([])
  })

  test('name what is wrong with the order', async () => {
    const { buy, id, call, here, order } = await scene()
    expect(refusal(await buy('-a'))).toEqual([422, '#/name'])
    expect(refusal(await buy('a', { size_bytes: 9 * gib }))).toEqual([422, '#/size_bytes'])
    expect(refusal(await buy('a', { size_bytes: 10 * gib + 1 }))).toEqual([422, '#/size_bytes'])
    expect(refusal(await buy('a', { location: 'moon1' }))).toEqual([422, '#/location'])
    expect(refusal(await buy('a', { location: null }))).toEqual([422, '#/location'])
    expect(refusal(await buy('a', { location: 'nbg1', server_id: id }))).toEqual([422, '#/location'])
    expect(refusal(await buy('a', { mount_path: '/srv' }))).toEqual([422, '#/mount_path'])
    expect(refusal(await buy('a', { server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km' }))).toEqual([422, '#/server_id'])
    expect(refusal(await buy('a', { account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km' }))).toEqual([422, '#/account_id'])
    const theirs = await here.rival.call('POST', '/v1/volumes', order('a'), { 'Idempotency-Key': 'theirs' })
    expect(refusal(theirs)).toEqual([422, '#/account_id'])
    expect((await call('GET', '/volumes')).body.data).toEqual([])
  })

  test('are attached, detached, grown, and protected', async () => {
    const { id, bought, done, actOn, create, finish, there } = await scene()
    const { volume } = await bought('data-1')
    const [attached, there1] = await done(volume.id, 'attach', { server_id: id })
    expect([attached.type, attached.status, there1.state, there1.server_id]).toEqual(['volume.attach', 'success', 'in_use', id])
    expect((await done(volume.id, 'attach', { server_id: id }))[0].result).toEqual({ unchanged: true })
    const other = (await create('web-2', { location: 'nbg1' })).body
    await finish(other.action_id)
    expect(refusal(await actOn(volume.id, 'attach', { server_id: other.id }))).toEqual([409, 'conflict'])
    const [, grown] = await done(volume.id, 'resize', { size_bytes: 20 * gib, ...price })
    expect([grown.size_bytes, there()[0]!.size, grown.state]).toEqual([20 * gib, 20, 'in_use'])
    expect(refusal(await actOn(volume.id, 'resize', { size_bytes: 10 * gib }))).toEqual([422, '#/params/size_bytes'])
    expect(refusal(await actOn(volume.id, 'resize', { size_bytes: 30 * gib }))).toEqual([422, '#/params/max_monthly_price'])
    const [, guarded] = await done(volume.id, 'set-protection', { delete: true })
    expect(guarded.protection).toEqual({ delete: true })
    expect(refusal(await actOn(volume.id, 'detach'))).toEqual([409, 'conflict'])
    const [, detached] = await done(volume.id, 'detach', { force: true })
    expect([detached.state, detached.server_id, there()[0]!.server]).toEqual(['available', null, null])
    expect(refusal(await actOn(volume.id, 'attach', { server_id: other.id }))).toEqual([422, '#/params/server_id'])
    expect(refusal(await actOn(volume.id, 'format'))).toEqual([422, '#/action'])
  })

  test('are deleted unless they are attached or protected', async () => {
    const { id, bought, done, act, call, finish, there } = await scene()
    const { volume } = await bought('data-1', { server_id: id })
    const path = `/volumes/${volume.id}`
    const inUse = await call('DELETE', path)
    expect([inUse.status, inUse.body.detail]).toEqual([409, `The volume is attached to ${id}. Detach it first.`])
    await finish((await act(id, 'power_off')).body.id)
    await done(volume.id, 'detach')
    await done(volume.id, 'set_protection', { delete: true })
    expect(refusal(await call('DELETE', path))).toEqual([409, 'protected'])
    await done(volume.id, 'set_protection', { delete: false })
    const deleted = await call('DELETE', path)
    expect(refusal(await call('DELETE', path))).toEqual([409, 'resource_locked'])
    expect((await finish(deleted.body.id)).status).toBe('success')
    expect([(await call('GET', path)).status, there().length]).toEqual([404, 0])
  })

  test('follow what happens at the cloud, and outlive their server', async () => {
    const { id, bought, call, finish, double, here, there } = await scene()
    const { volume } = await bought('data-1', { server_id: id })
    const [own] = there()
    double.project.volumes.set(9999, {
      ...structuredClone(own!),
      id: 9999,
      name: 'console',
      labels: { role: 'web' },
      server: null,
    })
    await here.advance(600_000)
    const listed = (query: string) => call('GET', `/volumes?${query}`).then(({ body }) => body.data.map((one: any) => one.name))
    expect(await listed('label_selector=role%3Dweb')).toEqual(['console'])
    expect(await listed('sort=name&state=available')).toEqual(['console'])
    const deleted = await call('DELETE', `/servers/${id}?at_provider=destroy`)
    await finish(deleted.body.id)
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({ state: 'available', server_id: null })
    // Each change there is recorded once.
    await here.audited()
    Object.assign(own!, { name: 'data-one', size: 20 })
    await here.advance(600_000)
    await here.advance(600_000)
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({ name: 'data-one', size_bytes: 20 * gib })
    expect(await here.audited()).toEqual(['cloud.volume.follow'])
    double.project.volumes.delete(own!.id)
    await here.advance(600_000)
    expect((await call('GET', `/volumes/${volume.id}`)).body).toMatchObject({ state: 'missing', price: { monthly: null } })
    expect(await here.audited()).toContain('cloud.volume.follow')
  })

  test('are created and attached at Incus, which creates them at once', async () => {
    const here = await world()
    const { id, volume: bought } = await incusScene(here)
    const { action, volume } = await bought('data-1', { server_id: id, mount_path: '/srv' })
    expect(action).toMatchObject({ status: 'success', error: null })
    expect(volume).toMatchObject({ state: 'in_use', server_id: id, mount_path: '/srv' })
  })

  test('count against the limit of the plan', async () => {
    const { buy, bought, here } = await scene()
    await here.limit(here.acme.workspaceId, { volumes: 1 })
    await bought('one')
    expect(refusal(await buy('two'))).toEqual([403, 'plan_limit_reached'])
  })
})

const unmarked = {
  ...{ status: 'available', serverRef: null, location: null, sizeBytes: 10 * gib, format: null, device: null },
  ...{ mountPath: null, labels: {}, isProtected: false, mark: null },
}

/** An account that adds everything, read from volumes in memory whose refs are names. */
async function readings() {
  const here = await world()
  const { account: created, double } = await cloudScene(here, { import: { mode: 'all', label_selector: null } })
  const [account] = await here.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, created.id))
  // Scheduled readings fail, so they change nothing.
  double.fault = () => 'dropped'
  const there = new Map<string, object>()
  const put = (ref: string, more: object = {}) => there.set(ref, { ...unmarked, ref, name: ref.replace('/', '-'), ...more })
  const storage = {
    list: async (): Promise<object[]> => [...there.values()],
    get: async (ref: string): Promise<object | null> => there.get(ref) ?? null,
  }
  const sync = async () => {
    await here.advance(1000)
    await syncStorage(here.hub, account!, { volumes: storage } as never, null)
  }
  const rows = async () => await here.hub.read.select().from(volumes).where(eq(volumes.accountId, created.id))
  const states = async () => (await rows()).map(one => [one.providerRef, one.origin, one.state])
  return { here, account: account!, there, put, storage, sync, rows, states }
}

describe('readings of volumes', () => {
  test('add each volume once, even if two run side by side', async () => {
    const { put, storage, here, account, states } = await readings()
    put('pool/a')
    const both = Promise.withResolvers<void>()
    let waiting = 0
    const list = async () => {
      const all = await storage.list()
      if (++waiting === 2) both.resolve()
      await both.promise
      return all
    }
    const cloud = { volumes: { ...storage, list } } as never
    await Promise.all([1, 2].map(() => syncStorage(here.hub, account, cloud, null)))
    expect(await states()).toEqual([['pool/a', 'found', 'available']])
  })

  test('tell a volume from another one that uses its name again', async () => {
    const { put, here, sync, rows, states } = await readings()
    put('pool/a')
    await sync()
    const { id } = (await rows())[0]!
    await here.hub.store.transact(tx => tx.update(volumes).set({ origin: 'made' }).where(eq(volumes.id, id)))
    put('pool/a', { mark: id })
    await sync()
    expect(await states()).toEqual([['pool/a', 'made', 'available']])
    put('pool/a')
    await sync()
    await sync()
    expect((await states()).toSorted()).toEqual([
      ['pool/a', 'found', 'available'],
      ['pool/a', 'made', 'missing'],
    ])
    // One that another installation created.
    put('pool/b', { mark: 'vol_01k3z9a1b2c3d4e5f6g7h8j9km' })
    await sync()
    await sync()
    expect((await states()).filter(([ref]) => ref === 'pool/b')).toEqual([['pool/b', 'found', 'available']])
  })

  test('never add a volume again that is deleted here meanwhile', async () => {
    const { put, here, storage, sync, rows, states } = await readings()
    put('pool/a')
    await sync()
    const { list } = storage
    storage.list = async () => {
      const all = await list()
      for (const { id } of await rows()) await here.hub.store.transact(tx => tx.delete(volumes).where(eq(volumes.id, id)))
      return all
    }
    await sync()
    expect(await states()).toEqual([])
  })

  test('never add a volume again that is renamed here meanwhile', async () => {
    const { put, here, storage, sync, rows, states } = await readings()
    put('pool/a')
    await sync()
    const { list } = storage
    storage.list = async () => {
      const all = await list()
      for (const { id } of await rows()) {
        const renamed = { providerRef: 'pool/b', writtenAt: here.clock.now() }
        await here.hub.store.transact(tx => tx.update(volumes).set(renamed).where(eq(volumes.id, id)))
      }
      return all
    }
    await sync()
    expect(await states()).toEqual([['pool/b', 'found', 'available']])
  })

  test('mark missing volumes although others can’t be read', async () => {
    const { put, here, there, storage, sync, states } = await readings()
    for (let n = 0; n < 50; n++) put(`pool/${n}`)
    await sync()
    there.clear()
    put('pool/new')
    storage.get = async ref => {
      if (ref === 'pool/49') return null
      throw new AdapterError('unreachable', 'The node is offline.')
    }
    for (let n = 0; n < 6; n++) {
      await here.advance(300_000)
      await sync()
    }
    const now = await states()
    expect(now.filter(([, , state]) => state === 'missing')).toEqual([['pool/49', 'found', 'missing']])
    expect(now).toContainEqual(['pool/new', 'found', 'available'])
  })

  test('change nothing if the account gets other settings meanwhile', async () => {
    const { put, there, here, account, sync, states } = await readings()
    put('pool/a')
    put('pool/b')
    await sync()
    await here.hub.store.transact(tx =>
      tx.update(cloudAccounts).set({ secretsSealed: 'other' }).where(eq(cloudAccounts.id, account.id)),
    )
    put('pool/a', { sizeBytes: 20 * gib })
    there.delete('pool/b')
    put('pool/c')
    const before = await states()
    await sync()
    expect(await states()).toEqual(before)
  })
})
