import { expect, test } from 'bun:test'
import { callerWith, world } from '../support/world'

const period = { kind: 'period', period_seconds: 60, grace_seconds: 60 }

/** Two missed heartbeats, two endpoints that receive their alerts, and a token restricted to the first of each. */
async function scene() {
  const w = await world()
  const beat = async (name: string) =>
    (await w.acme.call('POST', '/v1/heartbeats', { name, schedule: period, first_ping_within_seconds: 60 })).body.id as string
  const endpoint = async (path: string) =>
    (await w.acme.call('POST', '/v1/webhook-endpoints', { url: `http://127.0.0.1:9/${path}`, events: ['monitor.alert'] })).body
      .id as string
  const beats = [await beat('one'), await beat('two')] as const
  const endpoints = [await endpoint('one'), await endpoint('two')] as const
  await w.advance(3600_000)
  const created = await w.acme.call('POST', '/v1/tokens', {
    name: 'narrow',
    mode: 'full',
    resource_ids: [beats[0], endpoints[0]],
  })
  expect(created.body.resource_ids).toEqual([beats[0], endpoints[0]])
  return { ...w, beats, endpoints, narrow: callerWith(w.app, w.acme.workspaceId, created.body.token) }
}

test('lists contain only the resources of the token, page by page', async () => {
  const { acme, narrow, beats, endpoints } = await scene()
  const ids = async (path: string, of = (one: any) => one.id) => [...new Set((await narrow.call('GET', path)).body.data.map(of))]
  expect(await ids('/v1/heartbeats')).toEqual([beats[0]])
  expect(await ids('/v1/webhook-endpoints')).toEqual([endpoints[0]])
  expect(await ids('/v1/events', one => one.resource.id)).toEqual([beats[0]])
  expect(await ids('/v1/webhook-deliveries', one => one.endpoint_id)).toEqual([endpoints[0]])
  expect((await ids('/v1/audit-events', one => one.targets[0].id)).sort()).toEqual([beats[0], endpoints[0]].sort())
  expect((await acme.call('GET', '/v1/webhook-deliveries?include=total')).body.pagination.total).toBe(4)
  expect((await narrow.call('GET', '/v1/webhook-deliveries?include=total')).body.pagination.total).toBe(2)
  const first = await narrow.call('GET', '/v1/webhook-deliveries?limit=1')
  const second = await narrow.call('GET', `/v1/webhook-deliveries?limit=1&cursor=${first.body.pagination.next_cursor}`)
  expect(second.body).toMatchObject({ data: [{ endpoint_id: endpoints[0] }], pagination: { has_more: false } })
})

test('its own resources can be read and changed, with their pings, events and deliveries', async () => {
  const { acme, narrow, beats, endpoints } = await scene()
  expect((await narrow.call('PATCH', `/v1/heartbeats/${beats[0]}`, { name: 'renamed' })).body.name).toBe('renamed')
  expect((await narrow.call('GET', `/v1/heartbeats/${beats[0]}/flips`)).body.data).not.toBeEmpty()
  const events = (await acme.call('GET', '/v1/events')).body.data
  for (const event of events)
    expect((await narrow.call('GET', `/v1/events/${event.id}`)).status).toBe(event.resource.id === beats[0] ? 200 : 404)
  for (const delivery of (await acme.call('GET', '/v1/webhook-deliveries')).body.data) {
    const read = await narrow.call('GET', `/v1/webhook-deliveries/${delivery.id}`)
    expect(read.status).toBe(delivery.endpoint_id === endpoints[0] ? 200 : 404)
    // The delivered event may be about another heartbeat.
    if (read.status === 200) expect(read.body.attempts[0].request.body === null).toBe(delivery.resource.id !== beats[0])
  }
})

test('an endpoint cannot be changed to send the token data of other resources', async () => {
  const { narrow, endpoints } = await scene()
  const edit = async (patch: object) => {
    const { status, body } = await narrow.call('PATCH', `/v1/webhook-endpoints/${endpoints[0]}`, patch)
    return status === 200 ? 'edited' : body.code
  }
  expect(await edit({ url: 'http://127.0.0.1:9/elsewhere' })).toBe('restricted_token')
  expect(await edit({ events: ['monitor.alert', 'monitor.recovered'] })).toBe('restricted_token')
  expect(await edit({ description: 'mine' })).toBe('edited')
})

test('only resource ids are accepted, and restrictions are kept by a rotation', async () => {
  const { acme, app, narrow, beats } = await scene()
  const wrong = await acme.call('POST', '/v1/tokens', {
    name: 'wrong',
    mode: 'full',
    resource_ids: [beats[0], 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m', 'hb_short'],
  })
  expect([wrong.status, wrong.body.errors.map((one: any) => one.pointer)]).toEqual([
    422,
    ['#/resource_ids/1', '#/resource_ids/2'],
  ])
  const id = (await acme.call('GET', '/v1/tokens?q=narrow')).body.data[0].id
  const rotated = await acme.call('POST', `/v1/tokens/${id}/rotate`, {})
  const heirs = await callerWith(app, acme.workspaceId, rotated.body.token).call('GET', '/v1/heartbeats')
  expect(heirs.body.data).toEqual((await narrow.call('GET', '/v1/heartbeats')).body.data)
})

test('an empty list is refused; null allows everything', async () => {
  const { acme } = await scene()
  const empty = await acme.call('POST', '/v1/tokens', { name: 'all?', mode: 'full', resource_ids: [], allowed_cidrs: [] })
  expect([empty.status, empty.body.errors.map((one: any) => `${one.pointer} ${one.detail}`)]).toEqual([
    422,
    ['#/allowed_cidrs must have at least 1 item, or be null.', '#/resource_ids must have at least 1 item, or be null.'],
  ])
  const whole = await acme.call('POST', '/v1/tokens', { name: 'all', mode: 'full', resource_ids: null, allowed_cidrs: null })
  expect([whole.status, whole.body.resource_ids, whole.body.allowed_cidrs]).toEqual([201, [], []])
})
