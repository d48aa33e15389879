import { afterAll, describe, expect, test } from 'bun:test'
import { isPostgres } from '../../src/core/db/dialect'
import { claimTarget } from '../../src/features/dns/targets/claim-target'
import { dnsZoneTargets } from '../../src/features/dns/targets/tables'
import { syncTarget } from '../../src/features/dns/sync/sync-target'
import { openHub } from '../../src/hub/run'
import { readDueTargets, queueTargetRead } from '../../src/features/dns/sync/sync-zone'
import { listPublishedZones } from '../../src/features/dns/publish/published-zones'
import { hostedZone } from '../support/hosted-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'
import { createZone } from '../support/zones'

const double = powerDnsDouble()
afterAll(() => double.stop())

const minute = 60_000

describe('a zone at a provider', () => {
  test('is created there, and changes are applied there', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    expect(kept.zone).toMatchObject({ provider_id: kept.provider.id, synced: false, sync: { state: 'pending' } })
    expect(kept.there()).toEqual(['example.com. NS 86400 ns1.example.net.'])
    expect(await kept.shown()).toMatchObject({
      synced: true,
      sync: { state: 'synced', targets: [{ error: null, stale: false }] },
    })
    await w.audited()
    const created = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/records`, {
      type: 'A',
      name: 'www',
      content: '192.0.2.1',
    })
    expect(created.body).toMatchObject({ synced: false, sync: { state: 'pending' } })
    await w.settle()
    const read = (await w.acme.call('GET', `/v1/dns/records/${created.body.id}`)).body
    expect(read).toMatchObject({
      synced: true,
      sync: {
        state: 'synced',
        targets: [{ provider_id: kept.provider.id, state: 'synced', observed: { ttl: 3600, values: ['192.0.2.1'] } }],
      },
    })
    expect(kept.there()).toContain('www.example.com. A 3600 192.0.2.1')
    expect(await w.audited()).toEqual(['dns.record.create', 'dns.zone.sync'])
    expect(await w.emitted()).toContain('dns.records_changed')
    await kept.put([{ name: 'www', type: 'A', records: [] }])
    expect(kept.there()).not.toContain('www.example.com. A 3600 192.0.2.1')
    expect((await kept.shown()).synced).toBe(true)
  })

  test('can have records of types that only the provider has: they are listed and kept', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, [['lua.example.com.', 'LUA', `A "ifportup(443, {'192.0.2.1'})"`]])
    await kept.put([kept.a('www', '192.0.2.1')])
    const drift = await w.acme.call('GET', `/v1/dns/zones/${kept.zone.id}/drift`)
    expect(drift.body.rrsets.map((one: any) => one.type)).toEqual(['NS'])
    expect(drift.body.foreign).toMatchObject([
      { provider_id: kept.provider.id, name: 'lua', type: 'LUA', detail: expect.stringContaining('ifportup') },
    ])
    expect(kept.there().join('\n')).toContain('lua.example.com. LUA')
    double.put('example.com.', 'lua.example.com.', 'LUA', 300, null)
    await kept.refresh()
    expect((await w.acme.call('GET', `/v1/dns/zones/${kept.zone.id}/drift`)).body.foreign).toEqual([])
  })

  test('is created there without NS records if none are configured, and gets them later', async () => {
    const w = await world()
    const kept = await hostedZone(w, double)
    expect(await kept.shown()).toMatchObject({ synced: true, nameservers: [], sync: { targets: [{ error: null }] } })
    await kept.put([{ name: '@', type: 'NS', ttl: 3600, records: [{ content: 'ns1.example.net.' }] }, kept.a('www', '192.0.2.1')])
    expect(kept.there()).toEqual(['example.com. NS 3600 ns1.example.net.', 'www.example.com. A 300 192.0.2.1'])
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null, nameservers: ['ns1.example.net'] })
  })

  test('is not served by the hub unless configured', async () => {
    const w = await world()
    const kept = await hostedZone(w, double)
    const here = await createZone(w.acme, 'example.org')
    const served = async () => (await listPublishedZones(w.hub.read)).map(one => one.name).sort()
    expect([kept.zone.served, here.served, await served()]).toEqual([false, true, ['example.org.']])
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { served: true })
    expect(await served()).toEqual(['example.com.', 'example.org.'])
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { served: false })
    expect(await served()).toEqual(['example.org.'])
    const refused = await w.acme.call('PATCH', `/v1/dns/zones/${here.id}`, { served: false })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/served'])
  })

  test('that already exists there is unchanged, and can be adopted', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, [
      ['www.example.com.', 'A', '192.0.2.1'],
      ['_acme-challenge.example.com.', 'TXT', '"x"'],
    ])
    const before = kept.there()
    expect(await kept.shown()).toMatchObject({ synced: false, sync: { state: 'unmanaged' }, blocked: null, record_count: 0 })
    const drift = (await w.acme.call('GET', `/v1/dns/zones/${kept.zone.id}/drift`)).body
    expect(drift.rrsets.map((one: any) => [one.name, one.type, one.state, one.kind, one.desired])).toEqual([
      ['@', 'NS', 'unmanaged', 'added', null],
      ['www', 'A', 'unmanaged', 'added', null],
    ])
    // New records are applied anyway; existing ones are not changed.
    await kept.put([kept.a('api', '192.0.2.2')])
    expect(kept.there()).toEqual([...before, 'api.example.com. A 300 192.0.2.2'].sort())
    const adopted = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/adopt`, { all: true })
    expect(adopted.body).toMatchObject({ created: 2, updated: 0, deleted: 0 })
    await w.settle()
    expect(await kept.shown()).toMatchObject({ synced: true, record_count: 3, nameservers: ['ns1.example.net'] })
    expect(kept.there()).toEqual([...before, 'api.example.com. A 300 192.0.2.2'].sort())
    expect((await kept.records('?name=www'))[0]).toMatchObject({ source: 'import', synced: true })
  })

  test('whose other rrsets should be deleted is blocked at first', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, [['www.example.com.', 'A', '192.0.2.1']], { unmanaged: 'delete' })
    const { blocked } = await kept.shown()
    expect(blocked.reasons.map((one: any) => one.code)).toContain('first_sync')
    expect(kept.there()).toHaveLength(2)
  })

  test('that was deleted there is not created again', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.zones.clear()
    await kept.put([kept.a('www', '192.0.2.1')])
    expect((await kept.shown()).sync.targets[0].error.code).toBe('zone_not_found')
    expect(double.zones.size).toBe(0)
  })

  test('is found by its sync state, its provider and its name', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, [['www.example.com.', 'A', '192.0.2.1']], { unmanaged: 'delete' })
    await createZone(w.acme, 'example.org')
    const found = async (query: string) => {
      const { status, body } = await w.acme.call('GET', `/v1/dns/zones?${query}`)
      return status === 200 ? body.data.map((one: any) => one.name) : status
    }
    const [here, there] = [['example.org'], ['example.com']]
    const { sync } = await kept.shown()
    expect([await found('synced=false'), await found('synced=true')]).toEqual([there, here])
    expect([await found(`state=${sync.state}`), await found('state=synced'), await found('state=error')]).toEqual([
      there,
      here,
      [],
    ])
    expect([await found('blocked=true'), await found('blocked=false')]).toEqual([there, here])
    expect([await found(`provider_id=${kept.provider.id}`), await found('provider_id=builtin')]).toEqual([there, here])
    expect([await found('name=exa*'), await found('name=example.o*')]).toEqual([[...there, ...here], here])
    expect([await found('name=*.org'), await found('state=lost')]).toEqual([400, 400])
    double.zones.clear()
    await kept.refresh()
    expect([await found('state=error'), await found('synced=false&state=synced')]).toEqual([there, []])
    const [target] = (await kept.shown()).sync.targets
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { served: true })
    expect((await w.acme.call('DELETE', `/v1/dns/zones/${kept.zone.id}/targets/${target.id}`)).status).toBe(204)
    expect([await found('synced=false'), await found('blocked=true')]).toEqual([[], []])
  })

  test('set to manual is changed only by plans', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { apply: 'manual' })
    await w.settle()
    const before = kept.there()
    await kept.put([kept.a('www', '192.0.2.1')])
    expect(kept.there()).toEqual(before)
    expect((await kept.records('?state=pending')).map(one => one.name)).toEqual(['www'])
    const plan = (await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/plan`, {})).body
    expect(plan.targets).toMatchObject([
      { provider_id: kept.provider.id, op_count: 1, ops: [{ action: 'create', name: 'www', before: null }] },
    ])
    const places = async () =>
      (
        await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/plan`, { rrsets: [kept.a('api', '192.0.2.2')] })
      ).body.targets.map((one: any) => [one.target_id, one.provider_id, one.op_count])
    const there = [plan.targets[0].target_id, kept.provider.id, 2]
    // The hub is not a provider of zones that it doesn't serve.
    expect(await places()).toEqual([[null, null, 1], there])
    const applied = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/apply`, { plan_id: plan.id, hash: plan.hash })
    await w.settle()
    expect((await w.acme.call('GET', applied.headers.get('location')!)).body).toMatchObject({
      status: 'success',
      result: { [plan.targets[0].target_id]: { created: 1, failed: 0 } },
    })
    expect(kept.there()).toContain('www.example.com. A 300 192.0.2.1')
  })
})

describe('changes for a provider', () => {
  /** A zone of ten rrsets, all in sync. */
  async function ten() {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
    expect(kept.there()).toHaveLength(10)
    return { w, kept }
  }
  const removed = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `h${n}`, type: 'A', records: [] }))

  test('are blocked if they exceed the limits, until they are allowed', async () => {
    const { w, kept } = await ten()
    await kept.put(removed(4))
    const { blocked, synced } = await kept.shown()
    expect([synced, blocked.reasons.map((one: any) => one.code)]).toEqual([false, ['deletes_over_limit']])
    expect(kept.there()).toHaveLength(10)
    const plan = (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body
    expect(plan).toMatchObject({ status: 'open', created_by: { type: 'system' }, targets: [{ op_count: 4 }] })
    const path = `/v1/dns/zones/${kept.zone.id}/apply`
    const body = { plan_id: plan.id, hash: plan.hash }
    expect((await w.acme.call('POST', path, body)).body.code).toBe('plan_blocked')
    const applied = await w.acme.call('POST', path, { ...body, allow: ['deletes_over_limit'], note: 'They moved.' })
    await w.settle()
    expect((await w.acme.call('GET', applied.headers.get('location')!)).body.status).toBe('success')
    expect(kept.there()).toHaveLength(6)
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
  })

  test('are not blocked within the limits, and unblocked once they are reduced', async () => {
    const { kept } = await ten()
    await kept.put(removed(3))
    expect(kept.there()).toHaveLength(7)
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
    await kept.put([kept.a('*', '192.0.2.99')])
    expect((await kept.shown()).blocked.reasons.map((one: any) => one.code)).toEqual(['new_wildcard'])
    await kept.put([{ name: '*', type: 'A', records: [] }])
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
  })

  test('by a plan are stale after an external change', async () => {
    const { w, kept } = await ten()
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { apply: 'manual' })
    await w.settle()
    await kept.put([kept.a('new', '192.0.2.77')])
    const plan = (await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/plan`, {})).body
    double.put('example.com.', 'h0.example.com.', 'A', 300, ['198.51.100.1'])
    const applied = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/apply`, { plan_id: plan.id, hash: plan.hash })
    await w.settle()
    expect((await w.acme.call('GET', applied.headers.get('location')!)).body).toMatchObject({
      status: 'error',
      error: { code: 'plan_stale' },
    })
    expect(kept.there()).toContain('h0.example.com. A 300 198.51.100.1')
    expect(kept.there().some(one => one.startsWith('new.'))).toBe(false)
  })

  test('that are refused stay in error with the message, until they succeed', async () => {
    const { w, kept } = await ten()
    double.trouble = request => (request.startsWith('PATCH') ? { status: 422, body: '{"error": "no such luck"}' } : null)
    await kept.put([kept.a('new', '192.0.2.77')])
    const [record] = await kept.records('?state=error')
    expect(record).toMatchObject({ name: 'new', synced: false, sync: { state: 'error' } })
    expect(record.sync.targets[0].detail).toContain('no such luck')
    // The reason is shown with the state of the target too.
    const [target] = (await kept.shown()).sync.targets
    expect(target).toMatchObject({
      state: 'error',
      error: { code: 'change_rejected', detail: `new A: ${record.sync.targets[0].detail}` },
    })
    expect((await kept.records('?synced=false')).map(one => one.name)).toEqual(['new'])
    expect(await w.audited()).toContain('dns.zone.sync failure')
    await w.advance(5 * minute)
    await readDueTargets(w.hub)
    await w.settle()
    expect(await w.audited()).toEqual([])
    expect((await kept.records('?state=error')).length).toBe(1)
    double.trouble = () => null
    await w.advance(5 * minute)
    await readDueTargets(w.hub)
    await w.settle()
    expect(kept.there()).toContain('new.example.com. A 300 192.0.2.77')
    expect(await kept.records('?synced=false')).toEqual([])
    expect((await kept.shown()).sync.targets[0].error).toBeNull()
  })

  test('without a response are verified by a read', async () => {
    const { kept } = await ten()
    let patches = 0
    double.trouble = request => (request.startsWith('PATCH') && patches++ === 0 ? 'cut connection' : null)
    await kept.put([kept.a('new', '192.0.2.77')])
    expect(['error', 'pending']).toContain((await kept.shown()).sync.state)
    double.trouble = () => null
    expect((await kept.refresh()).status).toBe('success')
  })
})

describe('a provider that can’t be read', () => {
  test('keeps the last state, is retried with backoff, and becomes stale', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.trouble = () => ({ status: 503, headers: { 'retry-after': '1' } })
    expect((await kept.refresh()).error.code).toBe('provider_failed')
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced', targets: [{ stale: false }] } })
    const requests = double.requests.length
    await readDueTargets(w.hub)
    await w.settle()
    expect(double.requests.length).toBe(requests)
    for (let n = 0; n < 12; n++) {
      await w.advance(10 * minute)
      await readDueTargets(w.hub)
      await w.settle()
    }
    // Without backoff it would be 24 attempts by now.
    expect(double.requests.length - requests).toBeWithin(3, 20)
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced', targets: [{ stale: true }] } })
    double.trouble = () => null
    await kept.refresh()
    expect((await kept.shown()).sync.targets[0]).toMatchObject({ stale: false, error: null })
  })

  test('but responds that the zone is missing, or denies access, is in error until it is read again', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    const zone = double.zones.get('example.com.')!
    const states = async () => {
      const { synced, sync } = await kept.shown()
      return [synced, sync.state, sync.targets[0].stale, sync.targets[0].error?.code ?? null]
    }
    const [before] = await kept.records()
    for (const [trouble, code] of [
      [() => double.zones.delete('example.com.'), 'zone_not_found'],
      [() => (double.trouble = () => ({ status: 401 })), 'unauthorized'],
      [() => (double.trouble = () => ({ status: 500 })), 'refused'],
    ] as const) {
      trouble()
      await kept.refresh()
      expect(await states()).toEqual([false, 'error', false, code])
      expect((await kept.records())[0]).toMatchObject({ synced: true, sync: { state: before.sync.state } })
      // No response at all does not change that.
      double.trouble = () => ({ status: 429 })
      await kept.refresh()
      expect(await states()).toEqual([false, 'error', false, 'throttled'])
      double.trouble = () => null
      double.zones.set('example.com.', zone)
      await w.advance(60 * minute)
      await readDueTargets(w.hub)
      await w.settle()
      expect(await states()).toEqual([true, 'synced', false, null])
    }
  })

  test('or returns half or nothing of the zone is rejected', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
    await w.emitted()
    for (let n = 0; n < 6; n++) double.put('example.com.', `h${n}.example.com.`, 'A', 300, null)
    const refused = await kept.refresh()
    expect(refused.error).toMatchObject({ code: 'provider_failed' })
    expect(refused.error.detail).toContain('fewer than half')
    expect(await kept.shown()).toMatchObject({
      synced: false,
      sync: { state: 'error', targets: [{ state: 'error', stale: false, error: { code: 'incomplete' } }] },
    })
    expect((await kept.records('?synced=true')).length).toBe(10)
    double.put('example.com.', 'example.com.', 'NS', 300, null)
    expect((await kept.refresh()).error.detail).toContain('no NS')
    expect(await w.emitted()).toEqual([])
    double.put('example.com.', 'example.com.', 'NS', 86_400, ['ns1.example.net.'])
    expect((await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/refresh`, { force: true })).status).toBe(422)
    expect((await kept.refresh({ force: true, note: 'It was me.' })).status).toBe('success')
    expect(await w.emitted()).toEqual(['dns.records_changed'])
    expect((await kept.records('?state=drifted')).length).toBe(6)
  })
})

