import { expect, test } from 'bun:test'
import { auditEntries, idempotencyKeys } from '../../src/core/db/tables'
import { area, route } from '../../src/api/route'
import { callerWith, world, type World } from '../support/world'

const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 10 }
const create = (name: string) => ({ op: 'create', body: { name, schedule } })

async function createOne(w: World, ...names: string[]): Promise<{ id: string; version: number; [member: string]: any }[]> {
  const responses = await Promise.all(names.map(name => w.acme.call('POST', '/v1/heartbeats', { name, schedule })))
  await w.audited()
  return responses.map(one => one.body)
}
const names = async (w: World) => (await w.acme.call('GET', '/v1/heartbeats?sort=name')).body.data.map((one: any) => one.name)
const bulk = (w: World, operations: unknown[], query = '', headers: Record<string, string> = {}) =>
  w.acme.call('POST', `/v1/heartbeats/bulk${query}`, { operations }, headers)

test('creates, updates and deletes in one transaction, with an audit entry for each', async () => {
  const w = await world()
  const [one, two] = (await createOne(w, 'one', 'two')) as [any, any]
  const response = await bulk(w, [
    create('three'),
    { op: 'update', id: one.id, body: { name: 'first' }, if_match: '"1"' },
    { op: 'delete', id: two.id },
  ])
  expect({ status: response.status, ...response.body, results: undefined }).toEqual({
    status: 200,
    mode: 'atomic',
    succeeded: 3,
    failed: 0,
  })
  expect(response.body.results.map((one: any) => [one.index, one.op, one.status, one.body?.name, one.problem])).toEqual([
    [0, 'create', 201, 'three', null],
    [1, 'update', 200, 'first', null],
    [2, 'delete', 204, undefined, null],
  ])
  expect(response.body.results.map((one: any) => one.id)).toEqual([response.body.results[0].body.id, one.id, two.id])
  expect(await names(w)).toEqual(['first', 'three'])
  expect(await w.audited()).toEqual(['heartbeat.create', 'heartbeat.update', 'heartbeat.delete'])
  const entries = (await w.hub.read.select().from(auditEntries)).filter(entry => entry.workspaceId === w.acme.workspaceId)
  expect(entries.map(entry => entry.seq).sort((a, b) => a - b)).toEqual(entries.map((_, place) => place + 1))
  expect(new Set(entries.slice(-3).map(entry => entry.context.request_id)).size).toBe(1)
})

test('if one operation fails, none is applied, and every failure has a pointer', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  const refused = await bulk(w, [
    create('two'),
    { op: 'update', id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m', body: { name: 'x' } },
    { op: 'update', id: one.id, body: { name: 'y' }, if_match: '"7"' },
    {
      op: 'create',
      body: { name: 'three', schedule: { kind: 'cron', expression: '61 * * * *', timezone: 'UTC', grace_seconds: 1 } },
    },
    { op: 'create', body: { name: '', schedule, colour: 'red' } },
    { op: 'explode' },
    { op: 'delete', id: one.id },
  ])
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 422, code: 'bulk_failed' })
  expect(refused.body.detail).toContain('5 of 7')
  expect(refused.body.errors.map((error: any) => `${error.pointer} ${error.code}`)).toEqual([
    '#/operations/1/id not_found',
    '#/operations/2/if_match precondition_failed',
    expect.stringMatching(/^#\/operations\/3\/body\/schedule\/expression /),
    expect.stringMatching(/^#\/operations\/4\/body\/\w+ /),
    expect.stringMatching(/^#\/operations\/4\/body\/\w+ /),
    '#/operations/5/op enum',
  ])
  expect(await names(w)).toEqual(['one'])
  expect(await w.audited()).toEqual([])
})

test('in partial mode, valid operations are applied, and each has a result', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  const response = await bulk(
    w,
    [
      create('two'),
      { op: 'delete', id: 'hb_01jd8f3q7eeb9bv0w0r8c7hq2m' },
      { op: 'create', body: { name: 'three' } },
      { op: 'update', id: one.id, body: { name: 'first' } },
    ],
    '?mode=partial',
  )
  expect(response.status).toBe(207)
  expect(response.body).toMatchObject({ mode: 'partial', succeeded: 2, failed: 2 })
  expect(response.body.results.map((one: any) => [one.status, one.problem?.code ?? null])).toEqual([
    [201, null],
    [404, 'not_found'],
    [422, 'validation_failed'],
    [200, null],
  ])
  expect(response.body.results[2].problem.errors).toEqual([
    { pointer: '#/operations/2/body/schedule', code: 'required', detail: 'is required.' },
  ])
  expect(await names(w)).toEqual(['first', 'two'])
  expect(await w.audited()).toEqual(['heartbeat.create', 'heartbeat.update'])
})

