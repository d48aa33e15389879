import { eq } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/queue'
import { followAliases } from '../aliases/queue'
import { isOnWay } from '../aliases/ways'
import { numberChange } from '../zone-numbers'
import { catalogId, moveCatalog } from './catalog'
import { notifyDraft } from './notify-draft'
import { dnsSecondaries } from './tables'

/**
 * Tells the name servers of a change of a zone, in its transaction: those of the hubs, which follow its number, the catalog, and by a
 * job the secondaries. ALIASes that lead through the zone are followed again by another.
 * @param told `changed`: the names and types that changed, or null when the whole zone is to be read again; `isServedAnew`: whether the
 * zone began to be served, or ceased to
 */
export async function tellServers(
  tx: Tx,
  hub: Pick<Hub, 'clock'>,
  zone: { id: string; name: string; workspaceId: string; isServed: boolean },
  { changed, isServedAnew }: { changed: readonly { name: string; type: string }[] | null; isServedAnew: boolean },
): Promise<JobDraft[]> {
  const catalog = isServedAnew ? await moveCatalog(tx, zone.workspaceId) : null
  await numberChange(tx, zone, changed)
  const following = changed?.length !== 0 && (await isOnWay(tx, zone)) ? [followAliases(zone)] : []
  if (!zone.isServed && !catalog) return following
  const [secondary] = await tx
    .select({ id: dnsSecondaries.id })
    .from(dnsSecondaries)
    .where(eq(dnsSecondaries.workspaceId, zone.workspaceId))
    .limit(1)
  if (!secondary) return following
  // From the catalog they learn of the zone, or that it is gone, and ask for it by themselves.
  return [...following, notifyDraft(catalog ? { id: catalogId(catalog), workspaceId: zone.workspaceId } : zone, hub.clock.now())]
}
