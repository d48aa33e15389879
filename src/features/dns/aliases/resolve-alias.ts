import { asc, eq, inArray } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { workspacePolicy } from '../../../access/network-policy'
import type { RecordResult } from '../../../core/change-result'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { Family, Found } from '../../../dns/client/addresses'
import { nextSerial } from '../../../dns/serial'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { parseAddress } from '../../../core/net/address'
import { isOpenTo, type NetworkPolicy } from '../../../core/net/egress'
import { systemResolvers } from '../../../core/net/resolvers'
import { zonesTopic } from '../publish/published-zones'
import { markPending } from '../targets/mark-pending'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { dnsZones } from '../zones/tables'
import { notifyServers } from '../transfers/notify-servers'
import { lookUp } from './look-up'
import { follow, type AliasPath } from './follow-in-zones'
import { resolveAlias, resolveAliasKind } from './queue'
import { stableTtl } from './stable-ttl'
import { dnsAliasAddresses } from './tables'
import { storePath } from './alias-paths'

const maxIntervalMs = 60_000
const minIntervalMs = 10_000

/**
 * Resolves the target of an ALIAS and reschedules itself: every minute, or sooner if the TTL of the target is shorter. If the
 * lookup fails, the previous addresses stay. Slow lookups only delay those of the same workspace.
 */
export const resolveAliasJob: JobKind<{ rrset_id: string }> = {
  kind: resolveAliasKind,
  concurrency: 16,
  lanes: { ...sequentialLanes, maxPerLane: 6 },
  leaseMs: 120_000,
  retryAfter: attempts => Math.min(minIntervalMs * attempts, maxIntervalMs),
  async run(hub, { payload }) {
    const alias = await aliasOf(hub.read, payload.rrset_id)
    if (!alias) return undefined
    const found = await addressesOf(hub, alias)
    return tx => storeAddresses(tx, hub, alias, found)
  },
}

interface Alias {
  rrsetId: string
  zoneId: string
  workspaceId: string
  name: string
  /** Seconds. */
  ttl: number
  /** Absolute, in lower case. */
  target: string
}

/** Finds an ALIAS by the id of its rrset; null if it or its zone was deleted. */
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

/** Result of resolving an ALIAS; null for a family whose lookup failed. */
interface AliasLookup extends AliasPath {
  /** Name that was sent to resolvers; undefined if none were needed. */
  external?: string
  found: Record<Family, Found | null>
}

/** Resolves the target of an ALIAS. */
async function addressesOf(hub: Hub, { target, workspaceId }: Alias): Promise<AliasLookup> {
  const followed = await follow(hub.read, workspaceId, target)
  if ('found' in followed) return followed
  const resolvers = hub.config.dnsResolvers ?? (await systemResolvers())
  const policy = await workspacePolicy(hub.read, workspaceId, false)
  const of = async (type: Family) => {
    const found = await lookUp(resolvers, followed.external, type, () => hub.clock.now())
    return (
      found && { addresses: allowedAddresses(found.addresses, followed.external, policy), ttl: Math.min(found.ttl, followed.ttl) }
    )
  }
  const [A, AAAA] = await Promise.all([of('A'), of('AAAA')])
  return { ...followed, found: { A, AAAA } }
}

/** Drops addresses the workspace may not connect to: resolvers may know internal names, which must not be disclosed. */
const allowedAddresses = (addresses: string[], name: string, policy: NetworkPolicy): string[] =>
  addresses.filter(text => {
    const address = parseAddress(text)
    return address !== null && isOpenTo(name.replace(/\.$/, ''), address, policy)
  })

/**
 * Stores the addresses of an ALIAS. If they changed, increases the serial of the zone, since zone transfers contain them, and
 * notifies secondaries and sync targets.
 */
export async function storeAddresses(tx: Tx, hub: Hub, alias: Alias, lookup: AliasLookup): Promise<RecordResult<undefined>> {
  // Lock the zone and all zones on the path in id order, to serialize with other changes and avoid deadlocks.
  const locked = await forUpdate(
    tx
      .select()
      .from(dnsZones)
      .where(inArray(dnsZones.id, [alias.zoneId, ...lookup.zoneIds]))
      .orderBy(asc(dnsZones.id)),
  )
  const zone = locked.find(one => one.id === alias.zoneId)
  const current = zone && (await aliasOf(tx, alias.rrsetId))
  // If the target changed meanwhile, that change has scheduled its own lookup.
  if (!zone || current?.target !== alias.target) return { result: undefined }
  const followed = await follow(tx, alias.workspaceId, alias.target)
  const external = 'external' in followed ? followed.external : undefined
  // The path changed meanwhile: resolve it again.
  if (external !== lookup.external || !isDeepStrictEqual(followed.zoneIds, lookup.zoneIds))
    return { result: undefined, jobs: [resolveAlias(alias)] }
  const found: AliasLookup['found'] = 'found' in followed ? followed.found : lookup.found
  await storePath(tx, alias, followed.names)
  const now = hub.clock.now()
  const [row] = await tx.select().from(dnsAliasAddresses).where(eq(dnsAliasAddresses.rrsetId, alias.rrsetId))
  const before = row?.target === alias.target ? row : undefined
  const failed = found.A === null || found.AAAA === null
  const ttls = [found.A, found.AAAA].flatMap(one => (one === null || one.addresses.length === 0 ? [] : [one.ttl]))
  const stable = before && { ttl: before.ttl, highest: before.highestTtl, since: before.ttlSince }
  const { ttl, highest, since } =
    external === undefined
      ? { ttl: Math.min(...ttls, alias.ttl), highest: 0, since: now }
      : ttls.length > 0 || !stable
        ? stableTtl(stable ?? null, Math.min(...ttls, alias.ttl), now)
        : stable
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
  const served = (of: { ipv4: string[]; ipv6: string[]; ttl: number } | undefined) =>
    of && of.ipv4.length + of.ipv6.length > 0 ? [of.ipv4, of.ipv6, Math.min(of.ttl, current.ttl)] : null
  if (isDeepStrictEqual(served(before), served(after))) return { result: undefined, jobs: [next] }
  await tx
    .update(dnsZones)
    .set({ serial: nextSerial(zone.serial) })
    .where(eq(dnsZones.id, zone.id))
  const changed = (['A', 'AAAA'] as const).map(type => ({ name: alias.name, type }))
  const notifyJobs = await notifyServers(tx, hub, zone, { changed, servedChanged: false })
  const syncJobs = await markPending(tx, zone, changed, now)
  return { result: undefined, jobs: [...notifyJobs, next, ...syncJobs], wakeTopics: [zonesTopic] }
}

const waitMs = (failures: number, ttls: number[]): number =>
  failures > 0
    ? Math.min(minIntervalMs * failures, maxIntervalMs)
    : Math.max(minIntervalMs, Math.min(maxIntervalMs, ...ttls.map(ttl => ttl * 1000)))