test('an operation that fails halfway leaves nothing behind', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  // The second update of the same heartbeat sees the result of the first.
  const response = await bulk(
    w,
    [
      { op: 'update', id: one.id, body: { name: 'once' }, if_match: '"1"' },
      { op: 'update', id: one.id, body: { name: 'twice' }, if_match: '"1"' },
      { op: 'delete', id: one.id },
      { op: 'delete', id: one.id },
    ],
    '?mode=partial',
  )
  expect(response.body.results.map((one: any) => one.status)).toEqual([200, 412, 204, 404])
  expect(await w.audited()).toEqual(['heartbeat.update', 'heartbeat.delete'])
})

test('plan limits apply within a bulk request', async () => {
  const w = await world()
  await w.limit(w.acme.workspaceId, { heartbeats: 3 })
  const refused = await bulk(w, ['a', 'b', 'c', 'd'].map(create))
  expect(refused.body.errors).toEqual([expect.objectContaining({ pointer: '#/operations/3', code: 'plan_limit_reached' })])
  expect(await names(w)).toEqual([])
  const some = await bulk(w, ['a', 'b', 'c', 'd', 'e'].map(create), '?mode=partial')
  expect(some.body.results.map((one: any) => one.status)).toEqual([201, 201, 201, 403, 403])
  expect(some.body.results[4].problem).toMatchObject({ code: 'plan_limit_reached', max: 3, used: 3 })
  // A deletion earlier in the same transaction frees a slot.
  const swapped = await bulk(w, [{ op: 'delete', id: some.body.results[0].id }, create('f')])
  expect(swapped.status).toBe(200)
  const both = await Promise.all([bulk(w, [create('g')], '?mode=partial'), bulk(w, [create('h')], '?mode=partial')])
  expect(both.map(one => one.body.results[0].status)).toEqual([403, 403])
})

test('a replay by Idempotency-Key applies nothing twice and omits ping URLs', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  const headers = { 'idempotency-key': 'k1' }
  const operations = [create('two'), { op: 'update', id: one.id, body: { name: 'first' } }, { op: 'delete', id: 'hb_none' }]
  const first = await bulk(w, operations, '?mode=partial', headers)
  expect(first.body.results[1].body.uuid).toBe(one.uuid)
  const again = await bulk(w, operations, '?mode=partial', headers)
  expect({ status: again.status, replayed: again.headers.get('idempotent-replayed') }).toEqual({ status: 207, replayed: 'true' })
  expect(again.body.results.map((one: any) => [one.id, one.status])).toEqual(
    first.body.results.map((one: any) => [one.id, one.status]),
  )
  expect(again.body.results[0].body).toMatchObject({ name: 'two', uuid: null, ping_url: null, secret_shown_before: true })
  expect(again.text).not.toContain(one.uuid)
  expect(JSON.stringify(await w.hub.read.select().from(idempotencyKeys))).not.toContain(one.uuid)
  expect(await names(w)).toEqual(['first', 'two'])
  expect((await bulk(w, operations, '', headers)).body.code).toBe('idempotency_key_reused')
})

test('a failed bulk request does not use up its Idempotency-Key', async () => {
  const w = await world()
  const headers = { 'idempotency-key': 'k2' }
  expect((await bulk(w, [{ op: 'create', body: {} }], '', headers)).status).toBe(422)
  expect((await bulk(w, [create('one')], '', headers)).status).toBe(200)
})

