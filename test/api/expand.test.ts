import { expect, spyOn, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { area, route } from '../../src/api/route'
import type { Route } from '../../src/api/route-declaration'
import { resourceOf } from '../../src/api/fields'
import { Expanded, Shape } from '../../src/core/shapes'
import { callerWith, world } from '../support/world'

const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }

/** Some missed heartbeats, and an endpoint that receives their alerts. */
async function scene(many = 2) {
  const w = await world()
  const beats: string[] = []
  for (let n = 0; n < many; n++) {
    const created = await w.acme.call('POST', '/v1/heartbeats', { name: `job ${n}`, schedule, first_ping_within_seconds: 60 })
    beats.push(created.body.id)
  }
  const endpoint = await w.acme.call('POST', '/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/', events: ['monitor.alert'] })
  await w.advance(3600_000)
  await w.audited()
  return { ...w, beats, endpoint: endpoint.body.id as string }
}

test('a list of deliveries includes their endpoints and events, and the resources of the events', async () => {
  const { acme, beats, endpoint } = await scene()
  const { body } = await acme.call('GET', '/v1/webhook-deliveries?expand=endpoint,event.resource')
  expect(body.data).toHaveLength(2)
  for (const delivery of body.data) {
    expect(Object.keys(delivery.expanded)).toEqual(['endpoint', 'event'])
    expect(delivery.expanded.endpoint).toEqual((await acme.call('GET', `/v1/webhook-endpoints/${endpoint}`)).body)
    const { expanded, ...event } = delivery.expanded.event
    expect(event).toEqual((await acme.call('GET', `/v1/events/${delivery.event_id}`)).body)
    expect(expanded.resource).toEqual((await acme.call('GET', `/v1/heartbeats/${delivery.resource.id}`)).body)
  }
  expect(body.data.map((one: any) => one.expanded.event.expanded.resource.id).sort()).toEqual([...beats].sort())
})

test('a list of deliveries includes the resources of the events without the events', async () => {
  const { acme, beats, endpoint } = await scene()
  await acme.call('POST', `/v1/webhook-endpoints/${endpoint}/test`, {})
  const { body } = await acme.call('GET', '/v1/webhook-deliveries?expand=resource')
  expect(body.data).toHaveLength(3)
  for (const { resource, expanded } of body.data)
    expect(expanded).toEqual({ resource: resource && (await acme.call('GET', `/v1/heartbeats/${resource.id}`)).body })
  await acme.call('DELETE', `/v1/heartbeats/${beats[0]}`)
  const after = (await acme.call('GET', `/v1/webhook-deliveries?expand=resource&resource_id=${beats[0]}`)).body.data
  expect(after.map((one: any) => one.expanded)).toEqual([{ resource: null }])
})

test('a single resource includes only what was requested, and its ETag covers it', async () => {
  const { acme, endpoint } = await scene(1)
  const [{ id }] = (await acme.call('GET', '/v1/webhook-deliveries')).body.data
  const path = `/v1/webhook-deliveries/${id}?expand=endpoint`
  const first = await acme.call('GET', path)
  expect(Object.keys(first.body.expanded)).toEqual(['endpoint'])
  const etag = first.headers.get('etag')!
  expect((await acme.call('GET', path, undefined, { 'if-none-match': etag })).status).toBe(304)
  await acme.call('PATCH', `/v1/webhook-endpoints/${endpoint}`, { description: 'Chat room' })
  const again = await acme.call('GET', path, undefined, { 'if-none-match': etag })
  expect(again.body.expanded.endpoint.description).toBe('Chat room')
  expect((await acme.call('GET', `/v1/webhook-deliveries/${id}`)).body.expanded).toBeUndefined()
})

test('it can be combined with fields, which selects fields of the resource itself', async () => {
  const { acme } = await scene(1)
  const [delivery] = (await acme.call('GET', '/v1/webhook-deliveries?fields=status&expand=event')).body.data
  expect(Object.keys(delivery)).toEqual(['id', 'status', 'expanded'])
  expect(delivery.expanded.event.kind).toBe('monitor.alert')
})

test('a deleted resource is null', async () => {
  const { acme, beats, endpoint } = await scene(1)
  await acme.call('DELETE', `/v1/webhook-endpoints/${endpoint}`)
  await acme.call('DELETE', `/v1/heartbeats/${beats[0]}`)
  const [delivery] = (await acme.call('GET', '/v1/webhook-deliveries?expand=endpoint,event.resource')).body.data
  expect(delivery.expanded.endpoint).toBeNull()
  expect(delivery.expanded.event.expanded).toEqual({ resource: null })
})

test('a test message has no event', async () => {
  const { acme, endpoint } = await scene(0)
  const sent = await acme.call('POST', `/v1/webhook-endpoints/${endpoint}/test`, {})
  const { body } = await acme.call('GET', `/v1/webhook-deliveries/${sent.body.id}?expand=event,endpoint`)
  expect(body.expanded).toMatchObject({ event: null, endpoint: { id: endpoint } })
})

