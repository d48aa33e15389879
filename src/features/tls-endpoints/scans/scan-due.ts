import { and, asc, eq, lt, lte } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import type { JobDraft } from '../../../core/jobs/draft'
import { pruneRows } from '../../../core/rows'
import { tlsEndpoints, tlsScans } from '../tables'
import { scanJobFor } from './scan-queue'

// Keeps transactions short.
const perBatch = 100
const keptDays = 400

/** Starts the scans of endpoints that are due. Several hubs can run it at once: only one of them starts a scan. */
export async function scanDue(hub: Hub): Promise<void> {
  const { id, workspaceId, host, intervalSeconds, nextScanAt } = tlsEndpoints
  for (;;) {
    const now = hub.clock.now()
    const due = await hub.read
      .select({ id, workspaceId, host, intervalSeconds, nextScanAt, suspendedAt: workspaces.suspendedAt })
      .from(tlsEndpoints)
      .innerJoin(workspaces, eq(workspaces.id, workspaceId))
      .where(lte(nextScanAt, now))
      .orderBy(asc(nextScanAt))
      .limit(perBatch)
    if (due.length === 0) return
    await record(hub, async tx => {
      const jobs: JobDraft[] = []
      for (const { suspendedAt, ...endpoint } of due) {
        const claimed = await tx
          .update(tlsEndpoints)
          .set({ nextScanAt: now + endpoint.intervalSeconds * 1000 })
          .where(and(eq(id, endpoint.id), eq(nextScanAt, endpoint.nextScanAt!)))
          .returning({ id })
        // The time of suspended ones moves on too, so that they are not read again and again.
        if (claimed.length > 0 && suspendedAt === null) jobs.push(scanJobFor(endpoint, 'schedule'))
      }
      return { result: undefined, jobs }
    })
    if (due.length < perBatch) return
  }
}

/** Deletes old scans. The newest ones of each endpoint are limited in number when a scan is stored. */
export const pruneTlsScans = (hub: Hub): Promise<void> =>
  pruneRows(hub, tlsScans, lt(tlsScans.startedAt, hub.clock.now() - keptDays * 86_400_000), tlsScans.startedAt)
