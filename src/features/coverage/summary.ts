import { and, count, eq, inArray, sql } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
import { forIds } from '../../core/db/id-list'
import { prepared } from '../../core/db/prepared'
import type { Reader } from '../../core/db/transaction'
import { gapSeverities } from './kinds'
import { certificateGaps } from './tables'

/** The number of open gaps of a workspace by severity. */
export async function openGapCounts({ hub, workspaceId }: Ctx) {
  const { severity, status } = certificateGaps
  const rows = await hub.read
    .select({ word: severity, n: count() })
    .from(certificateGaps)
    .where(and(eq(certificateGaps.workspaceId, workspaceId), eq(status, 'open')))
    .groupBy(severity)
  return { total: rows.reduce((sum, one) => sum + one.n, 0), by_severity: countsByWord(gapSeverities, rows) }
}

const maxGapIds = 100

/** IDs of the open and acknowledged gaps of certificates, at most 100 of each, by the ID of the certificate. */
export async function gapIdsOfCertificates(
  read: Reader,
  workspaceId: string,
  certificateIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  const { id, certificateId, status } = certificateGaps
  const rows = await forIds(certificateIds, (size, list, values) =>
    prepared(read, `gaps-of-certificates|${size}`, handle =>
      handle
        .select({ id, certificateId })
        .from(certificateGaps)
        .where(
          and(
            eq(certificateGaps.workspaceId, sql.placeholder('workspaceId')),
            sql`${certificateId} in ${list}`,
            inArray(status, ['open', 'acknowledged']),
          ),
        )
        .orderBy(certificateGaps.rank, id),
    ).execute({ ...values, workspaceId }),
  )
  const found = Map.groupBy(rows, row => row.certificateId!)
  return new Map([...found].map(([key, own]) => [key, own.slice(0, maxGapIds).map(one => one.id)]))
}
