import { eq } from 'drizzle-orm'
import { isDeepStrictEqual } from 'node:util'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { aliasOf, storeAddresses } from './resolve-alias'
import { follow } from './follow-in-zones'
import { followAliasesKind, resolveAlias } from './queue'
import { dnsAliasAddresses } from './tables'
import { aliasesThrough, pathAlong, storedPath } from './alias-paths'

/**
 * Updates the ALIAS records whose path includes a changed zone. Only reads the database, so that slow external lookups don’t
 * delay it. An ALIAS that now needs another external lookup is resolved by its own job.
 */
export const followAliasesJob: JobKind<{ workspace_id: string; zone: string }> = {
  kind: followAliasesKind,
  concurrency: 4,
  lanes: { ...sequentialLanes, maxPerLane: 2 },
  leaseMs: 120_000,
  retryAfter: attempts => Math.min(1000 * attempts, 60_000),
  async run(hub, { payload }) {
    const zone = { workspaceId: payload.workspace_id, name: payload.zone }
    for await (const page of aliasesThrough(hub.read, zone)) for (const { rrsetId } of page) await followOne(hub, rrsetId)
    return undefined
  },
}

async function followOne(hub: Hub, rrsetId: string): Promise<void> {
  const alias = await aliasOf(hub.read, rrsetId)
  if (!alias) return
  const followed = await follow(hub.read, alias.workspaceId, alias.target)
  const isSamePath = isDeepStrictEqual(pathAlong(followed.names), await storedPath(hub.read, rrsetId))
  if ('external' in followed) {
    if (!isSamePath) await record(hub, async () => ({ result: undefined, jobs: [resolveAlias(alias)] }))
    return
  }
  const { A, AAAA } = followed.found
  const [row] = await hub.read.select().from(dnsAliasAddresses).where(eq(dnsAliasAddresses.rrsetId, rrsetId))
  const isSame = row?.target === alias.target && isDeepStrictEqual([row.ipv4, row.ipv6], [A.addresses, AAAA.addresses])
  const ttls = [A, AAAA].flatMap(one => (one.addresses.length > 0 ? [one.ttl] : []))
  if (isSame && isSamePath && (ttls.length === 0 || row.ttl === Math.min(...ttls, alias.ttl))) return
  await record(hub, tx =>
    storeAddresses(tx, hub, alias, { names: followed.names, zoneIds: followed.zoneIds, found: followed.found }),
  )
}
