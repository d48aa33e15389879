import { and, eq, gt, inArray } from 'drizzle-orm'
import type { Tx } from '../../../core/db/transaction'
import { tlsEndpoints } from '../tables'

/** Scans endpoints that are scanned on schedule at this time, if their next scan would be later (ms UTC). */
export async function scanAgain(tx: Tx, workspaceId: string, ids: readonly string[], at: number): Promise<void> {
  const { id, nextScanAt } = tlsEndpoints
  await tx
    .update(tlsEndpoints)
    .set({ nextScanAt: at })
    .where(and(eq(tlsEndpoints.workspaceId, workspaceId), inArray(id, [...ids]), gt(nextScanAt, at)))
}
