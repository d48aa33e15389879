import { expect, test } from 'bun:test'
import { record } from '../../src/core/change'
import { instant } from '../../src/core/clock'
import { newId } from '../../src/core/ids'
import { openOutage } from '../support/outages'
import { callerWith, world, type World } from '../support/world'

/** Creates a zone with several changes, and an incident of a monitor that targets a name in it. */
async function setUp(w: World) {
  const post = async (path: string, body: object) => (await w.acme.call('POST', path, body)).body
  const zone = await post('/v1/dns/zones', { name: 'example.com' })
  const record = (name: string, content: string) =>
    post(`/v1/dns/zones/${zone.id}/records`, { type: 'A', name, ttl: 300, content })
  const shop = await record('shop', '192.0.2.10')
  w.clock.advance(3 * 86_400_000)
  const period = { kind: 'period', period_seconds: 60, grace_seconds: 60 }
  const sameTag = await post('/v1/heartbeats', { name: 'shop backup', schedule: period, tags: ['shop'] })
  w.clock.advance(60_000)
  await w.acme.call('PATCH', `/v1/dns/records/${shop.id}`, { content: '192.0.2.20' })
  w.clock.advance(60_000)
  await record('other', '192.0.2.30')
  w.clock.advance(60_000)
  await post('/v1/tokens', { name: 'ci', mode: 'read_only' })
  w.clock.advance(60_000)
  const { incident } = await openOutage(w, newId('mon'))
  await record('later', '192.0.2.40')
  return { id: incident.id, zone, sameTag }
}

test('lists changes before an incident, records of the target’s name first', async () => {
  const w = await world()
  const { id, zone } = await setUp(w)
  const changes = (await w.acme.call('GET', `/v1/incidents/${id}/changes`)).body
  expect(changes.truncated).toBe(false)
  expect(changes.data.map((one: any) => [one.relation, one.kind, one.seconds_before])).toEqual([
    ['name', 'dns.records_changed', 165],
    ['zone', 'dns.records_changed', 105],
    ['tag', 'heartbeat.create', 225],
    ['none', 'account.token.create', 45],
  ])
  expect(changes.data[0]).toMatchObject({
    source: 'event',
    summary: 'A shop.example.com: changed from 192.0.2.10 to 192.0.2.20',
    actor: { type: 'token', name: 'full token' },
    resource: { type: 'zone', id: zone.id, name: 'example.com' },
    records: [{ action: 'updated', fqdn: 'shop.example.com', before: { content: '192.0.2.10' } }],
  })
  expect(changes.data[2].summary).toStartWith('shop backup: ')
  const wider = (await w.acme.call('GET', `/v1/incidents/${id}/changes?window_seconds=604800&limit=2`)).body
  expect([wider.truncated, wider.data.map((one: any) => one.seconds_before)]).toEqual([true, [165, 3 * 86_400 + 225]])
  const narrower = (await w.acme.call('GET', `/v1/incidents/${id}/changes?window_seconds=60`)).body
  expect(narrower.data.map((one: any) => one.kind)).toEqual(['account.token.create'])
})

test('an incident includes suspects on request', async () => {
  const w = await world()
  const { id } = await setUp(w)
  expect((await w.acme.call('GET', `/v1/incidents/${id}`)).body.suspects).toBeUndefined()
  const { suspects } = (await w.acme.call('GET', `/v1/incidents/${id}?include=suspects`)).body
  expect(suspects.map((one: any) => one.relation)).toEqual(['name', 'zone', 'tag'])
})

test('changes the caller may not read are left out', async () => {
  const w = await world()
  const { id, sameTag } = await setUp(w)
  const seen = async (caller: typeof w.acme) =>
    (await caller.call('GET', `/v1/incidents/${id}/changes`)).body.data.map((one: any) => one.kind)
  expect(await seen(await w.scoped('monitoring.read'))).toEqual([])
  expect(await seen(await w.scoped('monitoring.read', 'dns.read'))).toEqual(['dns.records_changed', 'dns.records_changed'])
  expect(await seen(await w.scoped('monitoring.read', 'account.read'))).toEqual([
    'dns.record.update',
    'dns.record.create',
    'heartbeat.create',
    'account.token.create',
  ])
  expect((await w.rival.call('GET', `/v1/incidents/${id}/changes`)).status).toBe(404)
  const { monitors } = (await w.acme.call('GET', `/v1/incidents/${id}`)).body
  const resource_ids = [monitors[0].id, sameTag.id]
  const created = await w.acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'full', resource_ids })
  expect(await seen(callerWith(w.app, w.acme.workspaceId, created.body.token))).toEqual(['heartbeat.create'])
})

test('external changes are included even if detected after the incident started', async () => {
  const w = await world()
  const { incident } = await openOutage(w, newId('mon'))
  w.clock.advance(120_000)
  await externalChange(w, 'shop.example.com')
  await externalChange(w, 'mail.example.com')
  w.clock.advance(3600_000)
  await externalChange(w, 'shop.example.com')
  const { data } = (await w.acme.call('GET', `/v1/incidents/${incident.id}/changes`)).body
  expect(data.map((one: any) => [one.relation, one.seconds_before, one.records[0].fqdn])).toEqual([
    ['name', -135, 'shop.example.com'],
    ['zone', -135, 'mail.example.com'],
  ])
})

async function externalChange(w: World, fqdn: string): Promise<void> {
  const zone = { id: newId('zone'), name: 'example.com' }
  const change = {
    action: 'deleted' as const,
    record_id: null,
    type: 'A',
    name: fqdn.split('.')[0]!,
    fqdn,
    before: { ttl: 300, content: '192.0.2.10' },
    after: null,
  }
  await record(w.hub, async () => ({
    result: undefined,
    events: [
      {
        workspaceId: w.acme.workspaceId,
        kind: 'dns.records_changed',
        resource: { type: 'zone', id: zone.id },
        data: {
          zone,
          origin: 'external',
          actor: null,
          changed_at: instant(w.clock.now()),
          changes: [change],
          change_count: 1,
          truncated: false,
        },
      },
    ],
  }))
}