test('the creator of a token is included: a user, a token, or null', async () => {
  const { acme } = await scene(0)
  const created = await acme.call('POST', '/v1/tokens', { name: 'child', permissions: ['dns.read'] })
  const { body } = await acme.call('GET', `/v1/tokens/${created.body.id}?expand=created_by`)
  expect(body.expanded.created_by).toEqual({
    type: 'token',
    id: body.created_by,
    name: 'full token',
    hint: expect.stringContaining('…'),
  })
  const all = (await acme.call('GET', '/v1/tokens?expand=created_by')).body.data
  expect(all.filter((one: any) => one.created_by === 'cli').map((one: any) => one.expanded)).toContainEqual({ created_by: null })
})

test('each relation is one query, however many resources there are', async () => {
  const counted = async (many: number) => {
    const { acme, hub } = await scene(many)
    const path = '/v1/webhook-deliveries?expand=endpoint,event.resource'
    await acme.call('GET', path)
    const select = spyOn(hub.read, 'select')
    expect((await acme.call('GET', path)).body.data).toHaveLength(many)
    return select.mock.calls.length
  }
  const one = await counted(1)
  expect(await counted(7)).toBe(one)
  expect(one).toBeGreaterThan(2)
}, 180_000)

test('resources of another area are hidden without read permission', async () => {
  const { scoped, audited } = await scene(1)
  const caller = await scoped('webhooks.read')
  await audited()
  const [delivery] = (await caller.call('GET', '/v1/webhook-deliveries?expand=endpoint,event')).body.data
  expect(delivery.expanded).toMatchObject({ event: null, endpoint: { id: delivery.endpoint_id } })
  expect(await audited()).toEqual([])
})

test('the URL of a heartbeat is hidden without write permission', async () => {
  const { readOnly, acme } = await scene(1)
  const resource = async (caller: typeof acme) =>
    (await caller.call('GET', '/v1/events?expand=resource')).body.data[0].expanded.resource
  expect(await resource(readOnly)).toMatchObject({ uuid: null, ping_url: null })
  expect((await resource(acme)).uuid).toBeString()
})

test('a relation that requires a missing permission returns 403, which names it and is audited', async () => {
  const Thing = Shape({ id: Type.String(), expanded: Expanded({ zone: Shape({ id: Type.String() }) }) }, { $id: 'Thing' })
  const things = area('things', 'Tokens', [
    route({
      method: 'GET',
      path: '/test/things',
      guard: 'webhooks.read',
      operationId: 'getThing',
      summary: 'Read a thing',
      description: 'A thing of a zone.',
      response: Thing,
      expands: {
        zone: { idOf: () => 'zone_1', permission: 'dns.read', load: async () => new Map([['zone_1', { id: 'zone_1' }]]) },
      },
      run: async () => ({ id: 'thing_1' }),
    }),
  ])
  const { scoped, audited } = await world({}, [things])
  const lacking = await scoped('webhooks.read')
  await audited()
  expect((await lacking.call('GET', '/test/things')).body).toEqual({ id: 'thing_1' })
  expect(await audited()).toEqual([])
  const refused = await lacking.call('GET', '/test/things?expand=zone')
  expect({ status: refused.status, missing: refused.body.required_permission }).toEqual({ status: 403, missing: 'dns.read' })
  expect(await audited()).toEqual(['account.resource.read denied'])
  const may = await scoped('webhooks.read', 'dns.read')
  expect((await may.call('GET', '/test/things?expand=zone')).body).toEqual({
    id: 'thing_1',
    expanded: { zone: { id: 'zone_1' } },
  })
})

test('a restricted token only sees its own resources', async () => {
  const { acme, app, endpoint } = await scene(2)
  const created = await acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'full', resource_ids: [endpoint] })
  const narrow = callerWith(app, acme.workspaceId, created.body.token)
  const { data } = (await narrow.call('GET', '/v1/webhook-deliveries?expand=endpoint,event')).body
  expect(data.map((one: any) => [one.expanded.endpoint.id, one.expanded.event])).toEqual([
    [endpoint, null],
    [endpoint, null],
  ])
})

test.each(['nonsense', 'endpoint.nonsense', 'event.resource.nonsense', '', 'event,event'])('expand=%s is refused', async path => {
  const { acme } = await world()
  const refused = await acme.call('GET', `/v1/webhook-deliveries?expand=${path}`)
  expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 400, code: 'invalid_parameter' })
  expect(refused.body.errors[0].pointer).toStartWith('#/query/expand')
})

test('a resource without relations has no expand parameter', async () => {
  const { acme } = await world()
  expect((await acme.call('GET', '/v1/maintenance-windows?expand=workspace')).body.code).toBe('unknown_parameter')
})

test('the schema lists what can be expanded', async () => {
  const { app } = await world()
  const specs = app.routes.flatMap(one => (one.hooks as { detail?: { 'x-route'?: Route } }).detail?.['x-route'] ?? [])
  const expanding = specs.filter(spec => spec.expands)
  expect(expanding.length).toBeGreaterThanOrEqual(6)
  for (const spec of expanding) {
    const declared = resourceOf(spec.response)!.properties.expanded?.properties ?? {}
    expect([spec.operationId, Object.keys(spec.expands!)]).toEqual([spec.operationId, Object.keys(declared)])
  }
})
