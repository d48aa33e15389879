import { afterAll, expect, test } from 'bun:test'
import { CloudflareDouble } from '../support/cloudflare'
import { cloudflareUnderTest } from '../support/cloudflare-under-test'
import { hubAt, type HubUnderTest, type HubZone } from '../support/hub-zone'
import { powerDnsDouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'
import { listed, shown } from '../support/provider-contract'
import { world } from '../support/world'
import { waysOfZones, type StateRrset, type ZoneState } from '../support/zone-states'

const powerDns = powerDnsDouble()
const cloudflare = await new CloudflareDouble().start()
afterAll(() => {
  powerDns.stop()
  cloudflare.stop()
})

const [first, second] = [powerDnsDoubleUnderTest(powerDns), cloudflareUnderTest(cloudflare)]

/** Zones that are kept at both. */
async function begun() {
  const w = await world()
  const zoneMade = await hubAt(first, w)
  const { kind, settings } = second
  const other = await w.acme.call('POST', '/v1/dns/providers', { kind, name: 'second', settings })
  return {
    w,
    async zoneMade(): Promise<HubZone> {
      const zone = await zoneMade()
      cloudflare.zone(zone.name, 'pro')
      expect((await w.acme.call('POST', `${zone.path}/targets`, { provider_id: other.body.id })).status).toBe(201)
      await w.settle()
      return zone
    },
    plan: async (blocked: any) => (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body,
  }
}

// What one of them does not take is left out, as is a TTL that one of them makes longer.
const ways = waysOfZones(type => !['ALIAS', 'TYPE65280', 'NS'].includes(type) && !second.caps.unsupported.has(type))
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

test('a zone at two providers is the same at both, state by state, and what is held back is let through at both', async () => {
  const { zoneMade, plan, w } = await begun()
  for (const [way, states] of Object.entries(ways)) {
    const zone = await zoneMade()
    let before: StateRrset[] = []
    for (const state of states) {
      await zone.put(...edits(before, state))
      const { blocked } = await zone.shown()
      if (blocked) {
        const held = await plan(blocked)
        const allow = held.blocked.map((one: any) => one.code)
        expect([way, await zone.apply(held, { allow, note: 'So be it.' })]).toMatchObject([way, { status: 'success' }])
      }
      await zone.expectAt(state.rrsets)
      expect(await at(second, zone)).toEqual(await at(first, zone))
      before = state.rrsets
    }
  }
  await w.settle()
}, 120_000)

test('what is held back at two providers is one plan, of which the part of one that comes within bounds goes', async () => {
  const { zoneMade, plan, w } = await begun()
  const zone = await zoneMade()
  const hosts = Array.from({ length: 12 }, (_, n): StateRrset => [`h${n}`, 'A', 300, `192.0.2.${n}`])
  await zone.put(...hosts)
  await zone.put(...hosts.slice(0, 5).map(removed))
  const held = await plan((await zone.shown()).blocked)
  expect(held.targets.map((one: any) => one.op_count)).toEqual([5, 5])
  expect(held.blocked).toHaveLength(1)
  // The same plan stays while all is as it was.
  await zone.refresh()
  await w.pass(60_000)
  expect((await zone.shown()).blocked.plan_id).toBe(held.id)
  // Somebody removes three of the five at one of them: what is left is little there.
  for (const [name, type, ttl] of hosts.slice(0, 3)) await first.meddle(zone.name, name, type, ttl, null)
  await zone.put(['other', 'A', 300, '192.0.2.99'])
  const left = await plan((await zone.shown()).blocked)
  expect(left.targets.map((one: any) => one.op_count)).toEqual([6])
  expect(await at(first, zone)).toHaveLength(8)
  expect(await zone.apply(left, { allow: ['deletes_over_limit'], note: 'All of them.' })).toMatchObject({ status: 'success' })
  await zone.expectAt([...hosts.slice(5), ['other', 'A', 300, '192.0.2.99']])
  expect(await at(second, zone)).toEqual(await at(first, zone))
}, 120_000)
