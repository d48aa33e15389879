import { and, asc, eq, gte, notInArray, or } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { containsWord } from '../../core/list-filters'
import type { DomainStatus } from './statuses'
import { domains } from './tables'

/** A domain, and when its registration ends (ms UTC). */
interface EndingDomain {
  id: string
  name: string
  expiresAt: number
  autoRenew: boolean | null
  createdAt: number
}

const gone: DomainStatus[] = ['deleted', 'transferred_out']

/**
 * The domains of a workspace whose registration ends after a time, the first to end first.
 * @param of `from`: ms UTC. `tags`: only domains with one of these; all if empty
 */
export async function endingDomains(
  read: Reader,
  workspaceId: string,
  of: { from: number; tags: readonly string[]; max: number },
): Promise<EndingDomain[]> {
  const rows = await read
    .select()
    .from(domains)
    .where(
      and(
        eq(domains.workspaceId, workspaceId),
        gte(domains.expiresOrder, of.from),
        gte(domains.expiresAt, of.from),
        notInArray(domains.status, gone),
        of.tags.length === 0 ? undefined : or(...of.tags.map(tag => containsWord(domains.tags, tag))),
      ),
    )
    .orderBy(asc(domains.expiresOrder), asc(domains.id))
    .limit(of.max)
  return rows.map(row => ({
    id: row.id,
    name: row.unicodeName,
    expiresAt: row.expiresAt!,
    autoRenew: row.autoRenew,
    createdAt: row.createdAt,
  }))
}