test('a heartbeat created in a bulk request is watched', async () => {
  const w = await world()
  const operations = [{ op: 'create', body: { name: 'silent', schedule, first_ping_within_seconds: 30 } }]
  expect((await bulk(w, operations)).status).toBe(200)
  await w.advance(31_000)
  expect(await w.emitted()).toEqual(['monitor.alert'])
})

test('revoked tokens stop working immediately, all or none', async () => {
  const w = await world()
  const [one, two] = [await w.scoped('dns.read'), await w.scoped('monitoring.read')]
  expect((await two.call('GET', '/v1/heartbeats')).status).toBe(200)
  const list = (await w.acme.call('GET', '/v1/tokens?mode=scoped')).body.data
  const revoke = (ids: string[]) => w.acme.call('POST', '/v1/tokens/bulk', { operations: ids.map(id => ({ op: 'revoke', id })) })
  const ids = list.map((token: any) => token.id)
  expect((await revoke([...ids, 'tok_none'])).status).toBe(422)
  expect((await two.call('GET', '/v1/heartbeats')).status).toBe(200)
  const response = await revoke(ids)
  expect(response.body.results).toEqual(
    ids.map((id: string, index: number) => ({ index, op: 'revoke', status: 204, id, problem: null })),
  )
  for (const token of [one, two]) expect((await token.call('GET', '/v1/heartbeats')).body.code).toBe('token_revoked')
})

test('webhook endpoints are updated and deleted, and their targets are checked', async () => {
  const w = await world()
  const endpoint = async (path: string) =>
    (await w.acme.call('POST', '/v1/webhook-endpoints', { url: `http://127.0.0.1:9/${path}`, events: ['monitor.alert'] })).body.id
  const ids = [await endpoint('a'), await endpoint('b'), await endpoint('c')]
  const send = (operations: unknown[], query = '') => w.acme.call('POST', `/v1/webhook-endpoints/bulk${query}`, { operations })
  const refused = await send([
    { op: 'update', id: ids[0], body: { active: false } },
    { op: 'update', id: ids[1], body: { url: 'ftp://127.0.0.1/' } },
  ])
  expect(refused.body.errors[0].pointer).toBe('#/operations/1/body/url')
  expect((await w.acme.call('GET', `/v1/webhook-endpoints/${ids[0]}`)).body.active).toBe(true)
  const response = await send([
    { op: 'update', id: ids[0], body: { active: false } },
    { op: 'update', id: ids[1], body: { url: 'http://127.0.0.1:9/moved' } },
    { op: 'delete', id: ids[2] },
  ])
  expect(response.body.results.map((one: any) => one.status)).toEqual([200, 200, 204])
  expect((await w.acme.call('GET', '/v1/webhook-endpoints')).body.data).toHaveLength(2)
})

test('resources of another workspace are not found', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  const response = await w.rival.call('POST', '/v1/heartbeats/bulk?mode=partial', { operations: [{ op: 'delete', id: one.id }] })
  expect(response.body.results[0].problem.code).toBe('not_found')
  expect(await names(w)).toEqual(['one'])
})

test.each([
  ['none', {}, '#/operations', 'required'],
  ['an empty list', { operations: [] }, '#/operations', 'too_few'],
  ['too many', { operations: Array(501).fill({ op: 'delete', id: 'x' }) }, '#/operations', 'too_many'],
  ['a word', { operations: ['delete'] }, '#/operations/0', 'type'],
  ['an object', { operations: {} }, '#/operations', 'type'],
])('%s is not a valid list of operations', async (_, body, pointer, code) => {
  const { acme } = await world()
  for (const query of ['', '?mode=partial']) {
    const refused = await acme.call('POST', `/v1/heartbeats/bulk${query}`, body)
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 422, code: 'validation_failed' })
    expect(refused.body.errors[0]).toMatchObject({ pointer, code })
  }
})

