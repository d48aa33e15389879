import { expect, test } from 'bun:test'
import { endpointAt } from '../support/receiver'
import { world } from '../support/world'

const schedule = { kind: 'period', period_seconds: 60, grace_seconds: 60 }

test('an update that changes nothing keeps the version and adds no audit event', async () => {
  const { acme, audited, ...here } = await world()
  const create = async (path: string, body: object) => `${path}/${(await acme.call('POST', path, body)).body.id}`
  const endpoint = { description: 'mine', events: ['monitor.alert'], headers: { 'X-Own': 'a' }, max_per_second: 5 }
  const { id } = await endpointAt({ acme, audited, ...here }, 'http://127.0.0.1:9/hook', endpoint)
  const edits: [string, object, object][] = [
    [await create('/v1/tokens', { name: 'ci', mode: 'full' }), { name: 'ci', expires_at: null }, { name: 'other' }],
    [
      await create('/v1/heartbeats', { name: 'nightly', schedule, tags: ['a'] }),
      { tags: ['a'], slug: null, schedule: { period_seconds: 60 } },
      { tags: [] },
    ],
    [`/v1/webhook-endpoints/${id}`, { ...endpoint, filters: { resource_ids: null } }, { headers: { 'X-Own': 'b' } }],
    [
      await create('/v1/audit-streams', { name: 'SIEM', url: 'http://127.0.0.1:9/log', active: false }),
      { name: 'SIEM', actions: null },
      { name: 'other' },
    ],
    [
      await create('/v1/dns/providers', { kind: 'powerdns', name: 'own', settings: { url: 'http://127.0.0.1:9', api_key: 'a' } }),
      { name: 'own', settings: { api_key: 'a', server_id: 'localhost' } },
      { name: 'other' },
    ],
    [`/v1/workspaces/${acme.workspaceId}`, { limit_overrides: {} }, { limit_overrides: { heartbeats: 7 } }],
    [await create('/v1/plans', { id: 'own', title: 'Own', limits: {} }), { title: 'Own' }, { title: 'Other' }],
  ]
  await here.settle()
  await audited()
  for (const [path, same, other] of edits) {
    const before = await acme.call('GET', path)
    for (const patch of [{}, same]) {
      const response = await acme.call('PATCH', path, patch)
      expect([path, response.status, response.body]).toEqual([path, 200, before.body])
      expect(response.headers.get('etag')).toBe(before.headers.get('etag'))
    }
    expect((await acme.call('PATCH', path, {}, { 'if-match': '"99"' })).status).toBe(412)
    expect(await audited()).toEqual([])
    expect((await acme.call('PATCH', path, other)).body.version).toBe(before.body.version + 1)
    expect(await audited()).toHaveLength(1)
  }
})

test('a paused heartbeat is not paused again, and a bulk request that changes nothing adds no audit events', async () => {
  const { acme, audited } = await world()
  const { id } = (await acme.call('POST', '/v1/heartbeats', { name: 'nightly', schedule })).body
  expect((await acme.call('POST', `/v1/heartbeats/${id}/pause`)).body.version).toBe(2)
  await audited()
  expect((await acme.call('POST', `/v1/heartbeats/${id}/pause`)).body).toMatchObject({ status: 'paused', version: 2 })
  const bulk = await acme.call('POST', '/v1/heartbeats/bulk', { operations: [{ op: 'update', id, body: { name: 'nightly' } }] })
  expect(bulk.body.results[0].body.version).toBe(2)
  expect(await audited()).toEqual([])
})
