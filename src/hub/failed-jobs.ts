import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm'
import { workspaces } from '../access/tables'
import { record } from '../core/change'
import { instant } from '../core/clock'
import { forUpdate } from '../core/db/dialect'
import { jobs, notices } from '../core/db/tables'
import type { Hub } from '../core/hub'

const dayMs = 86_400_000
const batchSize = 20

/** Creates a notice in the operator's workspace for each job that failed permanently in the last day. Several hubs create only one. */
export async function notifyFailedJobs(hub: Hub): Promise<void> {
  const noticeKey = sql<string>`'job.failed ' || ${jobs.id}`
  const isUnreported = and(eq(jobs.state, 'failed'), gt(jobs.failedAt, hub.clock.now() - dayMs), isNull(notices.id))
  const found = await hub.read
    .select({ id: jobs.id })
    .from(jobs)
    .leftJoin(notices, eq(notices.dedupKey, noticeKey))
    .where(isUnreported)
    .limit(batchSize)
  if (found.length === 0) return
  await record(hub, async tx => {
    const [operators] = await tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.isOperator, true))
    const ids = found.map(job => job.id)
    // Lock the jobs and check again, because another hub may have created the notices meanwhile.
    await forUpdate(tx.select({ id: jobs.id }).from(jobs).where(inArray(jobs.id, ids)))
    const rows = await tx
      .select({ job: jobs })
      .from(jobs)
      .leftJoin(notices, eq(notices.dedupKey, noticeKey))
      .where(and(isUnreported, inArray(jobs.id, ids)))
    return {
      result: undefined,
      notices: rows.map(({ job }) => ({
        workspaceId: operators!.id,
        kind: 'job.failed' as const,
        resource: null,
        text: `A ${job.kind} job failed permanently and won’t be retried: ${job.lastError ?? 'unknown error'}.`,
        details: { job_id: job.id, kind: job.kind, attempts: job.attempts, failed_at: instant(job.failedAt) },
        dedupKey: job.id,
      })),
    }
  })
}
