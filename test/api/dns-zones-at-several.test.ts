import { afterAll, expect, test } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { cloudflareUnderTest } from '../support/cloudflare-under-test'
import { hubAt, type HubUnderTest, type HubZone } from '../support/hub-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'
import { listed, shown } from '../support/provider-contract'
import { world } from '../support/world'
import { zoneScenarios, type StateRrset, type ZoneState } from '../support/zone-states'

const powerDns = powerDnsDouble()
const cloudflare = await new CloudflareDouble().start()
afterAll(() => {
  powerDns.stop()
  cloudflare.stop()
})

const [first, second] = [powerDnsDoubleUnderTest(powerDns), cloudflareUnderTest(cloudflare)]

/** Zones synced to both providers. */
async function setUp() {
  const w = await world()
  const createZone = await hubAt(first, w)
  const { kind, settings } = second
  const other = await w.acme.call('POST', '/v1/dns/providers', { kind, name: 'second', settings })
  return {
    w,
    async createZone(): Promise<HubZone> {
      const zone = await createZone()
      cloudflare.zone(zone.name, 'pro')
      expect((await w.acme.call('POST', `${zone.path}/targets`, { provider_id: other.body.id })).status).toBe(201)
      await w.settle()
      return zone
    },
    plan: async (blocked: any) => (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body,
  }
}

// Skips types that one of them doesn’t support, and TTLs that one of them raises.
const scenarios = zoneScenarios(type => !['ALIAS', 'TYPE65280', 'NS'].includes(type) && !second.caps.unsupported.has(type))
const removed = ([name, type, ttl]: StateRrset): StateRrset => [name, type, ttl]
const edits = (before: readonly StateRrset[], { rrsets }: ZoneState) => [
  ...before.filter(([name, type]) => !rrsets.some(one => one[0] === name && one[1] === type)).map(removed),
  ...rrsets,
]
const at = async (under: HubUnderTest, zone: HubZone) =>
  listed(
    (await under.look(zone.name))
      .filter(one => one.type !== 'NS' || one.name !== '@')
      .map(one => ({ ...shown(one, true), ttl: Math.max(60, one.ttl) })),
  )

test('a zone at two providers is identical at both in every state, and blocked plans apply to both', async () => {
  const { createZone, plan, w } = await setUp()
  for (const [scenario, states] of Object.entries(scenarios)) {
    const zone = await createZone()
    let before: StateRrset[] = []
    for (const state of states) {
      await zone.put(...edits(before, state))
      const { blocked } = await zone.shown()
      if (blocked) {
        const blockedPlan = await plan(blocked)
        const allow = blockedPlan.blocked.map((one: any) => one.code)
        expect([scenario, await zone.apply(blockedPlan, { allow, note: 'So be it.' })]).toMatchObject([
          scenario,
          { status: 'success' },
        ])
      }
      await zone.expectAt(state.rrsets)
      expect(await at(second, zone)).toEqual(await at(first, zone))
      before = state.rrsets
    }
  }
  await w.settle()
}, 180_000)

test('changes blocked at two providers are one plan; a target that falls below the limit is dropped from it', async () => {
  const { createZone, plan, w } = await setUp()
  const zone = await createZone()
  const hosts = Array.from({ length: 12 }, (_, n): StateRrset => [`h${n}`, 'A', 300, `192.0.2.${n}`])
  await zone.put(...hosts)
  await zone.put(...hosts.slice(0, 5).map(removed))
  const blockedPlan = await plan((await zone.shown()).blocked)
  expect(blockedPlan.targets.map((one: any) => one.op_count)).toEqual([5, 5])
  expect(blockedPlan.blocked).toHaveLength(1)
  // The plan stays the same while nothing changes.
  await zone.refresh()
  await w.advance(60_000)
  expect((await zone.shown()).blocked.plan_id).toBe(blockedPlan.id)
  // Three of the five records are deleted at one provider, so the remaining change is small there.
  for (const [name, type, ttl] of hosts.slice(0, 3)) await first.changeExternally(zone.name, name, type, ttl, null)
  await zone.put(['other', 'A', 300, '192.0.2.99'])
  const remainingPlan = await plan((await zone.shown()).blocked)
  expect(remainingPlan.targets.map((one: any) => one.op_count)).toEqual([6])
  expect(await at(first, zone)).toHaveLength(8)
  expect(await zone.apply(remainingPlan, { allow: ['deletes_over_limit'], note: 'All of them.' })).toMatchObject({
    status: 'success',
  })
  await zone.expectAt([...hosts.slice(5), ['other', 'A', 300, '192.0.2.99']])
  expect(await at(second, zone)).toEqual(await at(first, zone))
}, 180_000)
