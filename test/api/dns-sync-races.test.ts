import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { powerDns } from '../../src/features/dns/providers/power-dns'
import { syncTarget } from '../../src/features/dns/sync/sync-target'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { dnsPlans } from '../../src/features/dns/plans/tables'
import { cpuTime } from '../support/cpu-time'
import { hostedZone } from '../support/hosted-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { world } from '../support/world'

const double = powerDnsDouble()
afterAll(() => double.stop())

const minute = 60_000
const isPatch = (request: string) => request.startsWith('PATCH')

/** A zone of ten rrsets in sync at a provider. */
async function ten(more: object = {}) {
  const w = await world()
  const kept = await hostedZone(w, double, undefined, { nameservers: ['ns1.example.net'], ...more })
  await kept.put(Array.from({ length: 9 }, (_, n) => kept.a(`h${n}`, `192.0.2.${n + 1}`)))
  expect(kept.there()).toHaveLength(10)
  const path = `/v1/dns/zones/${kept.zone.id}`
  /** Runs something while the next change is being applied. */
  const during = (what: () => Promise<unknown>) => {
    let done = false
    double.trouble = async request => {
      if (!isPatch(request) || done) return null
      done = true
      await what()
      return null
    }
  }
  const edit = async (...rrsets: object[]) => {
    const { status, text } = await w.acme.call('PUT', `${path}/rrsets`, { rrsets })
    if (status !== 200) throw new Error(text)
  }
  const gone = (name: string) => ({ name, type: 'A', records: [] })
  const later = async () => {
    await w.advance(6 * minute)
    await readDueTargets(w.hub)
    await w.settle()
  }
  await w.emitted()
  return { w, kept, path, during, edit, gone, later }
}

describe('a zone that changes during a sync', () => {
  test('ends up with its final state', async () => {
    const { w, kept, during, edit, gone } = await ten()
    during(() => edit(kept.a('h0', '198.51.100.2'), gone('new'), kept.a('h1', '198.51.100.3')))
    await kept.put([kept.a('h0', '198.51.100.1'), kept.a('new', '198.51.100.9'), gone('h1')])
    // The sync requested meanwhile waits for the running one.
    await w.advance(1_000)
    await w.settle()
    expect(kept.there()).toContain('h0.example.com. A 300 198.51.100.2')
    expect(kept.there()).toContain('h1.example.com. A 300 198.51.100.3')
    expect(kept.there().some(one => one.startsWith('new.'))).toBe(false)
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced' } })
  })

  test('does so too if the response, and everything after it, is lost', async () => {
    const { w, kept, edit, gone, later } = await ten()
    let isLost = false
    double.trouble = request => {
      if (isPatch(request)) {
        isLost = true
        return null
      }
      return isLost ? { status: 500 } : null
    }
    await kept.put([kept.a('h0', '198.51.100.1'), kept.a('new', '198.51.100.9'), gone('h1')])
    expect(kept.there()).toContain('h0.example.com. A 300 198.51.100.1')
    await edit(kept.a('h0', '198.51.100.2'), gone('new'), kept.a('h1', '198.51.100.3'))
    double.trouble = () => null
    await w.settle()
    await later()
    expect(kept.there()).toContain('h0.example.com. A 300 198.51.100.2')
    expect(kept.there()).toContain('h1.example.com. A 300 198.51.100.3')
    expect(kept.there().some(one => one.startsWith('new.'))).toBe(false)
    expect(await kept.shown()).toMatchObject({ synced: true, sync: { state: 'synced' } })
  })

  test('is no longer changed once it is paused, or switched to manual', async () => {
    for (const patch of [{ status: 'paused' }, { apply: 'manual' }]) {
      const { w, kept, path } = await ten()
      const before = kept.there()
      let done = false
      double.trouble = async request => {
        if (!request.startsWith('GET /zones/') || done) return null
        done = true
        expect((await w.acme.call('PATCH', path, patch)).status).toBe(200)
        return null
      }
      await kept.put([kept.a('h0', '198.51.100.1')])
      expect(done).toBe(true)
      expect(kept.there()).toEqual(before)
    }
  })

  test('is changed only by the plan that was allowed', async () => {
    const { w, kept, path, edit, gone } = await ten()
    await w.acme.call('PATCH', path, { apply: 'manual' })
    await w.settle()
    await edit(...[0, 1, 2, 3].map(n => gone(`h${n}`)))
    const plan = (await w.acme.call('POST', `${path}/plan`, {})).body
    expect(plan.blocked.map((one: any) => one.code)).toEqual(['deletes_over_limit'])
    const body = { plan_id: plan.id, hash: plan.hash, allow: ['deletes_over_limit'], note: 'They moved.' }
    const applied = await w.acme.call('POST', `${path}/apply`, body)
    await edit(...[4, 5, 6, 7].map(n => gone(`h${n}`)))
    await w.settle()
    expect(kept.there()).toHaveLength(10)
    expect((await w.acme.call('GET', applied.headers.get('location')!)).body).toMatchObject({ error: { code: 'plan_stale' } })
  })
})

