import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { waitingCount } from '../../src/api/long-poll'
import { record, systemActor } from '../../src/core/change'
import { jobs } from '../../src/core/db/tables'
import { lease } from '../../src/core/jobs/claim'
import { reap } from '../../src/core/jobs/queue'
import { Worker } from '../../src/core/jobs/worker'
import { conflict } from '../../src/core/problem'
import type { ActionKind, Next, Work } from '../../src/features/actions/kind'
import { pruneActions } from '../../src/features/actions/retention'
import { actionJob } from '../../src/features/actions/run'
import { startAction } from '../../src/features/actions/start'
import { callerWith, world, type World } from '../support/world'

const server = 'srv_01k3zb2c4d6e8f0g2h4j6k8m0n'

/** An action kind whose chunks the test defines, its worker, and functions to start and get actions. */
function kindOf(here: World, more: Partial<ActionKind> & { chunk(work: Work): Promise<Next> }) {
  const { chunk, ...rest } = more
  const kind: ActionKind = {
    type: 'server.polish',
    area: 'cloud',
    audit: 'webhooks.endpoint.recover',
    cancelable: true,
    resumable: true,
    steps: ['wash', 'wax', 'dry'],
    concurrency: 4,
    leaseMs: 60_000,
    async run(_hub, work) {
      const result = await chunk(work)
      return async () => ({ result })
    },
    ...rest,
  }
  const worker = new Worker(here.hub, [actionJob(kind)] as never)
  const start = async (ids: string[] = [server], workspaceId = here.acme.workspaceId) =>
    await record(here.hub, async tx => {
      const resources = ids.map(id => ({ type: 'server', id })) as [{ type: string; id: string }]
      const by = { hub: here.hub, workspaceId, actor: systemActor('test') }
      const { action, job } = await startAction(tx, by, kind, { resources, input: { with: 'wax' } })
      return { result: action, jobs: [job] }
    })
  const show = async (id: string) => (await here.acme.call('GET', `/v1/actions/${id}`)).body
  return { kind, worker, start, show, stop: () => worker.stop(5_000) }
}

const killed = new Error('the process died')

test('an action runs chunk by chunk, with progress and steps, to its result', async () => {
  const here = await world()
  const seen: unknown[] = []
  const { worker, start, show, stop } = kindOf(here, {
    async chunk({ input, state, report }) {
      seen.push([input, state])
      if (state === null) {
        await report({ step: 'wax', progress: 20 })
        return { state: { coats: 1 }, progress: 60, result: { coats: 1 }, at: here.clock.now() + 1_000 }
      }
      return { done: { coats: 2 } }
    },
  })
  const action = await start()
  await worker.idle()
  const halfway = await show(action.id)
  expect(halfway).toMatchObject({ status: 'running', progress: 60, result: { coats: 1 }, finished_at: null, cancelable: true })
  expect(halfway.steps.map((one: any) => one.status)).toEqual(['skipped', 'running', 'pending'])
  here.clock.advance(1_000)
  await worker.idle()
  const finished = await show(action.id)
  expect(finished).toMatchObject({ status: 'success', progress: 100, result: { coats: 2 }, error: null, cancelable: false })
  expect(finished.steps.map((one: any) => one.status)).toEqual(['skipped', 'success', 'skipped'])
  expect(seen).toEqual([
    [{ with: 'wax' }, null],
    [{ with: 'wax' }, { coats: 1 }],
  ])
  await stop()
})

test('notices of a chunk are created', async () => {
  const here = await world()
  const { worker, start, stop } = kindOf(here, {
    chunk: async () => ({ done: null }),
    run:
      async (_hub, { workspaceId }) =>
      async () => ({
        result: { done: null },
        notices: [
          { workspaceId, kind: 'webhook_endpoint.resumed', resource: null, text: 'It shines.', details: {}, dedupKey: 'shine' },
        ],
      }),
  })
  await start()
  await worker.idle()
  expect((await here.acme.call('GET', '/v1/notices')).body.data.map((one: any) => one.text)).toEqual(['It shines.'])
  await stop()
})

test('a resource is locked for one action at a time, and the error names it', async () => {
  const here = await world()
  const { worker, start, stop } = kindOf(here, { chunk: async () => ({ done: null }) })
  const other = 'srv_01k3zb2c4d6e8f0g2h4j6k8m0p'
  const [first, second] = await Promise.allSettled([start([server, other]), start([other])])
  const won = [first, second].find(one => one.status === 'fulfilled')!.value
  const lost = [first, second].find(one => one.status === 'rejected')!.reason
  expect([lost.code, lost.status, lost.extras.fields]).toEqual(['resource_locked', 409, { holder: won.id }])
  await worker.idle()
  expect((await start([other])).status).toBe('pending')
  await worker.idle()
  const { body } = await here.acme.call('GET', `/v1/actions?resource_id=${other}`)
  expect(body.data).toHaveLength(2)
  await stop()
})

