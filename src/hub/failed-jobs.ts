import { and, eq, gt, inArray, isNull, sql } from 'drizzle-orm'
import { workspaces } from '../access/tables'
import { record } from '../core/change'
import { instant } from '../core/clock'
import { locking } from '../core/db/dialect'
import { jobs, notices } from '../core/db/tables'
import type { Hub } from '../core/hub'

const dayMs = 86_400_000
const mostAtOnce = 20

/** Gives notice, in the operator's workspace, of jobs that were set aside within the last day: once each, however many hubs look. */
export async function tellFailedJobs(hub: Hub): Promise<void> {
  const named = sql<string>`'job.failed ' || ${jobs.id}`
  const untold = and(eq(jobs.state, 'failed'), gt(jobs.failedAt, hub.clock.now() - dayMs), isNull(notices.id))
  const found = await hub.read
    .select({ id: jobs.id })
    .from(jobs)
    .leftJoin(notices, eq(notices.matter, named))
    .where(untold)
    .limit(mostAtOnce)
  if (found.length === 0) return
  await record(hub, async tx => {
    const [operators] = await tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.isOperator, true))
    const ids = found.map(job => job.id)
    // Held, and looked at again: another hub may have told of them meanwhile.
    await locking(tx.select({ id: jobs.id }).from(jobs).where(inArray(jobs.id, ids)))
    const rows = await tx
      .select({ job: jobs })
      .from(jobs)
      .leftJoin(notices, eq(notices.matter, named))
      .where(and(untold, inArray(jobs.id, ids)))
    return {
      result: undefined,
      notices: rows.map(({ job }) => ({
        workspaceId: operators!.id,
        kind: 'job.failed' as const,
        resource: null,
        text: `A job of the kind ${job.kind} was set aside and is not tried again: ${job.lastError ?? 'it tells no reason'}.`,
        details: { job_id: job.id, kind: job.kind, attempts: job.attempts, failed_at: instant(job.failedAt) },
        matter: job.id,
      })),
    }
  })
}
