import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import type { EventData } from '../../src/core/event-kinds'
import { eventKind } from '../../src/features/event-kinds'
import { endWaits, preferredWait, waitingCount } from '../../src/api/long-poll'
import { requestsInFlight } from '../../src/access/concurrency'
import { pruneEvents } from '../../src/features/events/retention'
import { hasOpenDelivery } from '../../src/features/webhooks/deliveries/open'
import { addPerson, person } from '../support/people'
import { raiseAlert } from '../support/receiver'
import { untilWaiting } from '../support/waiting-requests'
import { callerWith, world, type Caller, type World } from '../support/world'

const follow = (caller: Caller, after: string, more = '', wait?: number) =>
  caller.call('GET', `/v1/events?after=${after}${more}`, undefined, wait === undefined ? {} : { prefer: `wait=${wait}` })

const raiseExpiring = ({ hub, acme }: World) =>
  record(hub, async () => ({
    result: undefined,
    events: [
      {
        workspaceId: acme.workspaceId,
        kind: 'domain.expiring' as const,
        resource: { type: 'domain', id: 'dom_01k3zb2c4d6e8f0g2h4j6k8m0n' },
        data: { domain: 'example.com', expires_at: '2027-01-31' },
      },
    ],
  }))

test('the feed is read oldest first, by cursor or by event, and continues where it ended', async () => {
  const here = await world()
  for (let n = 0; n < 5; n++) await raiseAlert(here)
  const ids = (await here.acme.call('GET', '/v1/events?sort=id')).body.data.map((one: any) => one.id)
  const first = await follow(here.acme, 'oldest', '&limit=2')
  expect(first.body.data.map((one: any) => one.id)).toEqual(ids.slice(0, 2))
  expect(first.body.pagination.has_more).toBe(true)
  expect(first.headers.get('link')).toBe(`</v1/events?after=${first.body.pagination.next_cursor}&limit=2>; rel="next"`)
  const second = await follow(here.acme, first.body.pagination.next_cursor)
  expect(second.body.data.map((one: any) => one.id)).toEqual(ids.slice(2))
  expect(second.body.pagination.has_more).toBe(false)
  expect((await follow(here.acme, ids[1])).body.data.map((one: any) => one.id)).toEqual(ids.slice(2))
  const end = second.body.pagination.next_cursor
  expect((await follow(here.acme, end)).body).toEqual({ data: [], pagination: { has_more: false, next_cursor: end } })
  await raiseAlert(here)
  expect((await follow(here.acme, end)).body.data).toHaveLength(1)
  expect((await follow(here.acme, 'latest')).body.data).toEqual([])
})

test('a caller gets only readable events, and its cursor skips the rest', async () => {
  const here = await world()
  await raiseAlert(here)
  await raiseExpiring(here)
  await raiseAlert(here)
  const domains = await here.scoped('domains.read')
  const seen = await follow(domains, 'oldest')
  expect(seen.body.data.map((one: any) => one.kind)).toEqual(['domain.expiring'])
  expect((await follow(here.acme, seen.body.pagination.next_cursor)).body.data).toEqual([])
  expect((await follow(here.acme, 'oldest', '&kind=monitor.alert')).body.data).toHaveLength(2)
  expect((await follow(here.acme, 'oldest', '&resource_type=domain')).body.data).toHaveLength(1)
  const none = await follow(await here.scoped('account.read'), 'oldest')
  expect(none.body.data).toEqual([])
  // An event that the caller may not read is not a valid position.
  const alert = (await follow(here.acme, 'oldest')).body.data[0].id
  expect((await follow(domains, alert)).body.code).toBe('invalid_cursor')
  const narrowed = await here.acme.call('POST', '/v1/tokens', {
    name: 'narrowed',
    mode: 'full',
    resource_ids: ['hb_01k3zb2c4d6e8f0g2h4j6k8m0n'],
  })
  const caller = callerWith(here.app, here.acme.workspaceId, narrowed.body.token)
  expect((await follow(caller, 'oldest')).body.data.map((one: any) => one.kind)).toEqual(['monitor.alert', 'monitor.alert'])
})

