import { eq } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { inTurns } from '../../../core/jobs/lanes'
import { aliasOf, keep } from './refresh'
import { follow } from './own-zones'
import { followAliasesKind, resolveAlias } from './queue'
import { dnsAliasAddresses } from './tables'
import { aliasesThrough, wayAlong, wayOf } from './ways'

/**
 * Brings the ALIASes that lead through a zone up to date with it. Asks nobody but the database, so what cannot be looked up elsewhere
 * delays none of them; what leads elsewhere by now, and led to another name before, is looked up by a job of its own.
 */
export const followAliasesJob: JobKind<{ workspace_id: string; zone: string }> = {
  kind: followAliasesKind,
  concurrency: 4,
  lanes: { ...inTurns, mostInLane: 2 },
  leaseMs: 120_000,
  retryAfter: attempts => Math.min(1000 * attempts, 60_000),
  async run(hub, { payload }) {
    const zone = { workspaceId: payload.workspace_id, name: payload.zone }
    for await (const rrsetId of aliasesThrough(hub.read, zone)) await followOne(hub, rrsetId)
    return undefined
  },
}

async function followOne(hub: Hub, rrsetId: string): Promise<void> {
  const alias = await aliasOf(hub.read, rrsetId)
  if (!alias) return
  const followed = await follow(hub.read, alias.workspaceId, alias.target)
  const isSameWay = isDeepStrictEqual(wayAlong(followed.names), await wayOf(hub.read, rrsetId))
  if ('elsewhere' in followed) {
    if (!isSameWay) await record(hub, async () => ({ result: undefined, jobs: [resolveAlias(alias)] }))
    return
  }
  const { A, AAAA } = followed.found
  const [row] = await hub.read.select().from(dnsAliasAddresses).where(eq(dnsAliasAddresses.rrsetId, rrsetId))
  const isSame = row?.target === alias.target && isDeepStrictEqual([row.ipv4, row.ipv6], [A.addresses, AAAA.addresses])
  const ttls = [A, AAAA].flatMap(one => (one.addresses.length > 0 ? [one.ttl] : []))
  if (isSame && isSameWay && (ttls.length === 0 || row.ttl === Math.min(...ttls, alias.ttl))) return
  await record(hub, tx => keep(tx, hub, alias, { names: followed.names, zoneIds: followed.zoneIds, found: followed.found }))
}