test('500 operations count as one request per 50, and run in one transaction', async () => {
  const w = await world()
  await w.limit(w.rival.workspaceId, { requests_per_minute_per_token: 20, requests_per_hour_per_workspace: null })
  const operations = Array.from({ length: 500 }, (_, n) => create(`job ${n}`))
  const first = await w.rival.call('POST', '/v1/heartbeats/bulk', { operations })
  expect({ status: first.status, done: first.body.succeeded }).toEqual({ status: 200, done: 500 })
  expect(first.headers.get('ratelimit')).toStartWith('"token";r=10;')
  const fifty = await w.rival.call('POST', '/v1/heartbeats/bulk?mode=partial', { operations: operations.slice(0, 50) })
  expect(fifty.headers.get('ratelimit')).toStartWith('"token";r=9;')
  const refused = await w.rival.call('POST', '/v1/heartbeats/bulk', { operations: operations.slice(0, 500) })
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 429, code: 'rate_limited' })
  expect(refused.body['violated-policies']).toEqual(['token'])
  w.clock.advance(Number(refused.headers.get('retry-after')) * 1000)
  expect((await w.rival.call('GET', '/v1/heartbeats?include=total')).body.pagination.total).toBe(550)
}, 180_000)

test('two bulk requests that update the same heartbeats in opposite order both succeed', async () => {
  const w = await world()
  const beats = await createOne(w, ...Array.from({ length: 12 }, (_, n) => `job ${n}`))
  const edits = (name: string, of: typeof beats) => of.map(one => ({ op: 'update', id: one.id, body: { description: name } }))
  const responses = await Promise.all([
    bulk(w, edits('up', beats)),
    bulk(w, edits('down', [...beats].reverse())),
    w.acme.call('PATCH', `/v1/heartbeats/${beats[5]!.id}`, { name: 'alone' }),
  ])
  expect(responses.map(one => one.status)).toEqual([200, 200, 200])
  const after = (await w.acme.call('GET', '/v1/heartbeats')).body.data
  expect(new Set(after.map((one: any) => one.description)).size).toBe(1)
  expect(await w.audited()).toHaveLength(25)
})

test('a restricted token cannot use bulk endpoints, and a read-only token cannot use those that write', async () => {
  const w = await world()
  const [one] = (await createOne(w, 'one')) as [any]
  const token = await w.acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'full', resource_ids: [one.id] })
  const narrow = callerWith(w.app, w.acme.workspaceId, token.body.token)
  const operations = [{ op: 'delete', id: one.id }]
  expect((await narrow.call('POST', '/v1/heartbeats/bulk', { operations })).body.code).toBe('restricted_token')
  expect((await w.readOnly.call('POST', '/v1/heartbeats/bulk', { operations })).body.required_permission).toBe('monitoring.write')
})

test('an internal error reverts everything in both modes', async () => {
  const shape = { summary: 'A thing', description: 'A thing.' }
  let ended = 0
  const things = area('things', 'Tokens', [
    route({
      ...shape,
      method: 'POST',
      path: '/test/things',
      guard: 'monitoring.write',
      action: 'heartbeat.create',
      operationId: 'createThing',
      run: async ctx => {
        try {
          // Creates a heartbeat, then fails.
          const { createHeartbeat } = await import('../../src/features/heartbeats/heartbeats')
          await createHeartbeat(ctx, { name: 'thing', schedule: schedule as never })
        } finally {
          ended++
        }
      },
    }),
    route({
      ...shape,
      method: 'POST',
      path: '/test/faults',
      guard: 'monitoring.write',
      action: 'heartbeat.delete',
      operationId: 'createFault',
      run: async () => {
        throw new Error('broken')
      },
    }),
    {
      ...shape,
      path: '/test/things/bulk',
      operationId: 'bulkThings',
      action: 'heartbeat.bulk',
      of: 'Thing',
      operations: { create: 'createThing', fault: 'createFault' },
    },
  ])
  const w = await world({}, [things])
  for (const query of ['', '?mode=partial']) {
    const refused = await w.acme.call('POST', `/test/things/bulk${query}`, { operations: [{ op: 'create' }, { op: 'fault' }] })
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 500, code: 'internal_error' })
  }
  expect(ended).toBe(2)
  expect(await names(w)).toEqual([])
  expect((await w.acme.call('POST', '/test/things/bulk', { operations: [{ op: 'create' }] })).body.succeeded).toBe(1)
})

