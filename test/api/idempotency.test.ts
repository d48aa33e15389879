import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { retentionMs, claimKey } from '../../src/api/idempotency'
import { tokens } from '../../src/access/tables'
import { record } from '../../src/core/change'
import { sha256Hex } from '../../src/core/crypto'
import { auditEntries, hubs, idempotencyKeys } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import { addWorkspace, world, type ApiResponse, type Caller, type World } from '../support/world'

const ci = { name: 'ci', permissions: ['dns.read'] }
const post = (caller: Caller, key: string, body: unknown = ci, path = '/v1/tokens') =>
  caller.call('POST', path, body, { 'idempotency-key': key })
const isReplay = (response: ApiResponse) => response.headers.get('idempotent-replayed') === 'true'
const madeTokens = async ({ hub }: World) => (await hub.read.select().from(tokens).where(eq(tokens.name, 'ci'))).length
const keyRows = ({ hub }: World) => hub.read.select().from(idempotencyKeys)

/** The row of a request that is running in another process, or was when that process died. */
async function leaveRow(here: World, key: string, runningIn: string | null, response: object = {}): Promise<void> {
  const fingerprint = sha256Hex(`POST\n/v1/tokens\n\n${JSON.stringify(ci)}`)
  await record(here.hub, async tx => {
    await tx.insert(idempotencyKeys).values({
      workspaceId: here.acme.workspaceId,
      method: 'POST',
      path: '/v1/tokens',
      key,
      fingerprint,
      runningIn,
      createdAt: here.clock.now(),
      ...response,
    })
    return { result: undefined }
  })
}

async function addHub(here: World, id = newId('hub')): Promise<Hub> {
  const now = here.clock.now()
  await record(here.hub, async tx => {
    await tx.insert(hubs).values({ id, host: 'other', version: '0', startedAt: now, seenAt: now })
    return { result: undefined }
  })
  return { ...here.hub, id }
}

/** Runs something right before the n-th transaction from now. */
function beforeTransaction(hub: Hub, n: number, happens: () => Promise<void>): void {
  const { store } = hub
  let left = n
  hub.store = {
    ...store,
    async transact(fn) {
      if (--left === 0) {
        hub.store = store
        await happens()
      }
      return await store.transact(fn)
    },
  }
}

const takenBy = (hub: Hub, other: string) => async () => {
  await record(hub, async tx => {
    await tx.update(idempotencyKeys).set({ runningIn: other })
    return { result: undefined }
  })
}

test('a repeated request gets the first response without the secret, and nothing is created twice', async () => {
  const here = await world()
  const first = await post(here.acme, 'k1')
  const again = await post(here.acme, 'k1')
  expect([first.status, again.status, isReplay(first), isReplay(again)]).toEqual([201, 201, false, true])
  const { token, ...withoutToken } = first.body
  expect(token).toStartWith('bw_live_')
  expect(again.body).toEqual({ ...withoutToken, secret_shown_before: true })
  for (const name of ['location', 'etag']) expect([name, again.headers.get(name) !== null]).toEqual([name, true])
  expect(again.headers.get('location')).toBe(first.headers.get('location'))
  expect(await madeTokens(here)).toBe(1)
})

test('a key is valid for one request, one workspace and one day', async () => {
  const here = await world()
  await post(here.acme, 'k1')
  const other = await post(here.acme, 'k1', { ...ci, name: 'another' })
  expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused'])
  expect(isReplay(await post(here.rival, 'k1'))).toBe(false)
  here.clock.advance(retentionMs + 1)
  const next = await post(here.acme, 'k1')
  expect([next.status, isReplay(next)]).toEqual([201, false])
})

test('two concurrent requests run once', async () => {
  const here = await world()
  const responses = await Promise.all([1, 2, 3, 4].map(() => post(here.acme, 'k1')))
  expect(responses.filter(one => one.status === 201 && !isReplay(one))).toHaveLength(1)
  for (const one of responses.filter(other => other.status !== 201)) {
    expect([one.body.code, one.headers.get('retry-after')]).toEqual(['idempotency_in_progress', '1'])
  }
  expect(await madeTokens(here)).toBe(1)
})

test('a body that the handler rejects can be corrected under the same key', async () => {
  const here = await world()
  const wrong = await post(here.acme, 'k1', { name: 'ci' })
  expect([wrong.status, wrong.body.code]).toEqual([422, 'validation_failed'])
  const right = await post(here.acme, 'k1')
  expect([right.status, isReplay(right)]).toEqual([201, false])
  const cron = (expression: string) => ({
    name: 'night',
    schedule: { kind: 'cron', expression, timezone: 'UTC', grace_seconds: 60 },
  })
  const bad = await post(here.acme, 'k2', cron('0 0 30 2 *'), '/v1/heartbeats')
  expect([bad.status, bad.body.errors[0].pointer]).toEqual([422, '#/schedule/expression'])
  expect((await post(here.acme, 'k2', cron('0 2 * * *'), '/v1/heartbeats')).status).toBe(201)
})

test('a missing permission is not stored as the response', async () => {
  const here = await world()
  const clerk = await here.scoped('account.write')
  const refused = await post(clerk, 'k1')
  expect([refused.status, refused.body.code]).toEqual([403, 'insufficient_permission'])
  expect(await keyRows(here)).toEqual([])
  expect((await post(here.acme, 'k1')).status).toBe(201)
})

