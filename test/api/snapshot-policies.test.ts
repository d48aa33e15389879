import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { newId } from '../../src/core/ids'
import { runPolicyJob, runSnapshotPolicies } from '../../src/features/servers/snapshot-policies/run'
import { snapshotPolicies } from '../../src/features/servers/snapshot-policies/tables'
import { snapshots } from '../../src/features/servers/snapshots/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { world } from '../support/world'

const keep = { last: 2, hourly: 0, daily: 0, weekly: 0, monthly: 0 }
const nightly = {
  ...{ name: 'nightly', label_selector: 'role=database', schedule: { cron: '0 3 * * *', timezone: 'Europe/Berlin' }, keep },
  ...{ max_monthly_price: '1.00', currency: 'EUR' },
}

/** Two database servers and another one. */
async function scene() {
  const here = await world()
  const cloud = await cloudScene(here)
  for (const [name, role] of [
    ['db-1', 'database'],
    ['db-2', 'database'],
    ['web-1', 'web'],
  ] as const)
    cloud.double.addServer({ name, labels: { role } })
  await here.advance(60_000)
  const call = (method: string, path: string, body?: object) => here.acme.call(method, `/v1${path}`, body)
  const create = (fields: object = {}) => call('POST', '/snapshot-policies', { ...nightly, ...fields })
  const policyOf = async (id: string) => (await call('GET', `/snapshot-policies/${id}`)).body
  /** Runs a policy, and what follows. */
  const run = async (id: string) => {
    expect((await call('POST', `/snapshot-policies/${id}/run`)).status).toBe(200)
    await runSnapshotPolicies(here.hub)
    for (let minutes = 0; minutes < 3; minutes++) {
      await here.advance(60_000)
      await runSnapshotPolicies(here.hub)
    }
    await here.advance(60_000)
    return (await policyOf(id)).last_run
  }
  /** Lets time pass until the current run has finished. */
  const finishRun = async (id: string) => {
    for (let seconds = 0; seconds < 600; seconds += 10) {
      const { last_run: lastRun } = await policyOf(id)
      if (lastRun.finished) return lastRun
      await here.advance(10_000)
    }
    throw new Error('the run does not finish')
  }
  const list = async (query = '') => (await call('GET', `/snapshots?sort=created_at&${query}`)).body.data
  return { here, ...cloud, call, create, policyOf, run, finishRun, snapshots: list }
}