test('unknown positions and list parameters are rejected', async () => {
  const here = await world()
  await raiseAlert(here)
  const theirs = (await follow(here.acme, 'oldest')).body
  for (const after of ['nonsense', theirs.data[0].id, theirs.pagination.next_cursor, 'evt_01jd8f3q7eeb9bv0w0r8c7hq2m']) {
    const refused = await follow(here.rival, after)
    expect([after, refused.status, refused.body.code, refused.body.errors[0].pointer]).toEqual([
      after,
      400,
      'invalid_cursor',
      '#/query/after',
    ])
  }
  expect((await follow(here.acme, 'oldest', '&sort=id')).body.code).toBe('invalid_parameter')
  expect((await follow(here.acme, 'oldest', '&include=total')).body.code).toBe('invalid_parameter')
  expect((await here.anonymous.call('GET', '/v1/events?after=oldest')).status).toBe(401)
})

test('a waiting request gets its response on commit, without events of others', async () => {
  const here = await world()
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  const waiting = follow(here.acme, start, '', 30)
  await untilWaiting(here)
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n', here.rival.workspaceId)
  expect(waitingCount(here.hub)).toBe(1)
  await raiseAlert(here)
  const answer = await waiting
  expect(answer.body.data).toHaveLength(1)
  expect(answer.headers.get('preference-applied')).toBe('wait=30')
  expect(waitingCount(here.hub)).toBe(0)
  // Existing events are returned immediately.
  expect((await follow(here.acme, start, '', 30)).body).toEqual(answer.body)
})

test('a caller whose access was revoked during the wait is rejected', async () => {
  const here = await world()
  await addPerson(here.hub, here.acme.workspaceId, 'owner', 'olga@example.com')
  const { user, call } = await person(here, here.acme.workspaceId, 'member', 'ada@example.com')
  const { user: other, call: callOther } = await person(here, here.acme.workspaceId, 'admin', 'eve@example.com')
  const token = (await here.acme.call('POST', '/v1/tokens', { name: 'reader', mode: 'read_only' })).body
  const reader = callerWith(here.app, here.acme.workspaceId, token.token)
  const bystander = callerWith(
    here.app,
    here.acme.workspaceId,
    (await here.acme.call('POST', '/v1/tokens', { name: 'bystander', mode: 'read_only' })).body.token,
  )
  const path = '/v1/events?after=latest'
  const wait = { prefer: 'wait=30' }
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  const waiting = [
    follow(reader, start, '', 30),
    call('GET', `/v1/events?after=${start}`, undefined, wait),
    callOther('GET', `/v1/events?after=${start}`, undefined, wait),
    follow(here.rival, 'latest', '', 30),
    follow(bystander, start, '', 30),
  ]
  await untilWaiting(here, waiting.length)
  await here.acme.call('DELETE', `/v1/tokens/${token.id}`)
  await here.acme.call('DELETE', `/v1/members/${user.id}`)
  await here.acme.call('PATCH', `/v1/members/${other.id}`, { role: 'viewer' })
  await here.acme.call('POST', `/v1/workspaces/${here.rival.workspaceId}/suspend`, {})
  await raiseAlert(here)
  await raiseAlert(here, 'hb_01k3zb2c4d6e8f0g2h4j6k8m0n', here.rival.workspaceId)
  const [revoked, removed, demoted, suspended, standing] = await Promise.all(waiting)
  expect([revoked!.status, revoked!.body.code]).toEqual([401, 'token_revoked'])
  expect(removed!.status).toBe(401)
  expect([demoted!.status, demoted!.body.code]).toEqual([403, 'insufficient_permission'])
  expect([suspended!.status, suspended!.body.code]).toEqual([403, 'workspace_suspended'])
  expect([standing!.status, standing!.body.data.length]).toEqual([200, 1])
  expect(waitingCount(here.hub)).toBe(0)
  expect((await callOther('GET', path)).status).toBe(200)
})

test('a session keeps waiting in its workspace after switching to another', async () => {
  const here = await world()
  const { user, call } = await person(here, here.acme.workspaceId, 'member', 'ada@example.com')
  const { code } = (await here.rival.call('POST', '/v1/invitations', { email: user.email })).body
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  const waiting = call('GET', `/v1/events?after=${start}`, undefined, { prefer: 'wait=30' })
  await untilWaiting(here)
  expect((await call('POST', '/v1/invitations/accept', { code })).body.workspace_id).toBe(here.rival.workspaceId)
  await raiseAlert(here)
  const answer = await waiting
  expect([answer.status, answer.body.data[0].workspace_id]).toEqual([200, here.acme.workspaceId])
})