describe('sync targets', () => {
  test('can be added to a served zone, and removed again', async () => {
    const w = await world()
    const kept = await hostedZone(w, double)
    const zone = await createZone(w.acme, 'example.org', { nameservers: ['ns1.example.net'] })
    const path = `/v1/dns/zones/${zone.id}/targets`
    const added = await w.acme.call('POST', path, { provider_id: kept.provider.id })
    expect([added.status, added.body.state]).toEqual([201, 'unknown'])
    expect((await w.acme.call('POST', path, { provider_id: kept.provider.id })).body.code).toBe('already_exists')
    expect((await w.acme.call('POST', path, { provider_id: 'prov_nobody' })).status).toBe(422)
    await w.settle()
    expect(double.zones.has('example.org.')).toBe(true)
    expect((await w.acme.call('GET', path)).body.data).toMatchObject([{ id: added.body.id, state: 'synced' }])
    expect((await listPublishedZones(w.hub.read)).map(one => one.name)).toEqual(['example.org.'])
    const provider = `/v1/dns/providers/${kept.provider.id}`
    expect((await w.acme.call('DELETE', provider)).status).toBe(409)
    expect((await w.rival.call('DELETE', `${path}/${added.body.id}`)).status).toBe(404)
    expect((await w.acme.call('DELETE', `${path}/${added.body.id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body).toMatchObject({ synced: true, sync: { targets: [] } })
    expect((await w.acme.call('DELETE', `/v1/dns/zones/${kept.zone.id}`)).status).toBe(204)
    expect((await w.acme.call('DELETE', provider)).status).toBe(204)
    expect(double.zones.has('example.org.')).toBe(true)
  })

  test('are read once after a NOTIFY', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.put('example.com.', 'www.example.com.', 'A', 300, ['192.0.2.1'])
    const requests = double.requests.length
    await Promise.all([1, 2, 3].map(() => queueTargetRead(w.hub, 'example.com.')))
    await queueTargetRead(w.hub, 'nobody.example')
    await w.settle()
    expect(double.requests.length - requests).toBeWithin(1, 3)
    expect((await kept.shown()).sync.state).toBe('unmanaged')
  })

  test('are claimed by one hub at a time, and freed after a hub died', async () => {
    const w = await world()
    const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { apply: 'manual' })
    await kept.put([kept.a('www', '192.0.2.1')])
    const [target] = (await kept.shown()).sync.targets
    const other = isPostgres ? await openHub(w.hub.config, w.clock, w.hub.log) : w.hub
    const before = double.requests.filter(one => one.startsWith('PATCH')).length
    const both = await Promise.all([w.hub, other].map(hub => syncTarget(hub, target.id, { applies: true })))
    expect(both.map(one => one.status).sort()).toEqual(['busy', 'read'])
    expect(double.requests.filter(one => one.startsWith('PATCH')).length - before).toBe(1)
    expect((await kept.shown()).synced).toBe(true)

    expect(await claimTarget(other, target.id)).toMatchObject({ target: { id: target.id } })
    expect((await syncTarget(w.hub, target.id, { applies: true })).status).toBe('busy')
    await w.advance(120_000)
    expect((await syncTarget(w.hub, target.id, { applies: true })).status).toBe('read')

    // A claim outlasts calls that wait for long.
    const until = async () => (await w.hub.read.select({ at: dnsZoneTargets.claimedUntil }).from(dnsZoneTargets))[0]!.at
    await kept.put([kept.a('www', '192.0.2.2')])
    let isHeld = true
    double.trouble = async request => {
      if (!request.startsWith('PATCH')) return null
      for (let n = 0; n < 4; n++) {
        const before = await until()
        w.clock.advance(40_000)
        for (let reads = 0; reads < 1000 && (await until()) === before; reads++);
        isHeld &&= (await claimTarget(other, target.id)) === null
      }
      return null
    }
    expect((await syncTarget(w.hub, target.id, { applies: true })).status).toBe('read')
    expect(isHeld).toBe(true)
    expect(await until()).toBe(0)
    double.trouble = () => null
    if (other !== w.hub) await other.store.close()
  })
})
