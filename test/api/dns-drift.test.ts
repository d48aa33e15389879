import { afterAll, describe, expect, test } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { hostedZone } from '../support/hosted-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'

const double = powerDnsDouble()
afterAll(() => double.stop())

/** A zone with `www` at a provider, with the given policies. */
async function started(more: object = {}) {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'], ...more })
  await kept.put([kept.a('www', '192.0.2.1'), kept.a('api', '192.0.2.2')])
  await w.audited()
  await w.emitted()
  const path = `/v1/dns/zones/${kept.zone.id}`
  return {
    w,
    kept,
    path,
    /** Makes an external change at the provider. */
    other: (name: string, values: string[] | null, ttl = 300) =>
      double.put('example.com.', `${name}.example.com.`, 'A', ttl, values),
    drift: async () => (await w.acme.call('GET', `${path}/drift`)).body.rrsets,
    events: async () => (await w.acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data,
  }
}

describe('external changes at a provider', () => {
  test('are reported once, and not overwritten', async () => {
    const { w, kept, other, drift, events } = await started()
    other('www', ['198.51.100.7'])
    other('api', null)
    other('new', ['198.51.100.8'])
    await kept.refresh()
    expect((await drift()).map((one: any) => [one.name, one.state, one.kind, one.desired?.values, one.observed?.values])).toEqual(
      [
        ['api', 'drifted', 'deleted', ['192.0.2.2'], undefined],
        ['new', 'unmanaged', 'added', undefined, ['198.51.100.8']],
        ['www', 'drifted', 'changed', ['192.0.2.1'], ['198.51.100.7']],
      ],
    )
    const [event] = await events()
    expect(event).toMatchObject({ kind: 'dns.records_changed', data: { origin: 'external', actor: null, change_count: 3 } })
    const records = await kept.records()
    const idOf = (name: string) => records.find(one => one.name === name)?.id ?? null
    expect(
      event.data.changes.map((one: any) => [one.name, one.action, one.record_id, one.before?.content, one.after?.content]),
    ).toEqual(
      expect.arrayContaining([
        ['www', 'updated', idOf('www'), '192.0.2.1', '198.51.100.7'],
        ['api', 'deleted', idOf('api'), '192.0.2.2', undefined],
        ['new', 'created', null, undefined, '198.51.100.8'],
      ]),
    )
    expect(await w.emitted()).toEqual(['dns.records_changed'])
    await kept.refresh()
    await w.advance(3_600_000)
    await kept.refresh()
    expect(await w.emitted()).toEqual([])
    expect(kept.there()).toContain('www.example.com. A 300 198.51.100.7')
    expect((await kept.records('?synced=false')).map(one => one.name).sort()).toEqual(['api', 'www'])
    expect(await kept.shown()).toMatchObject({ synced: false, sync: { state: 'drifted', targets: [{ out_of_sync_count: 3 }] } })
    const notices = (await w.acme.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => [one.kind, one.count])).toEqual([['dns_zone.drifted', 1]])
  })

  test('of something that was also changed here are a conflict, which neither side wins automatically', async () => {
    const { kept, other, drift, w, path } = await started({ drift_policy: 'enforce' })
    double.trouble = () => ({ status: 500 })
    await kept.put([kept.a('www', '192.0.2.9')])
    double.trouble = () => null
    other('www', ['198.51.100.7'])
    await kept.refresh()
    expect((await drift()).map((one: any) => [one.name, one.state])).toEqual([['www', 'conflict']])
    await kept.put([kept.a('api', '192.0.2.3')])
    expect(kept.there()).toContain('www.example.com. A 300 198.51.100.7')
    expect(kept.there()).toContain('api.example.com. A 300 192.0.2.3')
    // A plan with enforce decides it.
    const plan = (await w.acme.call('POST', `${path}/plan`, { enforce: [{ name: 'www', type: 'A' }] })).body
    expect(plan.targets[0].ops).toMatchObject([{ action: 'update', name: 'www', after: { values: ['192.0.2.9'] } }])
    await w.acme.call('POST', `${path}/apply`, { plan_id: plan.id, hash: plan.hash })
    await w.settle()
    expect(kept.there()).toContain('www.example.com. A 300 192.0.2.9')
    expect((await kept.shown()).synced).toBe(true)
  })

  test('are reverted exactly by a plan', async () => {
    const { kept, other, drift, w, path } = await started()
    const before = kept.there()
    other('www', ['198.51.100.7', '198.51.100.9'], 60)
    other('api', null)
    await kept.refresh()
    const plan = (await w.acme.call('POST', `${path}/plan`, { enforce: 'all' })).body
    const applied = await w.acme.call('POST', `${path}/apply`, { plan_id: plan.id, hash: plan.hash })
    await w.settle()
    expect((await w.acme.call('GET', applied.headers.get('location')!)).body.status).toBe('success')
    expect(kept.there()).toEqual(before)
    expect(await drift()).toEqual([])
  })

  test('that add records are listed as unmanaged, which keep their ids when adopted', async () => {
    const { kept, other, w, path } = await started()
    other('new', ['198.51.100.8', '198.51.100.9'])
    other('newer', ['198.51.100.10'])
    await kept.refresh()
    const found = await kept.records('?state=unmanaged')
    expect(found.map(one => [one.name, one.content, one.managed, one.synced, one.source, one.sync.state]).sort()).toEqual([
      ['new', '198.51.100.8', false, false, 'external', 'unmanaged'],
      ['new', '198.51.100.9', false, false, 'external', 'unmanaged'],
      ['newer', '198.51.100.10', false, false, 'external', 'unmanaged'],
    ])
    const listed = async (query: string, caller = w.acme) =>
      (await caller.call('GET', `/v1/dns/records?state=unmanaged${query}`)).body.data?.map((one: any) => one.content).sort()
    expect(await listed('&zone=example.com&name=new')).toEqual(['198.51.100.8', '198.51.100.9'])
    expect(await listed('&name=newe*&type=A')).toEqual(['198.51.100.10'])
    expect(await listed('&type=TXT')).toEqual([])
    expect(await listed('', w.rival)).toEqual([])
    expect((await w.acme.call('GET', '/v1/dns/records?state=unmanaged&tag=x')).status).toBe(400)
    expect((await kept.records()).some(one => one.name === 'new')).toBe(false)
    const one = found.find(one => one.name === 'newer')
    expect((await w.acme.call('GET', `/v1/dns/records/${one.id}`)).body).toEqual(one)
    expect((await w.rival.call('GET', `/v1/dns/records/${one.id}`)).status).toBe(404)
    expect((await w.acme.call('DELETE', `/v1/dns/records/${one.id}`)).status).toBe(404)
    await w.acme.call('POST', `${path}/adopt`, { rrsets: [{ name: 'newer', type: 'A' }] })
    await w.settle()
    expect((await w.acme.call('GET', `/v1/dns/records/${one.id}`)).body).toMatchObject({ managed: true, synced: true })
    other('new', null)
    await kept.refresh()
    expect(await kept.records('?state=unmanaged')).toEqual([])
  })

  test('are adopted on request, individually or all', async () => {
    const { kept, other, w, path, events } = await started()
    other('www', ['198.51.100.7'])
    other('new', ['198.51.100.8'])
    await kept.refresh()
    const www = { rrsets: [{ name: 'www', type: 'A' }] }
    expect((await w.acme.call('POST', `${path}/adopt`, { rrsets: [{ name: 'api', type: 'A' }] })).body.errors[0].pointer).toBe(
      '#/rrsets/0',
    )
    expect((await w.acme.call('POST', `${path}/adopt`, {})).status).toBe(422)
    expect((await w.acme.call('POST', `${path}/adopt`, www)).body).toMatchObject({ created: 1, deleted: 1 })
    await w.settle()
    expect((await kept.records('?name=www'))[0]).toMatchObject({ content: '198.51.100.7', synced: true })
    expect((await kept.shown()).synced).toBe(false)
    // The external change was reported when it was found; the adoption is a change by the caller.
    const [taken] = await events()
    expect(taken.data).toMatchObject({ origin: 'api', actor: { type: 'token' }, change_count: 2 })
    const [changeset] = (await w.acme.call('GET', `${path}/history`)).body.data
    expect([changeset.origin, changeset.actor?.id]).toEqual(['api', taken.data.actor.id])
    await w.acme.call('POST', `${path}/adopt`, { all: true })
    await w.settle()
    expect((await kept.shown()).synced).toBe(true)
    expect(kept.there()).toContain('new.example.com. A 300 198.51.100.8')
  })

  test('are reverted by the policy enforce, three times in ten minutes', async () => {
    const { kept, other, w } = await started({ drift_policy: 'enforce' })
    const again = async (n: number) => {
      other('www', [`198.51.100.${n}`])
      await kept.put([kept.a('api', `192.0.2.${n}`)])
      return kept.there().includes('www.example.com. A 300 192.0.2.1')
    }
    expect([await again(11), await again(12), await again(13), await again(14)]).toEqual([true, true, true, false])
    const notices = (await w.acme.call('GET', '/v1/notices')).body.data.map((one: any) => one.kind)
    expect(notices).toContain('dns_zone.edit_war')
    await w.advance(600_000)
    expect(await again(15)).toBe(true)
  })

  test('are adopted by the policy adopt', async () => {
    const { kept, other, w, events } = await started({ drift_policy: 'adopt' })
    other('www', ['198.51.100.7'])
    other('api', null)
    other('new', ['198.51.100.8'])
    await kept.refresh()
    expect(await kept.shown()).toMatchObject({ synced: true, record_count: 3 })
    expect((await kept.records('?name=new'))[0]).toMatchObject({ source: 'import', synced: true })
    expect(await w.emitted()).toEqual(['dns.records_changed'])
    expect((await events())[0].data).toMatchObject({ origin: 'external', actor: null, change_count: 4 })
  })

  test('are deleted if unmanaged records should be, with approval if limits are exceeded', async () => {
    const { kept, other, w, path } = await started({ unmanaged: 'delete' })
    other('new', ['198.51.100.8'])
    double.put('example.com.', '_acme-challenge.example.com.', 'TXT', 60, ['"proof"'])
    await kept.put([kept.a('api', '192.0.2.3')])
    expect(kept.there().some(one => one.startsWith('new.'))).toBe(false)
    expect(kept.there().some(one => one.startsWith('_acme-challenge.'))).toBe(true)
    expect((await kept.shown()).synced).toBe(true)
    await w.acme.call('PATCH', path, { ignore_rules: [] })
    await w.settle()
    expect(kept.there().some(one => one.startsWith('_acme-challenge.'))).toBe(false)
  })
})

