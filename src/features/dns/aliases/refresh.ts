import { asc, eq, inArray } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { workspaces } from '../../../access/tables'
import type { Recorded } from '../../../core/change'
import { locking } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Family, Found } from '../../../core/dns-client/addresses'
import { nextSerial } from '../../../core/dns/serial'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { inTurns } from '../../../core/jobs/lanes'
import { parseAddress } from '../../../core/net/address'
import { isOpenTo, networkPolicy, type NetworkPolicy } from '../../../core/net/egress'
import { systemResolvers } from '../../../core/net/resolvers'
import { zonesTopic } from '../publish'
import { markPending } from '../sync/mark-pending'
import { dnsRecords, dnsRrsets, dnsZones } from '../tables'
import { tellServers } from '../transfers/tell-servers'
import { lookUp } from './look-up'
import { follow, type Way } from './own-zones'
import { resolveAlias, resolveAliasKind } from './queue'
import { steadyTtl } from './steady-ttl'
import { dnsAliasAddresses } from './tables'
import { keepWay } from './ways'

const seldomMs = 60_000
const oftenMs = 10_000

/**
 * Looks up the target of an ALIAS, again and again for as long as it is there: each minute, and sooner where the target lives shorter.
 * What cannot be looked up keeps the addresses it had. Lookups that hang hold up no more than those of their own workspace.
 */
export const resolveAliasJob: JobKind<{ rrset_id: string }> = {
  kind: resolveAliasKind,
  concurrency: 16,
  lanes: { ...inTurns, mostInLane: 6 },
  leaseMs: 120_000,
  retryAfter: attempts => Math.min(oftenMs * attempts, seldomMs),
  async run(hub, { payload }) {
    const alias = await aliasOf(hub.read, payload.rrset_id)
    if (!alias) return undefined
    const found = await addressesOf(hub, alias)
    return tx => keep(tx, hub, alias, found)
  },
}

export interface Alias {
  rrsetId: string
  zoneId: string
  workspaceId: string
  name: string
  /** Seconds. */
  ttl: number
  /** Absolute, in lower case. */
  target: string
}

/** An ALIAS by the id of its rrset; null when it is gone, with its zone too. */
export async function aliasOf(read: Reader, rrsetId: string): Promise<Alias | null> {
  const [row] = await read
    .select({
      rrsetId: dnsRrsets.id,
      zoneId: dnsRrsets.zoneId,
      workspaceId: dnsRecords.workspaceId,
      name: dnsRrsets.name,
      ttl: dnsRrsets.ttl,
      target: dnsRecords.target,
    })
    .from(dnsRrsets)
    .innerJoin(dnsRecords, eq(dnsRecords.rrsetId, dnsRrsets.id))
    .innerJoin(dnsZones, eq(dnsZones.id, dnsRrsets.zoneId))
    .where(eq(dnsRrsets.id, rrsetId))
  return row?.target == null ? null : { ...row, target: row.target }
}

/** What an ALIAS leads to, and over which names; null for a family of which that could not be found out. */
export interface LookedUp extends Way {
  /** The name that was asked of resolvers; absent where none were asked. */
  elsewhere?: string
  found: Record<Family, Found | null>
}

/** What the target has by now; null where that could not be found out. */
async function addressesOf(hub: Hub, { target, workspaceId }: Alias): Promise<LookedUp> {
  const followed = await follow(hub.read, workspaceId, target)
  if ('found' in followed) return followed
  const resolvers = hub.config.dnsResolvers ?? (await systemResolvers())
  const [row] = await hub.read.select({ stored: workspaces.networkPolicy }).from(workspaces).where(eq(workspaces.id, workspaceId))
  const policy = networkPolicy(row!.stored, { carriesSecret: false })
  const of = async (type: Family) => {
    const found = await lookUp(resolvers, followed.elsewhere, type, () => hub.clock.now())
    return found && { addresses: opened(found.addresses, followed.elsewhere, policy), ttl: Math.min(found.ttl, followed.ttl) }
  }
  const [A, AAAA] = await Promise.all([of('A'), of('AAAA')])
  return { ...followed, found: { A, AAAA } }
}