describe('snapshot policies', () => {
  test('create snapshots of the selected servers, and prune only their own, never protected ones', async () => {
    const { here, create, run, snapshots, call, named, act, finish, policyOf, double } = await scene()
    const db1 = await named('db-1')
    const created = await create()
    expect(created.status).toBe(201)
    const { id } = created.body
    expect(created.body).toMatchObject({ last_run: null, paused: false, keep })
    expect(await run(id)).toMatchObject({ made: 2, failed: [], pruned: 0, finished: true })
    const first = await snapshots()
    expect(first.map((one: any) => one.created_by)).toEqual([
      { type: 'policy', id },
      { type: 'policy', id },
    ])
    const own = await act(db1.id, 'snapshot', { name: 'manual', max_monthly_price: '1', currency: 'EUR' })
    await finish(own.body.id)
    await run(id)
    const [protectedOne] = await snapshots(`server_id=${db1.id}`)
    await call('PATCH', `/snapshots/${protectedOne.id}`, { protected: true })
    expect(await run(id)).toMatchObject({ made: 2, pruned: 1 })
    const left = await snapshots(`server_id=${db1.id}`)
    expect(left).toHaveLength(4)
    expect(left[0].id).toBe(protectedOne.id)
    expect(left.map((one: any) => one.name)).toContain('manual')
    const db2 = await named('db-2')
    expect(await snapshots(`server_id=${db2.id}`)).toHaveLength(2)
    expect((await policyOf(id)).next_at > new Date(here.clock.now()).toISOString()).toBe(true)
    expect(double.offences).toEqual([])
  }, 180_000)

  test('never delete the last good ones while new ones fail, and notify after two failures in a row', async () => {
    const { here, create, run, snapshots, double, call } = await scene()
    const { id } = (await create({ keep: { ...keep, last: 1 } })).body
    await run(id)
    double.project.actionErrors = { create_image: { code: 'action_failed', message: 'no space' } }
    const notices = async () =>
      (await call('GET', '/notices')).body.data.filter((one: any) => one.kind === 'snapshot_policy.failing')
    const failed = await run(id)
    expect([failed.made, failed.pruned, failed.failed.length]).toEqual([0, 0, 2])
    expect(await notices()).toHaveLength(0)
    await run(id)
    expect((await notices()).map((one: any) => one.count)).toEqual([1])
    expect(await snapshots('state=available')).toHaveLength(2)
    double.project.actionErrors = {}
    expect(await run(id)).toMatchObject({ made: 2, failed: [], pruned: 2 })
    expect(await snapshots('state=available')).toHaveLength(2)
    expect(await here.audited()).toContain('cloud.snapshot_policy.run')
  }, 180_000)

  test('never prune the snapshots of deleted servers', async () => {
    const { here, create, run, snapshots, call, named } = await scene()
    const { id } = (await create({ keep: { ...keep, last: 1 } })).body
    await run(id)
    const remove = async (name: string) => (await call('DELETE', `/servers/${(await named(name)).id}?at_provider=keep`)).status
    expect(await remove('db-1')).toBe(204)
    await call('POST', `/snapshot-policies/${id}/run`)
    await runSnapshotPolicies(here.hub)
    for (let seconds = 0; seconds < 120 && (await snapshots('state=available')).length < 3; seconds += 5) await here.advance(5000)
    expect(await snapshots('state=available')).toHaveLength(3)
    // Its snapshot exists, but the run has not ended.
    expect(await remove('db-2')).toBe(204)
    await runSnapshotPolicies(here.hub)
    await here.advance(60_000)
    expect((await call('GET', `/snapshot-policies/${id}`)).body.last_run).toMatchObject({ made: 1, pruned: 0, finished: true })
    expect(await snapshots('state=available')).toHaveLength(3)
  }, 180_000)

  test('run one at a time, so that no failure is lost', async () => {
    const { here, create, call, named, act, finish, double, policyOf, finishRun, snapshots } = await scene()
    const { id } = (await create()).body
    double.project.actionMs = command => (command === 'stop_server' ? 120_000 : 0)
    // One of the servers is busy.
    const busy = await act((await named('db-1')).id, 'power_off')
    await call('POST', `/snapshot-policies/${id}/run`)
    await Promise.all([runSnapshotPolicies(here.hub), runSnapshotPolicies(here.hub)])
    // Due again, while the first run has not even begun to start snapshots.
    await call('POST', `/snapshot-policies/${id}/run`)
    await runSnapshotPolicies(here.hub)
    await here.advance(1000)
    await runSnapshotPolicies(here.hub)
    expect((await policyOf(id)).last_run).toMatchObject({
      finished: false,
      failed: [{ detail: expect.stringContaining(busy.body.id) }],
    })
    expect(await finishRun(id)).toMatchObject({ made: 1, failed: [{}] })
    expect(await snapshots()).toHaveLength(1)
    await finish(busy.body.id)
    // The run that was requested meanwhile.
    await runSnapshotPolicies(here.hub)
    expect(await finishRun(id)).toMatchObject({ made: 2, failed: [] })
    expect(await snapshots()).toHaveLength(3)
  }, 180_000)

  test('continue after an interruption where they were, and delete in several transactions', async () => {
    const { here, create, call, named, finishRun, snapshots: list } = await scene()
    const { id } = (await create()).body
    const at = new Date(here.clock.now()).toISOString()
    const job = { kind: runPolicyJob.kind, payload: { snapshot_policy_id: id, at } }
    const begin = (jobs: (typeof job)[] = []) =>
      record(here.hub, async tx => {
        const lastRun = { at, made: 0, failed: [], pruned: 0, finished: false }
        const columns = { lastRun, run: { phase: 'start' as const, after: '' } }
        await tx.update(snapshotPolicies).set(columns).where(eq(snapshotPolicies.id, id))
        return { result: undefined, jobs }
      })
    await begin()
    // Its result is not recorded, as after a crash: what it started is not started again.
    await runPolicyJob.run(here.hub, job as never, undefined)
    await begin([job])
    expect(await finishRun(id)).toMatchObject({ made: 2, failed: [] })
    expect(await list()).toHaveLength(2)
    const [like] = await here.hub.read.select().from(snapshots)
    const db1 = await named('db-1')
    await record(here.hub, async tx => {
      for (let n = 0; n < 60; n++) {
        const old = { ...like!, id: newId('snap'), serverId: db1.id, providerRef: String(900_000 + n), createdAt: n, takenAt: n }
        await tx.insert(snapshots).values(old)
      }
      return { result: undefined }
    })
    await here.advance(60_000)
    await call('POST', `/snapshot-policies/${id}/run`)
    const most = { deletions: 0 }
    const { transact } = here.hub.store
    here.hub.store.transact = async (fn, ...more) => {
      const deleting = async () => (await here.hub.read.select().from(snapshots).where(eq(snapshots.state, 'deleting'))).length
      const before = await deleting()
      const result = await transact.call(here.hub.store, fn, ...more)
      most.deletions = Math.max(most.deletions, (await deleting()) - before)
      return result as never
    }
    await runSnapshotPolicies(here.hub)
    // Of db-1, two of 62 are kept.
    expect(await finishRun(id)).toMatchObject({ made: 2, failed: [], pruned: 60 })
    expect(most.deletions).toBeGreaterThan(1)
    expect(most.deletions).toBeLessThanOrEqual(50)
    expect(await list()).toHaveLength(4)
  }, 180_000)

  test('run again after the job of a run failed permanently', async () => {
    const { here, create, call, policyOf, run } = await scene()
    const { id } = (await create()).body
    for (let n = 0; n < 2; n++) {
      await call('POST', `/snapshot-policies/${id}/run`)
      await runSnapshotPolicies(here.hub)
      await here.settle()
      // Not while the job waits.
      await runSnapshotPolicies(here.hub)
      expect((await policyOf(id)).last_run.finished).toBe(false)
      const failed = { state: 'failed' as const, failedAt: here.clock.now() }
      await here.hub.store.transact(tx => tx.update(jobs).set(failed).where(eq(jobs.kind, runPolicyJob.kind)))
      await here.advance(60_000)
      await runSnapshotPolicies(here.hub)
      const ended = { server_id: null, detail: expect.stringContaining('failed permanently') }
      expect((await policyOf(id)).last_run).toMatchObject({ finished: true, failed: [ended] })
    }
    const { body } = await call('GET', '/notices?kind=snapshot_policy.failing')
    expect(body.data.map((one: any) => one.count)).toEqual([1])
    expect(await run(id)).toMatchObject({ made: 2, failed: [], finished: true })
  }, 180_000)

  test('run on their schedule, in its time zone, unless they are paused', async () => {
    const { here, create, policyOf, snapshots, call } = await scene()
    const { id, next_at: next } = (await create()).body
    expect(next.slice(11)).toBe('02:00:00.000Z')
    await here.advance(Date.parse(next) - here.clock.now() + 1000)
    await runSnapshotPolicies(here.hub)
    await runSnapshotPolicies(here.hub)
    await here.advance(60_000)
    expect(await snapshots()).toHaveLength(2)
    expect(Date.parse((await policyOf(id)).next_at) - Date.parse(next)).toBe(86_400_000)
    expect((await call('PATCH', `/snapshot-policies/${id}`, { paused: true })).body.next_at).toBeNull()
    expect((await call('DELETE', `/snapshot-policies/${id}`)).status).toBe(204)
    expect(await snapshots()).toHaveLength(2)
  }, 180_000)

  test('reject what would never run or keep nothing', async () => {
    const { create } = await scene()
    const pointers = async (fields: object) => {
      const { status, body } = await create(fields)
      return [status, ...(body.errors ?? []).map((one: any) => one.pointer)]
    }
    expect(await pointers({ keep: { ...keep, last: 0 } })).toEqual([422, '#/keep'])
    expect(await pointers({ schedule: { cron: '0 0 30 2 *', timezone: 'UTC' } })).toEqual([422, '#/schedule/cron'])
    expect(await pointers({ schedule: { cron: 'often', timezone: 'UTC' } })).toEqual([422, '#/schedule/cron'])
    expect(await pointers({ schedule: { cron: '0 3 * * *', timezone: 'Mars/Olympus' } })).toEqual([422, '#/schedule/timezone'])
    expect(await pointers({ label_selector: 'a=b=c' })).toEqual([422, '#/label_selector'])
    expect(await pointers({ server_ids: ['srv_01k3z9a1b2c3d4e5f6g7h8j9km'] })).toEqual([422, '#/server_ids/0'])
    expect((await create()).status).toBe(201)
    expect((await create()).status).toBe(409)
  })
})
