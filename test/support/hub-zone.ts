import { expect } from 'bun:test'
import { rdataOfText, rdataOfTxt } from '../../src/dns/rdata'
import { providerKindOf } from '../../src/features/dns/providers'
import type { Caps, ProviderRrset } from '../../src/features/dns/providers/provider'
import { effectiveTtl } from '../../src/features/dns/sync/fingerprint'
import { originOf, recordNameOf, rrsetKey } from '../../src/features/dns/zones/names'
import { listed, shown, type ServerUnderTest, type Trouble } from './provider-contract'
import type { World } from './world'
import { createZone } from './zones'
import type { StateRrset } from './zone-states'

/** A server that the hub syncs zones to. */
export interface HubUnderTest extends ServerUnderTest {
  /** Provider kind and settings. */
  kind: string
  settings: object
  caps: Caps
  /** Whether it rejects signatures with a different clock. */
  checksTime?: boolean
  /** Set if the server is the built-in name server. */
  world?: World
}

/** A server that can simulate failures. */
export interface TroubledUnderTest extends HubUnderTest {
  trouble: HubTrouble
}

/** Simulated failures, until `calm`. */
export interface HubTrouble extends Trouble {
  /** Returns only this many rrsets, the apex NS first, as if the response were complete. */
  lose(kept: number, from: 'now' | 'the next write'): unknown
  /** Makes an external change once after the next read, just before the hub writes. */
  interrupt(changeExternally: () => Promise<void>): unknown
}

/** A zone of the hub and its state at the server. */
export interface HubZone {
  name: string
  path: string
  /** Gets the zone over the API. */
  shown(): Promise<any>
  /** Replaces rrsets and waits for the resulting jobs. */
  put(...rrsets: StateRrset[]): Promise<any>
  plan(body?: object): Promise<any>
  /** Applies a plan and returns the finished action. */
  apply(plan: any, more?: object): Promise<any>
  refresh(body?: object): Promise<any>
  drift(): Promise<any[]>
  /** Records at the server as lines, with TTL and all octets. */
  atServer(): Promise<string[]>
  /** Expects the server to have exactly these rrsets and the apex NS, and the zone to be in sync. */
  expectAt(rrsets: readonly StateRrset[]): Promise<void>
}

/** Sets up a hub with an account at the server. @returns a function that creates zones there with only apex NS records */
export async function hubAt(under: HubUnderTest, w: World): Promise<(more?: object) => Promise<HubZone>> {
  const account =
    under.world === undefined
      ? await w.acme.call('POST', '/v1/dns/providers', { kind: under.kind, name: under.kind, settings: under.settings })
      : null
  if (account && account.status !== 201) throw new Error(account.text)
  // The clock stands still, so requests above the rate limit would wait forever.
  const kind = providerKindOf(under.kind)
  if (kind?.caps.pace) kind.caps = { ...kind.caps, pace: undefined }
  return async (more = {}) => {
    const name = await under.makeZone()
    if (!account) {
      const { data } = (await w.acme.call('GET', `/v1/dns/zones?name=${name}`)).body
      return await zoneOf(under, w, data[0])
    }
    if (under.checksTime) w.clock.advance(Date.now() - w.clock.now())
    const zone = await createZone(w.acme, name, { provider_id: account.body.id, ...more })
    await w.settle()
    const { sync } = (await w.acme.call('GET', `/v1/dns/zones/${zone.id}`)).body
    expect(sync.targets.map((one: any) => one.error)).toEqual([null])
    const adopted = await w.acme.call('POST', `/v1/dns/zones/${zone.id}/adopt`, { all: true })
    const apex = under.caps.apexNs === 'hidden' ? [] : (await under.look(name)).filter(one => rrsetKey(one) === '@ NS')
    expect([adopted.status, adopted.body.created]).toEqual([200, apex.flatMap(one => one.values).length])
    await w.settle()
    return await zoneOf(under, w, zone)
  }
}

async function zoneOf(
  under: HubUnderTest,
  { acme, settle }: World,
  { id, name }: { id: string; name: string },
): Promise<HubZone> {
  const path = `/v1/dns/zones/${id}`
  const observed = async () => (await under.look(name)).map(one => shown(one, under.caps.rechunksTxt))
  const apex = (await observed()).filter(one => rrsetKey(one) === '@ NS')
  const call = async (method: string, below: string, status: number, body?: object) => {
    const response = await acme.call(method, path + below, body)
    expect([status, response.text]).toEqual([response.status, response.text])
    return response
  }
  const runAction = async (below: string, body: object) => {
    const { headers } = await call('POST', below, 202, body)
    await settle()
    return (await acme.call('GET', headers.get('location')!)).body
  }
  const here: HubZone = {
    name,
    path,
    shown: async () => (await call('GET', '', 200)).body,
    async put(...rrsets) {
      const { body } = await call('PUT', '/rrsets', 200, { rrsets: rrsets.map(rrsetInput) })
      await settle()
      return body
    },
    plan: async (body = {}) => (await call('POST', '/plan', 201, body)).body,
    apply: (plan, more = {}) => runAction('/apply', { plan_id: plan.id, hash: plan.hash, ...more }),
    refresh: (body = {}) => runAction('/refresh', body),
    drift: async () => (await call('GET', '/drift', 200)).body.rrsets,
    atServer: async () => listed(await under.look(name)),
    async expectAt(rrsets) {
      expect(listed(await observed())).toEqual(listed([...apex, ...rrsets.map(one => expected(one, name, under.caps))]))
      const { synced, blocked, sync } = await here.shown()
      expect({ synced, blocked, errors: sync.targets.flatMap((one: any) => one.error ?? []) }).toEqual({
        synced: true,
        blocked: null,
        errors: [],
      })
      const unsynced = (await call('GET', '/records?synced=false', 200)).body.data
      expect(unsynced.map((one: any) => `${one.name} ${one.type} ${one.sync.state}`)).toEqual([])
      expect((await here.plan()).targets.map((one: any) => one.ops)).toEqual((await here.plan()).targets.map(() => []))
      expect(await here.drift()).toEqual([])
    },
  }
  return here
}

/** An rrset in an API request; without values, it is deleted. */
export const rrsetInput = ([name, type, ttl, ...values]: StateRrset) => ({
  name,
  type,
  ttl,
  records: values.map(content => ({ content })),
})

/** An rrset as expected at the server. */
const expected = ([name, type, ttl, ...values]: StateRrset, zone: string, caps: Caps): ProviderRrset =>
  shown(
    {
      name: recordNameOf(name, zone),
      type,
      ttl: effectiveTtl(ttl, caps),
      values: values.map(one =>
        type === 'TXT' && !one.startsWith('"') ? rdataOfTxt(Buffer.from(one)) : rdataOfText(type, one, originOf(zone)),
      ),
    },
    caps.rechunksTxt,
  )
