import { afterAll, describe, expect, test } from 'bun:test'
import { isPostgres } from '../../src/core/db/dialect'
import { claimTarget } from '../../src/features/dns/sync/claim-target'
import { syncTarget } from '../../src/features/dns/sync/sync-target'
import { openHub } from '../../src/hub/run'
import { readDueTargets, readTargetsSoon } from '../../src/features/dns/sync/sync-zone'
import { listPublishedZones } from '../../src/features/dns/publish'
import { keptZone } from '../support/kept-zones'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'
import { zoneMade } from '../support/zones'

const double = powerDnsDouble()
afterAll(() => double.stop())

const minute = 60_000

describe('a zone at a provider', () => {
  test('is made there, and what is written here is brought there', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    expect(kept.zone).toMatchObject({ provider_id: kept.provider.id, synced: false, sync: { state: 'pending' } })
    expect(kept.there()).toEqual(['example.com. NS 86400 ns1.example.net.'])
    expect(await kept.shown()).toMatchObject({
      synced: true,
      sync: { state: 'synced', targets: [{ error: null, stale: false }] },
    })
    await w.audited()
    const made = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/records`, {
      type: 'A',
      name: 'www',
      content: '192.0.2.1',
    })
    expect(made.body).toMatchObject({ synced: false, sync: { state: 'pending' } })
    await w.settle()
    const read = (await w.acme.call('GET', `/v1/dns/records/${made.body.id}`)).body
    expect(read).toMatchObject({
      synced: true,
      sync: {
        state: 'synced',
        targets: [{ provider_id: kept.provider.id, state: 'synced', observed: { ttl: 3600, values: ['192.0.2.1'] } }],
      },
    })
    expect(kept.there()).toContain('www.example.com. A 3600 192.0.2.1')
    expect(await w.audited()).toEqual(['dns.record.create', 'dns.zone.sync'])
    expect(await w.happened()).toContain('dns.records_changed')
    await kept.put([{ name: 'www', type: 'A', records: [] }])
    expect(kept.there()).not.toContain('www.example.com. A 3600 192.0.2.1')
    expect((await kept.shown()).synced).toBe(true)
  })

  test('is made there without NS where none are asked for, and gets them later', async () => {
    const w = await world()
    const kept = await keptZone(w, double)
    expect(await kept.shown()).toMatchObject({ synced: true, nameservers: [], sync: { targets: [{ error: null }] } })
    await kept.put([{ name: '@', type: 'NS', ttl: 3600, records: [{ content: 'ns1.example.net.' }] }, kept.a('www', '192.0.2.1')])
    expect(kept.there()).toEqual(['example.com. NS 3600 ns1.example.net.', 'www.example.com. A 300 192.0.2.1'])
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null, nameservers: ['ns1.example.net'] })
  })

  test('is not served by the hub, unless it is asked to', async () => {
    const w = await world()
    const kept = await keptZone(w, double)
    const here = await zoneMade(w.acme, 'example.org')
    const served = async () => (await listPublishedZones(w.hub.read)).map(one => one.name).sort()
    expect([kept.zone.served, here.served, await served()]).toEqual([false, true, ['example.org.']])
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { served: true })
    expect(await served()).toEqual(['example.com.', 'example.org.'])
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { served: false })
    expect(await served()).toEqual(['example.org.'])
    const refused = await w.acme.call('PATCH', `/v1/dns/zones/${here.id}`, { served: false })
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([422, '#/served'])
  })

  test('that is there already is left as it is, and can be taken over', async () => {
    const w = await world()
    const kept = await keptZone(w, double, [
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
    // What is new here goes there all the same; nothing of what is there is touched.
    await kept.put([kept.a('api', '192.0.2.2')])
    expect(kept.there()).toEqual([...before, 'api.example.com. A 300 192.0.2.2'].sort())
    const adopted = await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/adopt`, { all: true })
    expect(adopted.body).toMatchObject({ created: 2, updated: 0, deleted: 0 })
    await w.settle()
    expect(await kept.shown()).toMatchObject({ synced: true, record_count: 3, nameservers: ['ns1.example.net'] })
    expect(kept.there()).toEqual([...before, 'api.example.com. A 300 192.0.2.2'].sort())
    expect((await kept.records('?name=www'))[0]).toMatchObject({ source: 'import', synced: true })
  })

  test('whose other rrsets are to go is held back at first', async () => {
    const w = await world()
    const kept = await keptZone(w, double, [['www.example.com.', 'A', '192.0.2.1']], { unmanaged: 'delete' })
    const { blocked } = await kept.shown()
    expect(blocked.reasons.map((one: any) => one.code)).toContain('first_sync')
    expect(kept.there()).toHaveLength(2)
  })

  test('that is gone there is not made again', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.zones.clear()
    await kept.put([kept.a('www', '192.0.2.1')])
    expect((await kept.shown()).sync.targets[0].error.code).toBe('zone_not_found')
    expect(double.zones.size).toBe(0)
  })

  test('is found among others by how it stands, by its provider and by its name', async () => {
    const w = await world()
    const kept = await keptZone(w, double, [['www.example.com.', 'A', '192.0.2.1']], { unmanaged: 'delete' })
    await zoneMade(w.acme, 'example.org')
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

  test('with manual plans is changed by them alone', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
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
    // The hub is no provider of a zone that it does not serve.
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

describe('what is brought to a provider', () => {
  /** A zone of ten rrsets, all of them there. */
  async function ten() {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
    expect(kept.there()).toHaveLength(10)
    return { w, kept }
  }
  const removed = (count: number) => Array.from({ length: count }, (_, n) => ({ name: `h${n}`, type: 'A', records: [] }))

  test('is held back where it is too much, until that is let through', async () => {
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

  test('is not held back where it is little, and no more once less is asked for', async () => {
    const { kept } = await ten()
    await kept.put(removed(3))
    expect(kept.there()).toHaveLength(7)
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
    await kept.put([kept.a('*', '192.0.2.99')])
    expect((await kept.shown()).blocked.reasons.map((one: any) => one.code)).toEqual(['new_wildcard'])
    await kept.put([{ name: '*', type: 'A', records: [] }])
    expect(await kept.shown()).toMatchObject({ synced: true, blocked: null })
  })

  test('by a plan is stale when somebody was faster', async () => {
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

  test('and is refused there stays in error, with what was said, until it goes', async () => {
    const { w, kept } = await ten()
    double.trouble = request => (request.startsWith('PATCH') ? { status: 422, body: '{"error": "no such luck"}' } : null)
    await kept.put([kept.a('new', '192.0.2.77')])
    const [record] = await kept.records('?state=error')
    expect(record).toMatchObject({ name: 'new', synced: false, sync: { state: 'error' } })
    expect(record.sync.targets[0].detail).toContain('no such luck')
    expect((await kept.records('?synced=false')).map(one => one.name)).toEqual(['new'])
    expect(await w.audited()).toContain('dns.zone.sync failure')
    await w.pass(5 * minute)
    await readDueTargets(w.hub)
    await w.settle()
    expect(await w.audited()).toEqual([])
    expect((await kept.records('?state=error')).length).toBe(1)
    double.trouble = () => null
    await w.pass(5 * minute)
    await readDueTargets(w.hub)
    await w.settle()
    expect(kept.there()).toContain('new.example.com. A 300 192.0.2.77')
    expect(await kept.records('?synced=false')).toEqual([])
  })

  test('and has no answer is read again', async () => {
    const { kept } = await ten()
    let patches = 0
    double.trouble = request => (request.startsWith('PATCH') && patches++ === 0 ? 'cut connection' : null)
    await kept.put([kept.a('new', '192.0.2.77')])
    expect(['error', 'pending']).toContain((await kept.shown()).sync.state)
    double.trouble = () => null
    expect((await kept.refresh()).status).toBe('success')
  })
})

describe('a provider that cannot be read', () => {
  test('keeps the last state, is asked later and later, and is stale after a while', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.trouble = () => ({ status: 503, headers: { 'retry-after': '1' } })
    expect((await kept.refresh()).error.code).toBe('provider_failed')
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced', targets: [{ stale: false }] } })
    const asked = double.asked.length
    await readDueTargets(w.hub)
    await w.settle()
    expect(double.asked.length).toBe(asked)
    for (let n = 0; n < 12; n++) {
      await w.pass(10 * minute)
      await readDueTargets(w.hub)
      await w.settle()
    }
    // By then 24 times, were it asked each five minutes.
    expect(double.asked.length - asked).toBeWithin(3, 20)
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced', targets: [{ stale: true }] } })
    double.trouble = () => null
    await kept.refresh()
    expect((await kept.shown()).sync.targets[0]).toMatchObject({ stale: false, error: null })
  })

  test('but answers that the zone is gone, or that it refuses, is in error until it is read again', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
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
      // No answer at all tells nothing better.
      double.trouble = () => ({ status: 429 })
      await kept.refresh()
      expect(await states()).toEqual([false, 'error', false, 'throttled'])
      double.trouble = () => null
      double.zones.set('example.com.', zone)
      await w.pass(60 * minute)
      await readDueTargets(w.hub)
      await w.settle()
      expect(await states()).toEqual([true, 'synced', false, null])
    }
  })

  test('or answers with half or nothing of the zone is not believed', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
    await w.happened()
    for (let n = 0; n < 6; n++) double.put('example.com.', `h${n}.example.com.`, 'A', 300, null)
    const refused = await kept.refresh()
    expect(refused.error).toMatchObject({ code: 'provider_failed' })
    expect(refused.error.detail).toContain('less than half')
    expect(await kept.shown()).toMatchObject({
      synced: false,
      sync: { state: 'error', targets: [{ state: 'error', stale: false, error: { code: 'incomplete' } }] },
    })
    expect((await kept.records('?synced=true')).length).toBe(10)
    double.put('example.com.', 'example.com.', 'NS', 300, null)
    expect((await kept.refresh()).error.detail).toContain('no NS')
    expect(await w.happened()).toEqual([])
    double.put('example.com.', 'example.com.', 'NS', 86_400, ['ns1.example.net.'])
    expect((await w.acme.call('POST', `/v1/dns/zones/${kept.zone.id}/refresh`, { believe: true })).status).toBe(422)
    expect((await kept.refresh({ believe: true, note: 'It was me.' })).status).toBe('success')
    expect(await w.happened()).toEqual(['dns.records_changed'])
    expect((await kept.records('?state=drifted')).length).toBe(6)
  })
})

describe('targets', () => {
  test('keep a zone that the hub serves at a provider too, and let it go again', async () => {
    const w = await world()
    const kept = await keptZone(w, double)
    const zone = await zoneMade(w.acme, 'example.org', { nameservers: ['ns1.example.net'] })
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

  test('are read when somebody says that something has changed, once', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    double.put('example.com.', 'www.example.com.', 'A', 300, ['192.0.2.1'])
    const asked = double.asked.length
    await Promise.all([1, 2, 3].map(() => readTargetsSoon(w.hub, 'example.com.')))
    await readTargetsSoon(w.hub, 'nobody.example')
    await w.settle()
    expect(double.asked.length - asked).toBeWithin(1, 3)
    expect((await kept.shown()).sync.state).toBe('unmanaged')
  })

  test('are worked on by one hub at a time, and a hub that died does not keep them', async () => {
    const w = await world()
    const kept = await keptZone(w, double, undefined, { nameservers: ['ns1.example.net'] })
    await w.acme.call('PATCH', `/v1/dns/zones/${kept.zone.id}`, { apply: 'manual' })
    await kept.put([kept.a('www', '192.0.2.1')])
    const [target] = (await kept.shown()).sync.targets
    const other = isPostgres ? await openHub(w.hub.config, w.clock, w.hub.log) : w.hub
    const before = double.asked.filter(one => one.startsWith('PATCH')).length
    const both = await Promise.all([w.hub, other].map(hub => syncTarget(hub, target.id, { applies: true })))
    expect(both.map(one => one.did).sort()).toEqual(['busy', 'read'])
    expect(double.asked.filter(one => one.startsWith('PATCH')).length - before).toBe(1)
    expect((await kept.shown()).synced).toBe(true)

    expect(await claimTarget(other, target.id)).toMatchObject({ target: { id: target.id } })
    expect((await syncTarget(w.hub, target.id, { applies: true })).did).toBe('busy')
    await w.pass(120_000)
    expect((await syncTarget(w.hub, target.id, { applies: true })).did).toBe('read')
    if (other !== w.hub) await other.store.close()
  })
})