test('at Cloudflare, proxied records are adopted, changed, reported and reverted', async () => {
  const cloudflare = await new CloudflareDouble().start()
  try {
    const there = cloudflare.zone('example.com')
    there.post({ type: 'A', name: 'www.example.com', content: '192.0.2.1', ttl: 1, proxied: true })
    there.post({ type: 'TXT', name: 'example.com', content: `"v=spf1 ${'ip4:192.0.2.1 '.repeat(25)}-all"`, ttl: 300 })
    const w = await world()
    const settings = { api_token: cloudflare.token, base_url: cloudflare.url }
    const provider = await w.acme.call('POST', '/v1/dns/providers', { kind: 'cloudflare', name: 'Cloudflare', settings })
    const { id } = (await w.acme.call('POST', '/v1/dns/zones', { name: 'example.com', provider_id: provider.body.id })).body
    const path = `/v1/dns/zones/${id}`
    const shown = async () => (await w.acme.call('GET', path)).body
    await w.settle()
    expect((await shown()).sync).toMatchObject({ state: 'unmanaged', targets: [{ error: null }] })
    expect((await w.acme.call('POST', `${path}/adopt`, { all: true })).body).toMatchObject({ created: 2 })
    await w.settle()
    expect((await shown()).synced).toBe(true)
    const [www] = (await w.acme.call('GET', `${path}/records?name=www`)).body.data
    expect(www).toMatchObject({ content: '192.0.2.1', options: { proxied: true }, synced: true })

    await w.acme.call('PATCH', `/v1/dns/records/${www.id}`, { ttl: 300, options: { proxied: false } })
    await w.settle()
    const row = () => there.rows.find(one => one.type === 'A')! as any
    expect([row().proxied, row().ttl, (await shown()).synced]).toEqual([false, 300, true])

    there.patch(row().id, { proxied: true, ttl: 1 })
    await w.acme.call('POST', `${path}/refresh`, {})
    await w.settle()
    expect((await w.acme.call('GET', `${path}/drift`)).body.rrsets).toMatchObject([
      {
        name: 'www',
        state: 'drifted',
        kind: 'changed',
        desired: { ttl: 300, options: { proxied: false } },
        observed: { ttl: 1, options: { proxied: true } },
      },
    ])
    const plan = (await w.acme.call('POST', `${path}/plan`, { enforce: 'all' })).body
    await w.acme.call('POST', `${path}/apply`, { plan_id: plan.id, hash: plan.hash })
    await w.settle()
    expect([row().proxied, row().ttl, (await shown()).synced]).toEqual([false, 300, true])
  } finally {
    cloudflare.stop()
  }
})
