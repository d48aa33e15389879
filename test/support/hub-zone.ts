import { expect } from 'bun:test'
import { rdataOfText, rdataOfTxt } from '../../src/core/dns/rdata'
import type { Caps, ProviderRrset } from '../../src/features/dns/providers/provider'
import { stepKey } from '../../src/features/dns/providers/same-rrset'
import { ttlKept } from '../../src/features/dns/sync/normalise'
import { originOf, recordNameOf } from '../../src/features/dns/zone-names'
import { listed, shown, type ServerUnderTest, type Trouble } from './provider-contract'
import type { World } from './world'
import { zoneMade } from './zones'
import type { StateRrset } from './zone-states'

/** A server that the hub keeps zones at. */
export interface HubUnderTest extends ServerUnderTest {
  /** Of the account, with its settings. */
  kind: string
  settings: object
  caps: Caps
  /** Whether it refuses what was signed at another time than its own. */
  checksTime?: boolean
  /** The hub itself, where it serves its zones alone. */
  world?: World
}

/** A server that can be made to go wrong where the hub looks. */
export interface TroubledUnderTest extends HubUnderTest {
  trouble: HubTrouble
}

/** What goes wrong there, until `calm`. */
export interface HubTrouble extends Trouble {
  /** Answers readings with so many of the rrsets, the NS of the apex first, in a form that is whole. */
  lose(kept: number, from: 'now' | 'the next write'): unknown
  /** Has somebody else act once after the next reading, just before what follows from it is written. */
  interrupt(meddle: () => Promise<void>): unknown
}

/** A zone of the hub, as a customer has it, and what is at the server. */
export interface HubZone {
  name: string
  path: string
  /** The zone as the API shows it. */
  shown(): Promise<any>
  /** Replaces rrsets and lets happen what follows. */
  put(...rrsets: StateRrset[]): Promise<any>
  plan(body?: object): Promise<any>
  /** Applies a plan, and gives the action when it has ended. */
  apply(plan: any, more?: object): Promise<any>
  refresh(body?: object): Promise<any>
  drift(): Promise<any[]>
  /** What is at the server, as lines: TTL and every octet. */
  there(): Promise<string[]>
  /** That all is well: the server has these rrsets beside the NS of the apex, and there is nothing to do. */
  expectAt(rrsets: readonly StateRrset[]): Promise<void>
}

/** A hub with an account at the server. @returns makes zones that are kept there, with nothing in them but the NS of the apex */
export async function hubAt(under: HubUnderTest, w: World): Promise<(more?: object) => Promise<HubZone>> {
  const account =
    under.world === undefined
      ? await w.acme.call('POST', '/v1/dns/providers', { kind: under.kind, name: under.kind, settings: under.settings })
      : null
  if (account && account.status !== 201) throw new Error(account.text)
  return async (more = {}) => {
    const name = await under.makeZone()
    if (!account) {
      const { data } = (await w.acme.call('GET', `/v1/dns/zones?name=${name}`)).body
      return await zoneOf(under, w, data[0])
    }
    if (under.checksTime) w.clock.advance(Date.now() - w.clock.now())
    const made = await zoneMade(w.acme, name, { provider_id: account.body.id, ...more })
    await w.settle()
    const { sync } = (await w.acme.call('GET', `/v1/dns/zones/${made.id}`)).body
    expect(sync.targets.map((one: any) => one.error)).toEqual([null])
    const adopted = await w.acme.call('POST', `/v1/dns/zones/${made.id}/adopt`, { all: true })
    expect([adopted.status, adopted.body.created]).toEqual([200, under.caps.apexNs === 'hidden' ? 0 : 1])
    await w.settle()
    return await zoneOf(under, w, made)
  }
}

async function zoneOf(
  under: HubUnderTest,
  { acme, settle }: World,
  { id, name }: { id: string; name: string },
): Promise<HubZone> {
  const path = `/v1/dns/zones/${id}`
  const looked = async () => (await under.look(name)).map(one => shown(one, under.caps.rechunksTxt))
  const apex = (await looked()).filter(one => stepKey(one) === '@ NS')
  const asked = async (method: string, below: string, status: number, body?: object) => {
    const answer = await acme.call(method, path + below, body)
    expect([status, answer.text]).toEqual([answer.status, answer.text])
    return answer
  }
  const ended = async (below: string, body: object) => {
    const { headers } = await asked('POST', below, 202, body)
    await settle()
    return (await acme.call('GET', headers.get('location')!)).body
  }
  const here: HubZone = {
    name,
    path,
    shown: async () => (await asked('GET', '', 200)).body,
    async put(...rrsets) {
      const { body } = await asked('PUT', '/rrsets', 200, { rrsets: rrsets.map(given) })
      await settle()
      return body
    },
    plan: async (body = {}) => (await asked('POST', '/plan', 201, body)).body,
    apply: (plan, more = {}) => ended('/apply', { plan_id: plan.id, hash: plan.hash, ...more }),
    refresh: (body = {}) => ended('/refresh', body),
    drift: async () => (await asked('GET', '/drift', 200)).body.rrsets,
    there: async () => listed(await under.look(name)),
    async expectAt(rrsets) {
      expect(listed(await looked())).toEqual(listed([...apex, ...rrsets.map(one => kept(one, name, under.caps))]))
      const { synced, blocked, sync } = await here.shown()
      expect({ synced, blocked, errors: sync.targets.flatMap((one: any) => one.error ?? []) }).toEqual({
        synced: true,
        blocked: null,
        errors: [],
      })
      const unsynced = (await asked('GET', '/records?synced=false', 200)).body.data
      expect(unsynced.map((one: any) => `${one.name} ${one.type} ${one.sync.state}`)).toEqual([])
      expect((await here.plan()).targets.map((one: any) => one.ops)).toEqual((await here.plan()).targets.map(() => []))
      expect(await here.drift()).toEqual([])
    },
  }
  return here
}

/** An rrset as a request has it; without values it is removed. */
export const given = ([name, type, ttl, ...values]: StateRrset) => ({
  name,
  type,
  ttl,
  records: values.map(content => ({ content })),
})

/** An rrset as the server is to have it. */
const kept = ([name, type, ttl, ...values]: StateRrset, zone: string, caps: Caps): ProviderRrset =>
  shown(
    {
      name: recordNameOf(name, zone),
      type,
      ttl: ttlKept(ttl, caps),
      values: values.map(one =>
        type === 'TXT' && !one.startsWith('"') ? rdataOfTxt(Buffer.from(one)) : rdataOfText(type, one, originOf(zone)),
      ),
    },
    caps.rechunksTxt,
  )
