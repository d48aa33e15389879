import { and, eq, inArray, lt, notExists } from 'drizzle-orm'
import { record } from '../../core/change'
import { jobs } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import { endAction, failureNotice, interrupted } from './end'
import { actionTopic } from './kind'
import { actions, openStates } from './tables'

const keptMs = 30 * 86_400_000
const mostAtOnce = 500

/** Deletes actions 30 days after their end, and ends those whose job was set aside: nothing would ever end them. */
export async function pruneActions(hub: Hub): Promise<void> {
  await endForsaken(hub)
  for (let deleted = mostAtOnce; deleted === mostAtOnce;) {
    deleted = await record(hub, async tx => {
      const old = await tx
        .select({ id: actions.id })
        .from(actions)
        .where(lt(actions.finishedAt, hub.clock.now() - keptMs))
        .limit(mostAtOnce)
      if (old.length > 0)
        await tx.delete(actions).where(
          inArray(
            actions.id,
            old.map(row => row.id),
          ),
        )
      return { result: old.length }
    })
  }
}

async function endForsaken(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    const work = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.state, ['ready', 'running']), eq(jobs.kind, actions.type), eq(jobs.lane, actions.id)))
    const forsaken = await tx
      .select()
      .from(actions)
      .where(and(inArray(actions.status, [...openStates]), notExists(work)))
      .limit(mostAtOnce)
    for (const row of forsaken) await endAction(tx, row, { status: 'error', problem: interrupted() }, hub.clock.now())
    return {
      result: undefined,
      notices: forsaken.map(row => failureNotice(row, interrupted())),
      wakes: forsaken.map(row => actionTopic(row.id)),
    }
  })
}