test('a waiting request returns when the action has finished, not before', async () => {
  const here = await world()
  const gate = Promise.withResolvers<void>()
  const { worker, start, stop } = kindOf(here, {
    async chunk({ state }) {
      if (state !== null) await gate.promise
      return state === null ? { state: { on: true } } : { done: { shine: true } }
    },
  })
  const { id } = await start()
  const wait = (seconds: number) => here.acme.call('GET', `/v1/actions/${id}`, undefined, { prefer: `wait=${seconds}` })
  const waiting = wait(30)
  while (waitingCount(here.hub) < 1) await Bun.sleep(1)
  await Bun.sleep(20)
  expect(waitingCount(here.hub)).toBe(1)
  gate.resolve()
  const response = await waiting
  expect([response.body.status, response.body.result, response.headers.get('preference-applied')]).toEqual([
    'success',
    { shine: true },
    'wait=30',
  ])
  expect((await wait(30)).body.status).toBe('success')
  await worker.idle()
  await stop()
})

test('an action whose process died is resumed, or ends as interrupted if it is not resumable', async () => {
  for (const resumable of [true, false]) {
    const here = await world()
    let lost: (() => void) | null = null
    const states: unknown[] = []
    const { worker, start, show, stop, kind } = kindOf(here, {
      resumable,
      async chunk({ state }) {
        states.push(state)
        if (state === null) return { state: { coats: 1 } }
        // The first process never returns from its second chunk.
        if (!lost) await new Promise<void>(resolve => (lost = resolve))
        return { done: null }
      },
    })
    const { id } = await start()
    while (!lost) await Bun.sleep(1)
    await record(here.hub, async tx => {
      // As after many processes that died. The job fails permanently only after more of them.
      const lost = { state: 'ready' as const, lockedBy: null, lockedUntil: null, attempts: 0, lostRuns: 20 }
      await tx.update(jobs).set(lost).where(eq(jobs.lane, id))
      return { result: undefined }
    })
    const second = new Worker({ ...here.hub, id: 'hub_second' }, [actionJob(kind)] as never)
    await here.audited()
    second.wake()
    await second.idle()
    const ended = await show(id)
    expect([ended.status, ended.error?.code ?? null]).toEqual(resumable ? ['success', null] : ['error', 'interrupted'])
    expect(states).toEqual(resumable ? [null, { coats: 1 }, { coats: 1 }] : [null, { coats: 1 }])
    expect(await here.audited()).toEqual(resumable ? [] : ['webhooks.endpoint.recover failure'])
    // The late result of the first process is not stored.
    ;(lost as () => void)()
    await worker.idle()
    expect((await show(id)).finished_at).toBe(ended.finished_at)
    await Promise.all([stop(), second.stop(5_000)])
    expect((await start()).status).toBe('pending')
  }
})

test('runs whose process died don’t count as failed attempts', async () => {
  const here = await world()
  let fails = 2
  const { worker, start, show, stop } = kindOf(here, {
    async chunk() {
      if (fails-- > 0) throw killed
      return { done: null }
    },
  })
  const { id } = await start()
  await worker.idle()
  // In one transaction, so that the worker can't claim the job in between.
  await record(here.hub, async tx => {
    const [job] = await tx.select().from(jobs).where(eq(jobs.lane, id))
    for (let n = 0; n < 15; n++) {
      await lease(tx, here.hub, [job!.id], 60_000)
      here.clock.advance(60_001)
      await reap(tx, here.hub)
    }
    return { result: undefined }
  })
  for (const status of ['running', 'success']) {
    here.clock.advance(600_000)
    await worker.idle()
    expect((await show(id)).status).toBe(status)
  }
  await stop()
})

test('errors are retried for a limited time, and a problem ends the action', async () => {
  const here = await world()
  let fails = 2
  const { worker, start, show, stop } = kindOf(here, {
    async chunk({ resources }) {
      if (resources[0]!.id !== server) return { failed: conflict('No water.'), result: { litres: 0 } }
      if (fails-- > 0) throw killed
      return { done: null }
    },
  })
  const { id } = await start()
  await worker.idle()
  expect((await show(id)).status).toBe('running')
  for (let n = 0; n < 2; n++) {
    here.clock.advance(10_000)
    await worker.idle()
  }
  expect((await show(id)).status).toBe('success')
  fails = Infinity
  const failing = await start()
  for (let n = 0; n < 12; n++) {
    here.clock.advance(600_000)
    await worker.idle()
  }
  expect((await show(failing.id)).error).toMatchObject({ code: 'internal_error', status: 500, type: '/problems/internal_error' })
  const { body } = await here.acme.call('GET', '/v1/notices?kind=action.failed')
  expect(body.data.map((one: any) => [one.severity, one.count, one.details.action_id, one.details.code])).toEqual([
    ['warning', 1, failing.id, 'internal_error'],
  ])
  const dry = await start(['srv_01k3zb2c4d6e8f0g2h4j6k8m0p'])
  await worker.idle()
  expect(await show(dry.id)).toMatchObject({
    status: 'error',
    result: { litres: 0 },
    error: { code: 'conflict', detail: 'No water.', status: 409 },
  })
  await stop()
})