test('a bulk endpoint whose operations are not in its area, or require different permissions, is rejected', () => {
  const one = (operationId: string, guard: 'dns.write' | 'monitoring.write') =>
    route({
      method: 'POST',
      path: `/test/${operationId}`,
      guard,
      operationId,
      summary: 's',
      description: 'd',
      run: async () => {},
    })
  const of = (operations: Record<string, string>) => () =>
    area('x', 'Tokens', [
      one('a', 'dns.write'),
      one('b', 'monitoring.write'),
      { path: '/test/bulk', operationId: 'bulk', summary: 's', description: 'd', action: 'heartbeat.pause', of: 'X', operations },
    ])
  expect(of({ go: 'missing' })).toThrow('is not a route of its area')
  expect(of({ go: 'a', stay: 'b' })).toThrow('different permissions')
})

test('heartbeats are paused and resumed in bulk', async () => {
  const w = await world()
  const ids = (await createOne(w, 'one', 'two')).map(one => one.id)
  const statusesAfter = async (op: string) =>
    (
      await bulk(
        w,
        ids.map(id => ({ op, id })),
      )
    ).body.results.map((one: any) => one.body?.status)
  expect(await statusesAfter('pause')).toEqual(['paused', 'paused'])
  expect(await statusesAfter('pause')).toEqual(['paused', 'paused'])
  expect(await statusesAfter('resume')).toEqual(['new', 'new'])
  expect(await w.audited()).toEqual(['heartbeat.pause', 'heartbeat.pause', 'heartbeat.resume', 'heartbeat.resume'])
})

test('an unknown operation is the only error of its entry', async () => {
  const w = await world()
  const refused = async (path: string, operation: object) => {
    const response = await w.acme.call('POST', path, { operations: [operation] })
    return [response.status, response.body.errors.map((one: any) => `${one.pointer} ${one.code} ${one.detail}`)]
  }
  const body = { name: 'ci', mode: 'full' }
  expect(await refused('/v1/tokens/bulk', { op: 'create', body })).toEqual([422, ['#/operations/0/op enum must be "revoke".']])
  expect(await refused('/v1/tokens/bulk', { body })).toEqual([422, ['#/operations/0/op required must be "revoke".']])
  expect(await refused('/v1/heartbeats/bulk', { op: 'restart', id: 7 })).toEqual([
    422,
    ['#/operations/0/op enum must be one of "create", "update", "delete", "pause", "resume".'],
  ])
})

test('webhook endpoints are created in bulk, and their secrets are shown only once', async () => {
  const w = await world()
  const operation = (n: number) => ({ op: 'create', body: { url: `http://127.0.0.1:9/${n}`, events: ['monitor.alert'] } })
  const operations = [operation(1), operation(2)]
  const send = () => w.acme.call('POST', '/v1/webhook-endpoints/bulk', { operations }, { 'idempotency-key': 'once' })
  const created = await send()
  expect([created.status, created.body.results.map((one: any) => one.body.url)]).toEqual([
    200,
    ['http://127.0.0.1:9/1', 'http://127.0.0.1:9/2'],
  ])
  const secrets = created.body.results.map((one: any) => one.body.secret)
  expect(new Set(secrets.filter((one: string) => one.startsWith('whsec_'))).size).toBe(2)
  const again = await send()
  expect(again.headers.get('idempotent-replayed')).toBe('true')
  for (const one of again.body.results) expect([one.body.secret, one.body.secret_shown_before]).toEqual([undefined, true])
  const kept = JSON.stringify(await w.hub.read.select().from(idempotencyKeys))
  for (const secret of secrets) expect(kept).not.toContain(secret)
  expect((await w.acme.call('GET', '/v1/webhook-endpoints')).body.data).toHaveLength(2)
})
