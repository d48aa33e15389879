import { eq, sql } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { followAliases } from '../aliases/queue'
import { isOnAliasPath } from '../aliases/alias-paths'
import { numberChange } from '../publish/number-change'
import { catalogId, bumpCatalogSerial } from './catalog'
import { notifyDraft } from './notify-draft'
import { dnsSecondaries } from './tables'

/**
 * Publishes a zone change in its transaction: to the name servers of all hubs by the change number, to the catalog, and to
 * secondaries by a job. Also queues the refresh of ALIASes that depend on the zone.
 * @param change `changed`: the changed rrsets, or null to reload the whole zone; `servedChanged`: the zone started or stopped being
 * served
 */
export async function notifyServers(
  tx: Tx,
  hub: Pick<Hub, 'clock'>,
  zone: { id: string; name: string; workspaceId: string; isServed: boolean },
  { changed, servedChanged }: { changed: readonly { name: string; type: string }[] | null; servedChanged: boolean },
): Promise<JobDraft[]> {
  const catalog = servedChanged ? await bumpCatalogSerial(tx, zone.workspaceId) : null
  await numberChange(tx, zone, changed)
  const following = changed?.length !== 0 && (await isOnAliasPath(tx, zone)) ? [followAliases(zone)] : []
  if (!zone.isServed && !catalog) return following
  const [secondary] = await prepared(tx, 'dns-any-secondary', handle =>
    handle
      .select({ id: dnsSecondaries.id })
      .from(dnsSecondaries)
      .where(eq(dnsSecondaries.workspaceId, sql.placeholder('workspaceId')))
      .limit(1),
  ).execute({ workspaceId: zone.workspaceId })
  if (!secondary) return following
  // Secondaries learn from the catalog that a zone was added or removed.
  return [...following, notifyDraft(catalog ? { id: catalogId(catalog), workspaceId: zone.workspaceId } : zone, hub.clock.now())]
}