test('an action whose results can’t be committed ends after a limited time', async () => {
  const here = await world()
  const { worker, start, show, stop } = kindOf(here, {
    chunk: async () => ({ done: null }),
    run: async () => async () => {
      throw conflict('No water.')
    },
  })
  const { id } = await start()
  for (let n = 0; n < 12; n++) {
    await worker.idle()
    here.clock.advance(600_000)
  }
  expect(await show(id)).toMatchObject({ status: 'error', error: { code: 'internal_error' } })
  expect((await start()).status).toBe('pending')
  await stop()
})

test('an action is canceled immediately or after its chunk, if its type allows it', async () => {
  const here = await world()
  const gate = Promise.withResolvers<void>()
  let running = false
  const { worker, start, show, stop } = kindOf(here, {
    async chunk({ report }) {
      running = true
      await gate.promise
      here.clock.advance(2_000)
      expect(await report({ progress: 50 })).toBe(true)
      return { state: { coats: 1 } }
    },
  })
  const cancel = (id: string, by = here.acme) => by.call('POST', `/v1/actions/${id}/cancel`)
  const { id } = await start()
  while (!running) await Bun.sleep(1)
  await here.audited()
  const requested = await cancel(id)
  expect([requested.status, requested.body.status]).toEqual([202, 'running'])
  expect(requested.body.cancel_requested_at).not.toBeNull()
  gate.resolve()
  await worker.idle()
  expect(await show(id)).toMatchObject({ status: 'canceled', progress: 50, error: null })
  expect((await cancel(id)).body.code).toBe('conflict')
  expect(await here.audited()).toEqual(['account.action.cancel'])
  await stop()
  const waiting = await start()
  expect((await cancel(waiting.id)).body.status).toBe('canceled')
  const reader = await here.scoped('cloud.read')
  const again = await start()
  await here.audited()
  const refused = await cancel(again.id, reader)
  expect([refused.status, refused.body.required_permission]).toEqual([403, 'cloud.write'])
  expect(await here.audited()).toEqual(['account.action.cancel denied'])
  const fixed = kindOf(here, { cancelable: false, chunk: async () => ({ done: null }) })
  await fixed.stop()
  const other = await fixed.start(['srv_01k3zb2c4d6e8f0g2h4j6k8m0p'])
  expect((await cancel(other.id)).status).toBe(409)
})

test('actions are only visible with read permission on their area', async () => {
  const here = await world()
  const { worker, start, stop } = kindOf(here, { chunk: async () => ({ done: null }) })
  const { id } = await start()
  await worker.idle()
  const list = async (by = here.acme, query = '') =>
    (await by.call('GET', `/v1/actions?${query}`)).body.data.map((one: any) => one.id)
  expect(await list()).toEqual([id])
  expect(await list(here.acme, 'status=success&type=server.polish&area=cloud,dns&resource_type=server')).toEqual([id])
  expect(await list(here.acme, 'status=pending,running')).toEqual([])
  const dns = await here.scoped('dns.read')
  expect(await list(dns)).toEqual([])
  expect(await list(dns, 'area=cloud')).toEqual([])
  expect(await list(await here.scoped('cloud.read'))).toEqual([id])
  for (const by of [dns, here.rival]) expect((await by.call('GET', `/v1/actions/${id}`)).status).toBe(404)
  const restricted = await here.acme.call('POST', '/v1/tokens', {
    name: 'restricted',
    mode: 'full',
    resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m0n'],
  })
  expect(await list(callerWith(here.app, here.acme.workspaceId, restricted.body.token))).toEqual([])
  await stop()
})

test('actions are deleted 30 days after they finish, and orphaned ones are ended', async () => {
  const here = await world()
  const { worker, start, show, stop } = kindOf(here, { chunk: async () => ({ done: null }) })
  const old = await start()
  await worker.idle()
  await stop()
  const orphaned = await start()
  await pruneActions(here.hub)
  expect((await show(orphaned.id)).status).toBe('pending')
  await record(here.hub, async tx => {
    await tx.update(jobs).set({ state: 'failed' }).where(eq(jobs.lane, orphaned.id))
    return { result: undefined }
  })
  here.clock.advance(30 * 86_400_000 + 1)
  await pruneActions(here.hub)
  expect(await show(orphaned.id)).toMatchObject({ status: 'error', error: { code: 'interrupted' } })
  expect((await here.acme.call('GET', `/v1/actions/${old.id}`)).status).toBe(404)
})
