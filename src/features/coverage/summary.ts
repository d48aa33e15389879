import { and, count, eq, inArray } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { countsByWord } from '../../core/db/counts'
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
  if (certificateIds.length === 0) return new Map()
  const { id, certificateId, status } = certificateGaps
  const rows = await read
    .select({ id, certificateId })
    .from(certificateGaps)
    .where(
      and(
        eq(certificateGaps.workspaceId, workspaceId),
        inArray(certificateId, [...certificateIds]),
        inArray(status, ['open', 'acknowledged']),
      ),
    )
    .orderBy(certificateGaps.rank, id)
  const found = Map.groupBy(rows, row => row.certificateId!)
  return new Map([...found].map(([key, own]) => [key, own.slice(0, maxGapIds).map(one => one.id)]))
}
