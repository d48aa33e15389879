import { describe, expect, test } from 'bun:test'
import { prunePlans } from '../../src/features/dns/plans/plans'
import { world, type Caller } from '../support/world'
import { createZone } from '../support/zones'

const put = (caller: Caller, zone: string, rrsets: object[]) => caller.call('PUT', `/v1/dns/zones/${zone}/rrsets`, { rrsets })
const plan = (caller: Caller, zone: string, rrsets: object[], more: object = {}) =>
  caller.call('POST', `/v1/dns/zones/${zone}/plan`, { rrsets, ...more })
const apply = (caller: Caller, plan: any, more: object = {}) =>
  caller.call('POST', `/v1/dns/zones/${plan.zone_id}/apply`, { plan_id: plan.id, hash: plan.hash, ...more })
const a = (name: string, ...addresses: string[]) => ({
  name,
  type: 'A',
  ttl: 300,
  records: addresses.map(content => ({ content })),
})
const codes = (answer: { body: any }) => answer.body.blocked.map((one: any) => one.code)

/** A zone of ten rrsets: NS, its glue, and eight addresses. */
async function zoneOfTen(caller: Caller): Promise<any> {
  const zone = await createZone(caller)
  const created = await put(
    caller,
    zone.id,
    Array.from({ length: 8 }, (_, n) => a(`h${n}`, `192.0.2.${n + 1}`)),
  )
  expect(created.status).toBe(200)
  return zone
}
const removed = (count: number) => Array.from({ length: count }, (_, n) => a(`h${n}`))

