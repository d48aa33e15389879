import { eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { RecordResult } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import { isUnavailable } from '../../core/db/errors'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Finish, JobKind } from '../../core/jobs/job'
import { sequentialLanes } from '../../core/jobs/lanes'
import { Problem } from '../../core/problem'
import type { ActionRow } from './action-view'
import { endAction, failureAudit, failureNotice, interrupted, addActionHint, type ActionEnd } from './end'
import { actionTopic, type ActionKind, type CommitChunk, type ProgressReport, type Work } from './kind'
import { advance } from './steps'
import { actions, openStates } from './tables'

type AnyKind = ActionKind<any, any>
type Outcome = Awaited<ReturnType<Finish>>

// About eight minutes with the delays of `retryAfter`.
const maxAttempts = 10
const reportIntervalMs = 1_000

/** The job that runs the actions of a kind, chunk by chunk. */
export function actionJob(kind: AnyKind): JobKind<{ action_id: string }> {
  return {
    kind: kind.type,
    concurrency: kind.concurrency,
    lanes: sequentialLanes,
    leaseMs: kind.leaseMs,
    // The run after the last attempt only ends the action.
    retryAfter: attempts => (attempts < maxAttempts ? 1_000 * 2 ** (attempts - 1) : 0),
    async run(hub, { payload, attempts }) {
      const started = await startChunk(hub, kind, payload.action_id)
      if (!started) return undefined
      const { row, isRepeated } = started
      // The last attempt ran, but its result could not be committed.
      if (attempts > maxAttempts) return tx => finish(tx, hub, kind, row, { status: 'error', problem: internalError() })
      try {
        const commitChunk = await kind.run(hub, workOn(hub, row, isRepeated))
        return tx => finishChunk(tx, hub, kind, row.id, commitChunk)
      } catch (error) {
        if (isUnavailable(error) || (kind.resumable && attempts < maxAttempts)) throw error
        hub.log.error({ err: error, action: row.id, type: row.type }, 'an action failed')
        return tx => finish(tx, hub, kind, row, { status: 'error', problem: internalError() })
      }
    },
  }
}

const internalError = (): Problem =>
  new Problem('internal_error', 'Internal error. Search the log of the hub for the id of this action.')

/** Marks the start of a chunk. Returns null if there is nothing to do: the action has finished, or is ended here. */
async function startChunk(hub: Hub, kind: AnyKind, id: string): Promise<{ row: ActionRow; isRepeated: boolean } | null> {
  return await record<{ row: ActionRow; isRepeated: boolean } | null>(hub, async tx => {
    const row = await lockOpenAction(tx, id)
    if (!row) return { result: null }
    const now = hub.clock.now()
    // The process may have died because of something else, so the action doesn’t end before its job fails permanently.
    const end: ActionEnd | null =
      row.cancelRequestedAt !== null
        ? { status: 'canceled' }
        : row.chunkInProgress && !kind.resumable
          ? { status: 'error', problem: interrupted() }
          : null
    if (end) return { ...(await finish(tx, hub, kind, row, end)), result: null }
    const [started] = await tx
      .update(actions)
      .set({ status: 'running', startedAt: row.startedAt ?? now, chunkInProgress: true })
      .where(eq(actions.id, id))
      .returning()
    addActionHint(tx, started!)
    return { result: { row: started!, isRepeated: row.chunkInProgress }, wakeTopics: [actionTopic(id)] }
  })
}

function workOn(hub: Hub, row: ActionRow, isRepeated: boolean): Work {
  let storedAt = 0
  let stop = row.cancelRequestedAt !== null
  return {
    actionId: row.id,
    workspaceId: row.workspaceId,
    resources: row.resources,
    actor: row.actor,
    input: row.input,
    state: row.state,
    result: row.result,
    isRepeated,
    async report(progress) {
      const now = hub.clock.now()
      if (progress.step === undefined && now - storedAt < reportIntervalMs) return stop
      storedAt = now
      stop = await record(hub, async tx => {
        const current = await lockOpenAction(tx, row.id)
        if (!current) return { result: true }
        await tx
          .update(actions)
          .set(progressUpdate(current, progress, now))
          .where(eq(actions.id, row.id))
        addActionHint(tx, current)
        return { result: current.cancelRequestedAt !== null, wakeTopics: [actionTopic(row.id)] }
      })
      return stop
    },
  }
}

/** Commits a chunk in the transaction that also ends its job or requests the next chunk. */
async function finishChunk(tx: Tx, hub: Hub, kind: AnyKind, id: string, commitChunk: CommitChunk<any>): Promise<Outcome> {
  const row = await lockOpenAction(tx, id)
  if (!row) return { result: undefined }
  const done = await commitChunk(tx)
  const next = done.result
  if ('done' in next) return merged(done, await finish(tx, hub, kind, row, { status: 'success', result: next.done }))
  if ('failed' in next)
    return merged(done, await finish(tx, hub, kind, row, { status: 'error', problem: next.failed, result: next.result }))
  const now = hub.clock.now()
  const [updated] = await tx
    .update(actions)
    .set({ ...progressUpdate(row, next, now), state: next.state, chunkInProgress: false })
    .where(eq(actions.id, id))
    .returning()
  addActionHint(tx, updated!)
  if (updated!.cancelRequestedAt !== null) return merged(done, await finish(tx, hub, kind, updated!, { status: 'canceled' }))
  return merged(done, { result: { again: next.at ?? now }, wakeTopics: [actionTopic(id)] })
}

/** Locks an action until the end of the transaction. Returns null if it has finished. */
async function lockOpenAction(tx: Tx, id: string): Promise<ActionRow | null> {
  const [row] = await forUpdate(tx.select().from(actions).where(eq(actions.id, id)))
  return row && openStates.includes(row.status as never) ? row : null
}

async function finish(tx: Tx, hub: Hub, kind: AnyKind, row: ActionRow, end: ActionEnd): Promise<Outcome> {
  const ended = await endAction(tx, row, end, hub.clock.now())
  return {
    result: undefined,
    audits: ended && end.status === 'error' ? [failureAudit(row, kind.audit, end.problem)] : [],
    notices: ended && end.status === 'error' ? [(kind.failureNotice ?? failureNotice)(row, end.problem)] : [],
    wakeTopics: [actionTopic(row.id)],
  }
}

const progressUpdate = (row: ActionRow, { progress, step, detail, result }: ProgressReport, now: number): Partial<ActionRow> => ({
  ...(progress !== undefined && { progress: Math.max(0, Math.min(100, Math.floor(progress))) }),
  ...((step !== undefined || detail !== undefined) && { steps: advance(row.steps, step ?? null, detail, now) }),
  ...(result !== undefined && { result }),
})

const merged = (chunk: RecordResult<unknown>, own: Outcome): Outcome => ({
  ...chunk,
  result: own.result,
  audits: [...(chunk.audits ?? []), ...(own.audits ?? [])],
  notices: [...(chunk.notices ?? []), ...(own.notices ?? [])],
  wakeTopics: [...(chunk.wakeTopics ?? []), ...(own.wakeTopics ?? [])],
})
