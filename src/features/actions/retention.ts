import { and, eq, inArray, lt, notExists } from 'drizzle-orm'
import { record } from '../../core/change'
import { jobs } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'
import { endAction, failureNotice, interrupted } from './end'
import { actionTopic } from './kind'
import { actions, openStates } from './tables'

const retentionMs = 30 * 86_400_000
const batchSize = 500

/** Deletes actions 30 days after they finished, and ends orphaned ones, whose job has failed permanently. */
export async function pruneActions(hub: Hub): Promise<void> {
  await endOrphaned(hub)
  await pruneRows(hub, actions, lt(actions.finishedAt, hub.clock.now() - retentionMs))
}

async function endOrphaned(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    const work = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.state, ['ready', 'running']), eq(jobs.kind, actions.type), eq(jobs.lane, actions.id)))
    const orphaned = await tx
      .select()
      .from(actions)
      .where(and(inArray(actions.status, [...openStates]), notExists(work)))
      .limit(batchSize)
    for (const row of orphaned) await endAction(tx, row, { status: 'error', problem: interrupted() }, hub.clock.now())
    return {
      result: undefined,
      notices: orphaned.map(row => failureNotice(row, interrupted())),
      wakeTopics: orphaned.map(row => actionTopic(row.id)),
    }
  })
}
