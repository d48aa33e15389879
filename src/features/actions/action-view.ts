import { instant } from '../../core/clock'
import type { ActionView } from './shapes'
import { openStates, type actions } from './tables'

export type ActionRow = typeof actions.$inferSelect

/** Whether an action has finished. */
export const isFinished = (row: Pick<ActionRow, 'status'>): boolean => !openStates.includes(row.status as never)

/** Returns an action as shown in the API. */
export function actionView(row: ActionRow): ActionView {
  return {
    id: row.id,
    type: row.type,
    area: row.area,
    status: row.status,
    progress: row.progress,
    resources: row.resources,
    steps: row.steps.map(step => ({
      ...step,
      started_at: instant(step.started_at),
      finished_at: instant(step.finished_at),
    })),
    result: row.result,
    error: row.error && { ...row.error, failure: row.error.failure ?? null },
    cancelable: row.cancelable && !isFinished(row),
    cancel_requested_at: instant(row.cancelRequestedAt),
    actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
    created_at: instant(row.createdAt),
    started_at: instant(row.startedAt),
    finished_at: instant(row.finishedAt),
  }
}