describe('plans', () => {
  test('show what edits would do, without applying them', async () => {
    const { acme, audited, emitted } = await world()
    const zone = await zoneOfTen(acme)
    await audited()
    await emitted()
    const created = await plan(acme, zone.id, [a('h0', '192.0.2.77'), a('new', '192.0.2.78'), a('h1'), a('h2', '192.0.2.3')], {
      note: 'A try.',
    })
    expect(created.status).toBe(201)
    expect(created.headers.get('location')).toBe(`/v1/dns/plans/${created.body.id}`)
    expect(created.body).toMatchObject({
      zone_id: zone.id,
      zone_version: 2,
      status: 'open',
      blocked: [],
      origin: 'api',
      note: 'A try.',
      applied_at: null,
      targets: [
        {
          target_id: null,
          provider_id: 'builtin',
          op_count: 3,
          truncated: false,
          ops: [
            {
              action: 'update',
              name: 'h0',
              type: 'A',
              before: { ttl: 300, values: ['192.0.2.1'] },
              after: { ttl: 300, values: ['192.0.2.77'] },
            },
            { action: 'create', name: 'new', before: null, after: { ttl: 300, values: ['192.0.2.78'] } },
            { action: 'delete', name: 'h1', after: null },
          ],
        },
      ],
    })
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ version: 2, record_count: 10 })
    expect(await audited()).toEqual(['dns.plan.create'])
    expect(await emitted()).toEqual([])
    expect((await acme.call('GET', `/v1/dns/plans/${created.body.id}`)).body).toEqual(created.body)
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}/plans`)).body.data).toEqual([created.body])
  })

  test('are applied once, as they were shown', async () => {
    const { acme, audited, emitted, settle } = await world()
    const zone = await zoneOfTen(acme)
    const created = await plan(acme, zone.id, [a('h0', '192.0.2.77', '192.0.2.78'), a('h1')])
    await audited()
    await emitted()
    const applied = await apply(acme, created.body)
    expect(applied.status).toBe(202)
    expect(applied.body).toMatchObject({ type: 'zone.apply', result: { serial: 3, created: 2, updated: 0, deleted: 2 } })
    const { data } = (await acme.call('GET', `/v1/dns/records?zone=${zone.id}&name=h*&type=A`)).body
    expect(data.map((one: any) => `${one.name} ${one.content}`)).toContain('h0 192.0.2.78')
    expect(data.some((one: any) => one.name === 'h1')).toBe(false)
    await settle()
    expect((await acme.call('GET', applied.headers.get('location')!)).body.status).toBe('success')
    expect((await acme.call('GET', `/v1/dns/plans/${created.body.id}`)).body.status).toBe('applied')
    expect(await audited()).toEqual(['dns.plan.apply'])
    expect(await emitted()).toEqual(['dns.records_changed'])
    expect((await apply(acme, created.body)).body.code).toBe('conflict')
  })

  test('that delete four of ten rrsets are blocked, and those that delete three are not', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    expect(codes(await plan(acme, zone.id, removed(3)))).toEqual([])
    const four = await plan(acme, zone.id, removed(4))
    expect(codes(four)).toEqual(['deletes_over_limit'])
    const refused = await apply(acme, four.body)
    expect([refused.status, refused.body.code]).toEqual([409, 'plan_blocked'])
    expect(refused.body).toMatchObject({
      plan_id: four.body.id,
      reasons: [{ code: 'deletes_over_limit', detail: 'Deletes 4 of 10 record sets; the limit is 30%.' }],
    })
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body.record_count).toBe(10)
  })

  test('are allowed reason by reason, with a note in the audit log', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    await put(acme, zone.id, [{ name: '@', type: 'MX', records: [{ content: '10 h7' }] }])
    const created = await plan(acme, zone.id, [...removed(4), { name: '@', type: 'MX', records: [] }])
    expect(codes(created)).toEqual(['deletes_over_limit', 'loses_apex_mx'])
    const half = await apply(acme, created.body, { allow: ['deletes_over_limit'], note: 'Cleaning up.' })
    expect(half.body.reasons.map((one: any) => one.code)).toEqual(['loses_apex_mx'])
    const both = { allow: ['deletes_over_limit', 'loses_apex_mx'] }
    const silent = await apply(acme, created.body, both)
    expect([silent.status, silent.body.errors[0].pointer]).toEqual([422, '#/note'])
    expect((await apply(acme, created.body, { ...both, note: 'Cleaning up.' })).status).toBe(202)
    const entry = (await acme.call('GET', '/v1/audit-events?action=dns.plan.apply')).body.data[0]
    expect(entry).toMatchObject({ reason: 'Cleaning up.', changes: { after: { allowed: both.allow, deleted: 5 } } })
  })

  test('use the limits of the zone', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    const limits = { update_limit_percent: 10, delete_limit_percent: 40 }
    expect((await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, limits)).body).toMatchObject(limits)
    expect(codes(await plan(acme, zone.id, removed(4)))).toEqual([])
    expect(codes(await plan(acme, zone.id, [a('h0', '192.0.2.99'), a('h1', '192.0.2.98')]))).toEqual(['updates_over_limit'])
    const back = await acme.call('PATCH', `/v1/dns/zones/${zone.id}`, { update_limit_percent: null, delete_limit_percent: null })
    expect(back.body).toMatchObject({ update_limit_percent: null, delete_limit_percent: null })
  })

  test('are blocked by locked records', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    await put(acme, zone.id, [{ ...a('h0', '192.0.2.1'), locked: true }])
    const created = await plan(acme, zone.id, removed(1))
    expect(codes(created)).toEqual(['locked'])
    expect((await apply(acme, created.body)).body.code).toBe('plan_blocked')
    expect((await apply(acme, created.body, { allow: ['locked'], note: 'It moved.' })).status).toBe(202)
    expect((await acme.call('GET', `/v1/dns/records?zone=${zone.id}&name=h0`)).body.data).toEqual([])
  })

  test('are stale once the zone has changed, and expire after 15 minutes', async () => {
    const { acme, advance } = await world()
    const zone = await zoneOfTen(acme)
    const first = await plan(acme, zone.id, removed(1))
    await put(acme, zone.id, [a('other', '192.0.2.50')])
    expect((await apply(acme, first.body)).body.code).toBe('plan_stale')
    expect((await acme.call('GET', `/v1/dns/plans/${first.body.id}`)).body.status).toBe('stale')
    const second = await plan(acme, zone.id, removed(1))
    await advance(15 * 60_000)
    expect((await apply(acme, second.body)).body.code).toBe('plan_expired')
  })

  test('are validated when they are created', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    const beside = await plan(acme, zone.id, [{ name: 'h0', type: 'CNAME', records: [{ content: 'h1' }] }])
    expect([beside.status, beside.body.errors[0].pointer]).toEqual([422, '#/rrsets/0'])
    const twice = await plan(acme, zone.id, [a('x', '192.0.2.1'), a('x', '192.0.2.2')])
    expect(twice.body.errors[0].code).toBe('not_unique')
    expect((await acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ version: 2, serial: 2 })
  })

  test('are applied only with their hash, in their own zone', async () => {
    const { acme, rival } = await world()
    const zone = await zoneOfTen(acme)
    const other = await createZone(acme, 'example.org')
    const created = (await plan(acme, zone.id, removed(1))).body
    expect((await apply(acme, { ...created, hash: 'f'.repeat(64) })).body.errors[0].pointer).toBe('#/hash')
    expect((await apply(acme, { ...created, zone_id: other.id })).status).toBe(404)
    expect((await apply(rival, created)).status).toBe(404)
    expect((await rival.call('GET', `/v1/dns/plans/${created.id}`)).status).toBe(404)
    expect((await apply(acme, created)).status).toBe(202)
  })

  test('are deleted with their zone, and a week after they expire', async () => {
    const { acme, hub, advance } = await world()
    const zone = await zoneOfTen(acme)
    const created = (await plan(acme, zone.id, removed(1))).body
    await advance(7 * 86_400_000)
    await prunePlans(hub)
    expect((await acme.call('GET', `/v1/dns/plans/${created.id}`)).status).toBe(200)
    await advance(16 * 60_000)
    await prunePlans(hub)
    expect((await acme.call('GET', `/v1/dns/plans/${created.id}`)).status).toBe(404)
  })
})

describe('an import that replaces a zone', () => {
  const file = '$ORIGIN example.com.\n@ 3600 IN SOA ns1 host 1 1h 10m 2w 5m\n@ 3600 IN NS ns1\nns1 3600 IN A 192.0.2.53\n'
  const load = (caller: Caller, zone: string, query = '') =>
    caller.call('POST', `/v1/dns/zones/${zone}/import?mode=replace${query}`, file, { 'content-type': 'text/dns' })

  test('is blocked if it would delete too much of an edited zone', async () => {
    const { acme } = await world()
    const zone = await zoneOfTen(acme)
    const refused = await load(acme, zone.id)
    expect([refused.status, refused.body.code]).toEqual([409, 'plan_blocked'])
    expect(refused.body.reasons.map((one: any) => one.code)).toEqual(['deletes_over_limit'])
    expect((await load(acme, zone.id, '&allow=deletes_over_limit')).body.errors[0].pointer).toBe('#/query/note')
    const done = await load(acme, zone.id, '&allow=deletes_over_limit&note=From%20scratch')
    expect(done.body).toMatchObject({ deleted: 9 })
    const entry = (await acme.call('GET', '/v1/audit-events?action=dns.zone.import')).body.data[0]
    expect(entry).toMatchObject({ reason: 'From scratch', changes: { after: { allowed: ['deletes_over_limit'] } } })
  })

  test('fills a new zone without approval', async () => {
    const { acme } = await world()
    expect((await load(acme, (await createZone(acme)).id)).status).toBe(200)
  })
})