test('a plan whose run was interrupted after everything was applied is not stale', async () => {
  const { w, kept, path, edit } = await ten()
  await w.acme.call('PATCH', path, { apply: 'manual' })
  await w.settle()
  await edit(kept.a('h0', '198.51.100.1'))
  const plan = (await w.acme.call('POST', `${path}/plan`, {})).body
  await w.acme.call('POST', `${path}/apply`, { plan_id: plan.id, hash: plan.hash })
  await w.settle()
  const [row] = await w.hub.read.select().from(dnsPlans).where(eq(dnsPlans.id, plan.id))
  const [expects] = row!.targets
  const order = { applies: true, reads: true, expects: expects! }
  expect(await syncTarget(w.hub, expects!.target_id!, order)).toMatchObject({ status: 'read', isStale: false })
  double.put('example.com.', 'h0.example.com.', 'A', 300, ['203.0.113.1'])
  expect(await syncTarget(w.hub, expects!.target_id!, order)).toMatchObject({ status: 'read', isStale: true })
})

describe('external changes during a sync', () => {
  test('are reported, and not overwritten', async () => {
    const { w, kept } = await ten()
    let reads = 0
    double.trouble = request => {
      // Between the read and the check right before the change.
      if (request.startsWith('GET /zones/') && ++reads === 2)
        double.put('example.com.', 'h0.example.com.', 'A', 300, ['203.0.113.1'])
      return null
    }
    await kept.put([kept.a('h0', '198.51.100.1'), kept.a('h1', '198.51.100.2')])
    expect(kept.there()).toContain('h0.example.com. A 300 203.0.113.1')
    expect((await kept.records('?state=conflict')).map(one => one.name)).toEqual(['h0'])
    const [event] = (await w.acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data
    expect(event.data).toMatchObject({ origin: 'external', changes: [{ name: 'h0', after: { content: '203.0.113.1' } }] })
    // The retry follows soon.
    await w.advance(30_000)
    await readDueTargets(w.hub)
    await w.settle()
    expect(kept.there()).toContain('h1.example.com. A 300 198.51.100.2')
  })
})

describe('a read after a change', () => {
  test('with half of the zone is rejected too', async () => {
    const { w, kept } = await ten()
    let patched = false
    double.trouble = request => {
      if (isPatch(request)) patched = true
      else if (patched) for (let n = 1; n < 7; n++) double.put('example.com.', `h${n}.example.com.`, 'A', 300, null)
      return null
    }
    await kept.put([kept.a('h0', '198.51.100.1')])
    expect((await w.emitted()).length).toBe(1)
    expect(await kept.records('?state=drifted')).toEqual([])
    expect((await kept.shown()).sync.targets[0].error.code).toBe('incomplete')
    expect(await w.audited()).toContain('dns.zone.sync')
    double.trouble = () => null
    for (let n = 1; n < 7; n++) double.put('example.com.', `h${n}.example.com.`, 'A', 300, [`192.0.2.${n + 1}`])
    await kept.refresh()
    expect(await kept.shown()).toMatchObject({ synced: true })
  })
})

describe('a change refused by the provider', () => {
  test('does not block other changes', async () => {
    const { kept, later, gone } = await ten()
    const bad = new Set(['h0.example.com.', 'h5.example.com.'])
    double.rejects = rrset => (bad.has(rrset.name) ? `RRset ${rrset.name} IN ${rrset.type}: no such luck` : null)
    await kept.put([kept.a('h0', '198.51.100.1'), kept.a('h5', '198.51.100.5'), kept.a('h1', '198.51.100.2'), gone('h2')])
    expect(kept.there()).toContain('h1.example.com. A 300 198.51.100.2')
    expect(kept.there().some(one => one.startsWith('h2.'))).toBe(false)
    expect((await kept.records('?state=error')).map(one => one.name).sort()).toEqual(['h0', 'h5'])
    await kept.put([kept.a('h3', '198.51.100.3')])
    expect(kept.there()).toContain('h3.example.com. A 300 198.51.100.3')
    double.rejects = () => null
    await later()
    expect(await kept.shown()).toMatchObject({ synced: true })
  })
})

describe('a provider that limits requests', () => {
  test('is not contacted until the delay is over, whatever changes', async () => {
    const { w, kept, later } = await ten()
    double.trouble = () => ({ status: 429, headers: { 'retry-after': '900' } })
    await kept.put([kept.a('h0', '198.51.100.1')])
    double.trouble = () => null
    const requests = double.requests.length
    await kept.put([kept.a('h0', '198.51.100.2')])
    await later()
    expect(double.requests.length).toBe(requests)
    await w.advance(10 * minute)
    await later()
    expect(kept.there()).toContain('h0.example.com. A 300 198.51.100.2')
  })
})

describe('ignore rules', () => {
  test('are matched in linear time', async () => {
    const { w, kept, path } = await ten()
    const name = `${'*a'.repeat(100)}*b`
    expect((await w.acme.call('PATCH', path, { ignore_rules: [{ name }] })).status).toBe(200)
    const long = Array.from({ length: 3 }, () => 'a'.repeat(60)).join('.')
    double.put('example.com.', `${long}.example.com.`, 'A', 300, ['192.0.2.1'])
    const before = cpuTime()
    await kept.refresh()
    expect(cpuTime() - before).toBeLessThan(10_000)
  })
})

describe('a zone that deletes unmanaged records', () => {
  test('stops deleting records that are added again and again', async () => {
    const { w, kept } = await ten({ unmanaged: 'delete' })
    const runs = async () => {
      let removed = 0
      for (let n = 0; n < 5; n++) {
        double.put('example.com.', 'other.example.com.', 'A', 300, ['192.0.2.1'])
        await w.advance(60_000)
        await kept.put([kept.a('h0', `198.51.100.${n}`)])
        if (!kept.there().some(one => one.startsWith('other.'))) removed++
      }
      return removed
    }
    expect(await runs()).toBe(3)
    const notices = (await w.acme.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => one.kind)).toContain('dns_zone.edit_war')
    await w.advance(10 * minute)
    await kept.put([kept.a('h0', '203.0.113.1')])
    expect(kept.there().some(one => one.startsWith('other.'))).toBe(false)
  })
})