/** Without what would tell of a network that the workspace is to know nothing of: a resolver may know names of the inside. */
const opened = (addresses: string[], name: string, policy: NetworkPolicy): string[] =>
  addresses.filter(text => {
    const address = parseAddress(text)
    return address !== null && isOpenTo(name.replace(/\.$/, ''), address, policy)
  })

/**
 * Keeps the addresses of an ALIAS, and lets all who have them in its place know where they are others: the serial of its zone moves
 * exactly when what is transferred of it does.
 */
export async function keep(tx: Tx, hub: Hub, alias: Alias, looked: LookedUp): Promise<Recorded<undefined>> {
  // Held in one order, so that changes of the zone, and of those on the way, and this take turns.
  const held = await locking(
    tx
      .select()
      .from(dnsZones)
      .where(inArray(dnsZones.id, [alias.zoneId, ...looked.zoneIds]))
      .orderBy(asc(dnsZones.id)),
  )
  const zone = held.find(one => one.id === alias.zoneId)
  const still = zone && (await aliasOf(tx, alias.rrsetId))
  // Whoever gave it another target has asked for a lookup of that.
  if (!zone || still?.target !== alias.target) return { result: undefined }
  const again = await follow(tx, alias.workspaceId, alias.target)
  const elsewhere = 'elsewhere' in again ? again.elsewhere : undefined
  // It has led another way since.
  if (elsewhere !== looked.elsewhere || !isDeepStrictEqual(again.zoneIds, looked.zoneIds))
    return { result: undefined, jobs: [resolveAlias(alias)] }
  const found: LookedUp['found'] = 'found' in again ? again.found : looked.found
  await keepWay(tx, alias, again.names)
  const now = hub.clock.now()
  const [row] = await tx.select().from(dnsAliasAddresses).where(eq(dnsAliasAddresses.rrsetId, alias.rrsetId))
  const before = row?.target === alias.target ? row : undefined
  const failed = found.A === null || found.AAAA === null
  const ttls = [found.A, found.AAAA].flatMap(one => (one === null || one.addresses.length === 0 ? [] : [one.ttl]))
  const steady = before && { ttl: before.ttl, highest: before.highestTtl, since: before.ttlSince }
  const { ttl, highest, since } =
    elsewhere === undefined
      ? { ttl: Math.min(...ttls, alias.ttl), highest: 0, since: now }
      : ttls.length > 0 || !steady
        ? steadyTtl(steady ?? null, Math.min(...ttls, alias.ttl), now)
        : steady
  const after = {
    ipv4: found.A?.addresses ?? before?.ipv4 ?? [],
    ipv6: found.AAAA?.addresses ?? before?.ipv6 ?? [],
    ttl,
    highestTtl: highest,
    ttlSince: since,
    failures: failed ? (before?.failures ?? 0) + 1 : 0,
    lookedUpAt: now,
    target: alias.target,
  }
  await tx
    .insert(dnsAliasAddresses)
    .values({ rrsetId: alias.rrsetId, zoneId: alias.zoneId, name: alias.name, ...after })
    .onConflictDoUpdate({ target: dnsAliasAddresses.rrsetId, set: after })
  const next = resolveAlias(alias, now + waitMs(failed ? after.failures : 0, ttls))
  const told = (of: { ipv4: string[]; ipv6: string[]; ttl: number } | undefined) =>
    of && of.ipv4.length + of.ipv6.length > 0 ? [of.ipv4, of.ipv6, Math.min(of.ttl, still.ttl)] : null
  if (isDeepStrictEqual(told(before), told(after))) return { result: undefined, jobs: [next] }
  await tx
    .update(dnsZones)
    .set({ serial: nextSerial(zone.serial) })
    .where(eq(dnsZones.id, zone.id))
  const changed = (['A', 'AAAA'] as const).map(type => ({ name: alias.name, type }))
  const telling = await tellServers(tx, hub, zone, { changed, isServedAnew: false })
  const syncing = await markPending(tx, zone, changed, now)
  return { result: undefined, jobs: [...telling, next, ...syncing], wakes: [zonesTopic] }
}

const waitMs = (failures: number, ttls: number[]): number =>
  failures > 0 ? Math.min(oftenMs * failures, seldomMs) : Math.max(oftenMs, Math.min(seldomMs, ...ttls.map(ttl => ttl * 1000)))
