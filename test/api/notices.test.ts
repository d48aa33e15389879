import { createTokenAsOperator } from '../../src/features/tokens/commands'
import { warnOfExpiringTokens } from '../../src/features/tokens/expiry'
import { describe, expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import type { NoticeDraft } from '../../src/core/notices'
import { maxNotices, pruneNotices } from '../../src/features/notices/retention'
import { jobs } from '../../src/core/db/tables'
import { notifyFailedJobs } from '../../src/hub/failed-jobs'
import { callerWith, world, type Caller, type World } from '../support/world'

const hour = 3_600_000
const day = 24 * hour

const noticesOf = async (caller: Caller, query = ''): Promise<any[]> =>
  (await caller.call('GET', `/v1/notices?limit=100${query}`)).body.data
const summaries = async (caller: Caller) =>
  (await noticesOf(caller)).map(one => [one.kind, one.severity, one.resource?.name, one.count])
/** Runs a scheduled task on three hubs at the same time, then once more. */
const runOnHubs = async (run: () => Promise<unknown>) => {
  await Promise.all([run(), run(), run()])
  await run()
}
const note = ({ hub, acme }: World, key: string, more: Partial<NoticeDraft> = {}) =>
  record(hub, async () => ({
    result: undefined,
    notices: [
      {
        workspaceId: acme.workspaceId,
        kind: 'plan.limit_near' as const,
        resource: null,
        text: `Notice ${key}.`,
        details: { key },
        dedupKey: key,
        ...more,
      },
    ],
  }))
const tokenFor = async (w: World, ms: number, name = 'ci') =>
  (
    await w.acme.call('POST', '/v1/tokens', {
      name,
      permissions: ['dns.read'],
      expires_at: new Date(w.clock.now() + ms).toISOString(),
    })
  ).body

describe('the list', () => {
  test('shows a repeated notice once, as unread again', async () => {
    const w = await world()
    await note(w, 'one')
    const [first] = await noticesOf(w.acme)
    expect(first).toMatchObject({
      kind: 'plan.limit_near',
      title: 'Plan limit almost reached',
      severity: 'info',
      resource: null,
      text: 'Notice one.',
      details: { key: 'one' },
      count: 1,
      read: false,
      read_at: null,
      version: 1,
    })
    await w.audited()
    const marked = await w.acme.call('PATCH', `/v1/notices/${first.id}`, { read: true }, { 'if-match': '"1"' })
    expect(marked.body).toMatchObject({ read: true, read_at: new Date(w.clock.now()).toISOString(), version: 2 })
    expect((await w.acme.call('PATCH', `/v1/notices/${first.id}`, { read: true })).body.version).toBe(2)
    expect((await w.acme.call('PATCH', `/v1/notices/${first.id}`, { read: false }, { 'if-match': '"1"' })).status).toBe(412)
    expect(await w.audited()).toEqual(['account.notice.update'])
    w.clock.advance(hour)
    await note(w, 'two')
    w.clock.advance(hour)
    await note(w, 'one', { text: 'Still so.', severity: 'critical' })
    const [again, other] = await noticesOf(w.acme)
    expect([again.id, again.count, again.read, again.text, again.severity]).toEqual([first.id, 2, false, 'Still so.', 'critical'])
    expect([again.created_at, again.occurred_at]).toEqual([first.created_at, new Date(w.clock.now()).toISOString()])
    expect(other.text).toBe('Notice two.')
    expect((await w.acme.call('GET', `/v1/notices/${first.id}`)).body).toEqual(again)
  })

  test('can be filtered, counted and paginated', async () => {
    const w = await world()
    for (const name of ['a', 'b', 'c', 'd']) {
      const resource = { type: 'token', id: `tok_${name}`, name }
      await note(w, name, name === 'a' ? {} : { kind: 'token.leaked', resource })
      w.clock.advance(1000)
    }
    const list = await noticesOf(w.acme)
    await w.acme.call('PATCH', `/v1/notices/${list[0].id}`, { read: true })
    const unread = await w.acme.call('GET', '/v1/notices?read=false&include=total&limit=1')
    expect([unread.body.data[0].id, unread.body.pagination.total]).toEqual([list[1].id, 3])
    expect((await noticesOf(w.acme, '&read=true')).map(one => one.id)).toEqual([list[0].id])
    expect(await noticesOf(w.acme, '&kind=plan.limit_near')).toHaveLength(1)
    expect(await noticesOf(w.acme, '&severity=critical,warning')).toHaveLength(3)
    expect(await noticesOf(w.acme, '&resource_id=tok_b')).toHaveLength(1)
    expect(await noticesOf(w.acme, '&resource_type=token')).toHaveLength(3)
    const seen: string[] = []
    let next = '/v1/notices?limit=1'
    while (next) {
      const { data, pagination } = (await w.acme.call('GET', next)).body
      seen.push(...data.map((one: any) => one.id))
      next = pagination.next_cursor && `/v1/notices?limit=1&cursor=${pagination.next_cursor}`
    }
    expect(seen).toEqual(list.map(one => one.id))
    expect((await w.acme.call('GET', '/v1/notices?kind=nonsense')).status).toBe(400)
    expect((await w.acme.call('GET', '/v1/notices?read=perhaps')).status).toBe(400)
  })

  test('can be marked as read up to a notice, up to a time, or completely', async () => {
    const w = await world()
    for (const name of ['a', 'b', 'c', 'd']) {
      await note(w, name)
      w.clock.advance(1000)
    }
    const list = await noticesOf(w.acme)
    const mark = async (input: object) => (await w.acme.call('POST', '/v1/notices/read', input)).body
    const unread = async () => (await noticesOf(w.acme, '&read=false')).map(one => one.details.key)
    expect(await mark({ up_to: list[3].id })).toEqual({ marked: 1 })
    expect(await mark({ until: list[2].occurred_at })).toEqual({ marked: 1 })
    expect(await unread()).toEqual(['d', 'c'])
    expect((await mark({ up_to: list[0].id, until: list[0].occurred_at })).errors[0].pointer).toBe('#/until')
    expect((await mark({ up_to: 'ntc_nonsense' })).code).toBe('not_found')
    expect((await mark({ until: 'soon' })).errors[0].pointer).toBe('#/until')
    await w.audited()
    expect(await mark({})).toEqual({ marked: 2 })
    expect(await mark({})).toEqual({ marked: 0 })
    expect(await w.audited()).toEqual(['account.notice.read', 'account.notice.read'])
  })

  test('is limited to the workspace, requires account permissions and respects restricted tokens', async () => {
    const w = await world()
    await note(w, 'a', { resource: { type: 'heartbeat', id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'x' } })
    await note(w, 'b')
    const [, a] = await noticesOf(w.acme, '&sort=-id')
    expect(await noticesOf(w.rival)).toEqual([])
    expect((await w.rival.call('GET', `/v1/notices/${a.id}`)).status).toBe(404)
    expect((await w.rival.call('PATCH', `/v1/notices/${a.id}`, { read: true })).status).toBe(404)
    expect((await w.rival.call('POST', '/v1/notices/read', { up_to: a.id })).status).toBe(404)
    expect((await w.rival.call('POST', '/v1/notices/read', {})).body).toEqual({ marked: 0 })
    expect((await (await w.scoped('webhooks.write')).call('GET', '/v1/notices')).body.required_permission).toBe('account.read')
    expect((await w.readOnly.call('PATCH', `/v1/notices/${a.id}`, { read: true })).body.required_permission).toBe('account.write')
    const created = await w.acme.call('POST', '/v1/tokens', {
      name: 'restricted',
      mode: 'full',
      resource_ids: ['hb_01jd8f3q7eeb9bv0w0r8c7hq2m'],
    })
    const restricted = callerWith(w.app, w.acme.workspaceId, created.body.token)
    expect((await noticesOf(restricted)).map(one => one.id)).toEqual([a.id])
    expect((await restricted.call('PATCH', `/v1/notices/${a.id}`, { read: true })).status).toBe(200)
  })

  test('keeps read notices for 90 days, unread ones for a year, at most 1,000 per workspace', async () => {
    const w = await world()
    await note(w, 'a')
    await note(w, 'b')
    const [b] = await noticesOf(w.acme, '&sort=-id')
    await w.acme.call('PATCH', `/v1/notices/${b.id}`, { read: true })
    const remaining = async () => {
      await runOnHubs(() => pruneNotices(w.hub))
      return (await noticesOf(w.acme, '&sort=id')).map(one => one.details.key)
    }
    w.clock.advance(90 * day)
    expect(await remaining()).toEqual(['a', 'b'])
    w.clock.advance(1)
    expect(await remaining()).toEqual(['a'])
    w.clock.advance(275 * day)
    expect(await remaining()).toEqual([])
    for (let n = 0; n < maxNotices + 3; n++) await note(w, `${n}`)
    const [last] = await noticesOf(w.acme, '&sort=-id')
    await w.acme.call('PATCH', `/v1/notices/${last.id}`, { read: true })
    await runOnHubs(() => pruneNotices(w.hub))
    const page = (await w.acme.call('GET', '/v1/notices?include=total&sort=id&limit=1')).body
    expect([page.pagination.total, page.data[0].details.key]).toEqual([maxNotices, '2'])
    expect((await w.acme.call('GET', `/v1/notices/${last.id}`)).status).toBe(404)
  })
})

describe('an expiring token', () => {
  test('raises one notice 7 days before and one a day before, regardless of the number of hubs', async () => {
    const w = await world()
    const token = await tokenFor(w, 30 * day)
    const check = () => runOnHubs(() => warnOfExpiringTokens(w.hub))
    w.clock.advance(23 * day - 1)
    await check()
    expect(await summaries(w.acme)).toEqual([])
    w.clock.advance(1)
    await check()
    const [seven] = await noticesOf(w.acme)
    expect(seven).toMatchObject({
      kind: 'token.expiring',
      severity: 'warning',
      resource: { type: 'token', id: token.id, name: 'ci' },
      details: { expires_at: token.expires_at, days_before: 7, rotated_to: null },
    })
    w.clock.advance(6 * day - 1)
    await check()
    expect(await summaries(w.acme)).toHaveLength(1)
    w.clock.advance(1)
    await check()
    w.clock.advance(day)
    await check()
    expect(await summaries(w.acme)).toEqual([
      ['token.expiring', 'critical', 'ci', 1],
      ['token.expiring', 'warning', 'ci', 1],
    ])
    expect(await noticesOf(w.rival)).toEqual([])
  })

  test('raises one notice after a long pause, and none if it was short-lived, revoked or expired', async () => {
    const w = await world()
    const late = await tokenFor(w, 10 * day, 'late')
    await tokenFor(w, 7 * day, 'week')
    await tokenFor(w, 12 * hour, 'short')
    await tokenFor(w, 9 * day, 'ended')
    const revoked = await tokenFor(w, 10 * day, 'revoked')
    await w.acme.call('DELETE', `/v1/tokens/${revoked.id}`)
    await warnOfExpiringTokens(w.hub)
    expect(await summaries(w.acme)).toEqual([])
    w.clock.advance(6 * day + hour)
    await w.acme.call('PATCH', `/v1/tokens/${late.id}`, { name: 'later' })
    w.clock.advance(3 * day - hour)
    await warnOfExpiringTokens(w.hub)
    expect(await summaries(w.acme)).toEqual([['token.expiring', 'critical', 'later', 1]])
  })

  test('created for a week raises a notice a day before, and new ones after its expiry is changed', async () => {
    const w = await world()
    const token = await tokenFor(w, 7 * day)
    w.clock.advance(6 * day)
    await runOnHubs(() => warnOfExpiringTokens(w.hub))
    expect(await summaries(w.acme)).toEqual([['token.expiring', 'critical', 'ci', 1]])
    const newExpiry = new Date(w.clock.now() + 5 * day).toISOString()
    await w.acme.call('PATCH', `/v1/tokens/${token.id}`, { expires_at: newExpiry })
    await runOnHubs(() => warnOfExpiringTokens(w.hub))
    expect((await noticesOf(w.acme)).map(one => [one.details.days_before, one.count])).toEqual([
      [7, 1],
      [1, 1],
    ])
    w.clock.advance(4 * day)
    await runOnHubs(() => warnOfExpiringTokens(w.hub))
    expect((await noticesOf(w.acme)).map(one => [one.details.days_before, one.count]).sort()).toEqual([
      [1, 2],
      [7, 1],
    ])
  })

  test('that was rotated expires relative to the first use of its successor', async () => {
    const w = await world()
    const old = await tokenFor(w, 300 * day, 'old')
    w.clock.advance(day)
    const rotated = (await w.acme.call('POST', `/v1/tokens/${old.id}/rotate`, { grace_seconds: 5 * 86_400 })).body
    w.clock.advance(2 * day)
    await runOnHubs(() => warnOfExpiringTokens(w.hub))
    expect(await summaries(w.acme)).toEqual([])
    expect((await callerWith(w.app, w.acme.workspaceId, rotated.token).call('GET', '/v1/events')).status).toBe(200)
    await runOnHubs(() => warnOfExpiringTokens(w.hub))
    const [notice, ...rest] = await noticesOf(w.acme)
    expect(rest).toEqual([])
    expect(notice).toMatchObject({
      resource: { id: old.id },
      details: { expires_at: new Date(w.clock.now() + 5 * day).toISOString(), days_before: 7, rotated_to: rotated.id },
    })
  })
})

test('a leaked token raises one notice that does not contain the token', async () => {
  const w = await world()
  const created = (await w.acme.call('POST', '/v1/tokens', { name: 'lost', permissions: ['dns.read'] })).body
  for (let n = 0; n < 2; n++)
    expect((await w.anonymous.call('POST', '/v1/tokens/report', { token: created.token })).status).toBe(204)
  const [notice, ...rest] = await noticesOf(w.acme)
  expect(rest).toEqual([])
  expect(notice).toMatchObject({
    kind: 'token.leaked',
    severity: 'critical',
    resource: { type: 'token', id: created.id, name: 'lost' },
    details: { revoked_at: new Date(w.clock.now()).toISOString(), last_used_at: null, expires_at: null },
    count: 1,
  })
  expect(JSON.stringify(notice)).not.toContain(created.token)
})

describe('a plan limit', () => {
  const plans = async (caller: Caller) =>
    (await noticesOf(caller, '&kind=plan.limit_near,plan.limit_reached'))
      .map(one => [one.kind, one.details.limit, one.count])
      .sort()

  test('raises a notice at 80 % and at 100 %, once per crossing', async () => {
    const w = await world()
    await w.limit(w.rival.workspaceId, { tokens: 10 })
    const ids: string[] = []
    const create = async () => {
      const created = await w.rival.call('POST', '/v1/tokens', { name: 'one more', permissions: ['dns.read'] })
      ids.push(created.body.id)
      return created.status
    }
    const revoke = async () => void (await w.rival.call('DELETE', `/v1/tokens/${ids.pop()}`))
    for (let n = 2; n <= 7; n++) await create()
    expect(await plans(w.rival)).toEqual([])
    await create()
    const [near] = await noticesOf(w.rival)
    expect(near).toMatchObject({
      kind: 'plan.limit_near',
      severity: 'info',
      resource: null,
      text: '8 of 10 tokens allowed by the plan are in use.',
      details: { limit: 'tokens', max: 10, used: 8, plan: 'pro', percent: 80 },
    })
    await create()
    expect(await plans(w.rival)).toEqual([['plan.limit_near', 'tokens', 1]])
    // The command line creates tokens too.
    await createTokenAsOperator(w.hub, {
      workspaceId: w.rival.workspaceId,
      name: 'from the command line',
      mode: 'scoped',
      permissions: ['dns.read'],
      expiresAt: null,
    })
    expect(await create()).toBe(403)
    ids.pop()
    const both = [
      ['plan.limit_near', 'tokens', 1],
      ['plan.limit_reached', 'tokens', 1],
    ]
    expect(await plans(w.rival)).toEqual(both)
    await w.rival.call('POST', '/v1/notices/read', {})
    await revoke()
    expect(await create()).toBe(201)
    expect(await plans(w.rival)).toEqual([both[0]!, ['plan.limit_reached', 'tokens', 2]])
    expect((await noticesOf(w.rival, '&read=false')).map(one => one.kind)).toEqual(['plan.limit_reached'])
    for (let n = 0; n < 3; n++) await revoke()
    await create()
    expect(await plans(w.rival)).toEqual([
      ['plan.limit_near', 'tokens', 2],
      ['plan.limit_reached', 'tokens', 2],
    ])
    expect(await noticesOf(w.acme)).toEqual([])
  })

  test('raises notices for heartbeats and webhook endpoints, once even for concurrent requests', async () => {
    const w = await world()
    await w.limit(w.acme.workspaceId, { heartbeats: 2, webhook_endpoints: 1 })
    const heartbeat = { name: 'job', schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 } }
    await w.acme.call('POST', '/v1/heartbeats', heartbeat)
    expect(await plans(w.acme)).toEqual([])
    const { ping_key } = (await w.acme.call('POST', '/v1/heartbeats/ping-key/rotate', {})).body
    expect((await w.app.handle(new Request(`http://localhost:8484/ping/${ping_key}/nightly?create=1`))).status).toBe(201)
    expect(await plans(w.acme)).toEqual([['plan.limit_reached', 'heartbeats', 1]])
    expect((await w.acme.call('POST', '/v1/heartbeats', heartbeat)).status).toBe(403)
    const endpoint = { url: 'http://127.0.0.1:9/hook', events: ['monitor.alert'] }
    const responses = await Promise.all([1, 2, 3].map(() => w.acme.call('POST', '/v1/webhook-endpoints', endpoint)))
    expect(responses.map(one => one.status).sort()).toEqual([201, 403, 403])
    expect(await plans(w.acme)).toEqual([
      ['plan.limit_reached', 'heartbeats', 1],
      ['plan.limit_reached', 'webhook_endpoints', 1],
    ])
  })
})

describe('a failed job', () => {
  test('raises one notice for the operator', async () => {
    const w = await world()
    const now = w.clock.now()
    const job = {
      lane: '',
      state: 'failed' as const,
      priority: 100,
      runAt: now,
      attempts: 3,
      lostRuns: 25,
      payload: {},
      createdAt: now,
    }
    await record(w.hub, async tx => {
      await tx.insert(jobs).values([
        { ...job, id: 'job_1', kind: 'dns.sync-zone', lastError: 'Started 25 times in a row and never finished.', failedAt: now },
        { ...job, id: 'job_2', kind: 'dns.sync-zone', lastError: 'Long ago.', failedAt: now - 2 * day },
      ])
      return { result: undefined }
    })
    await runOnHubs(() => notifyFailedJobs(w.hub))
    const all = await noticesOf(w.acme, '&kind=job.failed')
    expect(all.map(one => [one.severity, one.count, one.details.job_id])).toEqual([['critical', 1, 'job_1']])
    expect(all[0].text).toContain('dns.sync-zone')
    expect(await noticesOf(w.rival, '&kind=job.failed')).toEqual([])
  })
})