test('after the wait, the response is empty and its cursor continues from there', async () => {
  const here = await world()
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  let over = false
  const waiting = follow(here.acme, start, '', 5).then(answer => ((over = true), answer))
  await untilWaiting(here)
  here.clock.advance(4_000)
  await Bun.sleep(20)
  expect(over).toBe(false)
  here.clock.advance(1_000)
  expect((await waiting).body).toEqual({ data: [], pagination: { has_more: false, next_cursor: start } })
  const wrong = await here.acme.call('GET', '/v1/events?after=latest', undefined, { prefer: 'wait=soon' })
  expect([wrong.status, wrong.headers.get('preference-applied')]).toEqual([200, null])
})

test('the preference is parsed according to RFC 7240', () => {
  const read = ['wait=10', 'respond-async, wait=10', 'WAIT = "7"; foo=bar', 'wait=999', 'wait=0', 'wait=-1', 'wait', 'await=3']
  expect(read.map(preferredWait)).toEqual([10, 10, 7, 30, 0, null, null, null])
  expect(preferredWait(null)).toBeNull()
})

test('a waiting request doesn’t count as concurrent, and the number of waiting requests is limited', async () => {
  const here = await world()
  await here.limit(here.acme.workspaceId, { concurrent_requests_per_token: 3 })
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  const waiting = []
  for (let n = 1; n <= 50; n++) {
    waiting.push(follow(here.acme, start, '', 30))
    await untilWaiting(here, n)
  }
  const tokenId = (await here.acme.call('GET', '/v1/tokens?sort=id')).body.data[0].id
  expect(requestsInFlight(here.hub, tokenId)).toBe(0)
  const refused = await follow(here.acme, start, '', 30)
  expect([refused.status, refused.body['violated-policies'], refused.headers.get('retry-after')]).toEqual([
    429,
    ['waiting-requests'],
    '1',
  ])
  expect((await follow(here.acme, start)).status).toBe(200)
  // Another workspace has its own limit.
  const theirs = follow(here.rival, 'latest', '', 30)
  await untilWaiting(here, 51)
  endWaits(here.hub)
  for (const one of [...waiting, theirs]) expect((await one).body.data).toEqual([])
  expect(waitingCount(here.hub)).toBe(0)
})

test('a cursor before deleted events is reported as expired', async () => {
  const here = await world()
  await here.limit(here.acme.workspaceId, { event_feed_days: 7 })
  const start = (await follow(here.acme, 'latest')).body.pagination.next_cursor
  await raiseAlert(here)
  await here.settle()
  const { data, pagination } = (await follow(here.acme, 'oldest')).body
  await here.advance(8 * 86_400_000)
  await raiseAlert(here)
  await here.settle()
  await pruneEvents(here.hub, hasOpenDelivery)
  for (const after of [start, data[0].id]) {
    const expired = await follow(here.acme, after, '', 5)
    expect([expired.status, expired.body.code]).toEqual([410, 'cursor_expired'])
  }
  // After the deleted event, nothing is missing.
  expect((await follow(here.acme, pagination.next_cursor)).body.data).toHaveLength(1)
  expect((await follow(here.acme, 'oldest')).body.data).toHaveLength(1)
})

test('a reader misses no event of many writers that commit in a different order than they started', async () => {
  const here = await world()
  const { hub, acme } = here
  const data = eventKind('monitor.alert')!.example as EventData<'monitor.alert'>
  const written: string[] = []
  const write = async (n: number) => {
    const resource = { type: 'heartbeat', id: `hb_${n}` }
    await record(hub, async () => {
      await Bun.sleep(Math.random() * 5)
      return { result: undefined, events: [{ workspaceId: acme.workspaceId, kind: 'monitor.alert' as const, resource, data }] }
    })
    written.push(resource.id)
  }
  const writers = Promise.all(
    Array.from({ length: 8 }, async (_, k) => {
      for (let n = 0; n < 25; n++) await write(k * 25 + n)
    }),
  )
  const seen: string[] = []
  let after = 'oldest'
  let done = false
  void writers.then(() => (done = true))
  for (;;) {
    const over = done
    const { body } = await follow(acme, after, '&limit=7')
    seen.push(...body.data.map((one: any) => one.resource.id))
    after = body.pagination.next_cursor
    if (over && body.data.length === 0) break
    // Lets the writers run: on SQLite, nothing above yields.
    await Bun.sleep(0)
  }
  await writers
  expect(seen.toSorted()).toEqual(written.toSorted())
}, 180_000)