test('errors decided by the handler are stored: 404, 409 and plan limits', async () => {
  const here = await world()
  const gone = '/v1/heartbeats/hb_01jd8f3q7eeb9bv0w0r8c7hq2m/pause'
  await post(here.acme, 'k1', {}, gone)
  const missing = await post(here.acme, 'k1', {}, gone)
  expect([missing.status, missing.body.code, isReplay(missing)]).toEqual([404, 'not_found', true])
  expect(missing.headers.get('content-type')).toStartWith('application/problem+json')

  await addWorkspace(here.hub, 'taken', 'pro')
  await post(here.acme, 'k2', { name: 'taken' }, '/v1/workspaces')
  const taken = await post(here.acme, 'k2', { name: 'taken' }, '/v1/workspaces')
  expect([taken.status, taken.body.code, isReplay(taken)]).toEqual([409, 'already_exists', true])

  await here.limit(here.acme.workspaceId, { tokens: 0 })
  await post(here.acme, 'k3')
  await here.limit(here.acme.workspaceId, {})
  const limited = await post(here.acme, 'k3')
  expect([limited.status, limited.body.code, isReplay(limited)]).toEqual([403, 'plan_limit_reached', true])
})

test('a request whose process died is run again', async () => {
  const here = await world()
  await leaveRow(here, 'k1', 'hub_gone')
  const response = await post(here.acme, 'k1')
  expect([response.status, isReplay(response)]).toEqual([201, false])
  expect(await madeTokens(here)).toBe(1)
})

test('a response whose process died right after the commit is replayed', async () => {
  const here = await world()
  const real = await here.acme.call('POST', '/v1/tokens', ci)
  const { token, ...withoutToken } = real.body
  expect(token).toBeString()
  const response = { status: 201, body: JSON.stringify(withoutToken), location: `/v1/tokens/${withoutToken.id}`, etag: '"1.a"' }
  await leaveRow(here, 'k1', null, response)
  const replay = await post(here.acme, 'k1')
  expect([replay.status, isReplay(replay), replay.body]).toEqual([201, true, withoutToken])
  expect(await madeTokens(here)).toBe(1)
})

test('a request running in a live hub blocks repeats, and is run again once that hub is lost', async () => {
  const here = await world()
  const other = await addHub(here)
  await leaveRow(here, 'k1', other.id)
  const busy = await post(here.acme, 'k1')
  expect([busy.status, busy.body.code]).toEqual([409, 'idempotency_in_progress'])
  here.clock.advance(60_000)
  expect((await post(here.acme, 'k1')).status).toBe(201)
})

test('if two hubs find the key of a dead hub, only one claims it', async () => {
  const here = await world()
  const pair = [await addHub(here), await addHub(here)]
  for (let round = 0; round < 20; round++) {
    const key = `k${round}`
    await leaveRow(here, key, 'hub_gone')
    const keys = { workspaceId: here.acme.workspaceId, method: 'POST', path: '/v1/tokens', key }
    const body = new TextEncoder().encode(JSON.stringify(ci))
    const outcomes = await Promise.allSettled(pair.map(hub => claimKey(hub, keys, { search: '', body })))
    expect(outcomes.map(one => one.status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(outcomes.find(one => one.status === 'rejected')!.reason).toMatchObject({ code: 'idempotency_in_progress' })
  }
})

test('a hub that was taken for dead in the meantime changes nothing', async () => {
  const here = await world()
  const other = await addHub(here)
  // The first transaction claims the key, the second is the change.
  beforeTransaction(here.hub, 2, takenBy(here.hub, other.id))
  const late = await post(here.acme, 'k1')
  expect([late.status, late.body.code, late.headers.get('retry-after')]).toEqual([409, 'idempotency_in_progress', '1'])
  expect(await madeTokens(here)).toBe(0)
  expect(await keyRows(here)).toMatchObject([{ key: 'k1', runningIn: other.id, status: null }])
})

test('it does not store a response that was decided without a change either', async () => {
  const here = await world()
  const other = await addHub(here)
  // Claiming the key, the change that finds nothing and is reverted, storing the response.
  beforeTransaction(here.hub, 3, takenBy(here.hub, other.id))
  const late = await post(here.acme, 'k1', {}, '/v1/heartbeats/hb_01jd8f3q7eeb9bv0w0r8c7hq2m/pause')
  expect([late.status, late.body.code]).toEqual([409, 'idempotency_in_progress'])
  expect(await keyRows(here)).toMatchObject([{ key: 'k1', runningIn: other.id, status: null }])
})

test('a key that could not be released is free again, and the caller gets the original response', async () => {
  const here = await world()
  beforeTransaction(here.hub, 2, () => Promise.reject(new Error('the database is away')))
  expect((await post(here.acme, 'k1', { name: 'ci' })).body.code).toBe('validation_failed')
  expect(await keyRows(here)).toMatchObject([{ key: 'k1', runningIn: here.hub.id }])
  const again = await post(here.acme, 'k1')
  expect([again.status, isReplay(again)]).toEqual([201, false])
})

test('a malformed key is refused and not audited', async () => {
  const here = await world()
  for (const key of ['x'.repeat(256), 'with space', 'é']) {
    const response = await post(here.acme, key)
    expect([key.slice(0, 10), response.status, response.body.code]).toEqual([key.slice(0, 10), 400, 'malformed_request'])
    expect((await post(here.readOnly, key)).status).toBe(403)
  }
  await post(here.acme, 'x'.repeat(255))
  const kept = (await here.hub.read.select().from(auditEntries).where(eq(auditEntries.workspaceId, here.acme.workspaceId)))
    .map(entry => entry.context.idempotency_key)
    .filter(key => key !== null)
  expect(kept).toEqual(['x'.repeat(255)])
})