describe('addresses in place of an ALIAS', () => {
  const { alias } = powerDns.caps
  beforeAll(() => void (powerDns.caps.alias = 'expand'))
  afterAll(() => void (powerDns.caps.alias = alias))

  test('are not adopted in its place', async () => {
    const { w, kept, path } = await ten()
    await kept.put([{ name: 'www', type: 'ALIAS', ttl: 300, records: [{ content: 'h1.example.com.' }] }])
    await w.advance(1_000)
    await w.settle()
    expect(kept.there()).toContain('www.example.com. A 300 192.0.2.2')
    double.put('example.com.', 'www.example.com.', 'AAAA', 300, ['2001:db8::1'])
    double.put('example.com.', 'more.example.com.', 'A', 300, ['203.0.113.1'])
    await kept.refresh()
    const adopted = await w.acme.call('POST', `${path}/adopt`, { all: true })
    expect(adopted.body).toMatchObject({ created: 1, updated: 0, deleted: 0 })
    await w.settle()
    expect((await kept.records('?name=www')).map(one => one.type)).toEqual(['ALIAS'])
    expect(kept.there()).toContain('www.example.com. A 300 192.0.2.2')
    const named = await w.acme.call('POST', `${path}/adopt`, { rrsets: [{ name: 'www', type: 'AAAA' }] })
    expect(named.body.errors[0].pointer).toBe('#/rrsets/0')
  })
})
