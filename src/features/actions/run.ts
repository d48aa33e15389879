import { eq } from 'drizzle-orm'
import { record, type Recorded } from '../../core/change'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Finish, JobKind } from '../../core/jobs/job'
import { inTurns } from '../../core/jobs/lanes'
import { Problem } from '../../core/problem'
import type { ActionRow } from './action-view'
import { endAction, failureAudit, failureNotice, interrupted, touchAction, type End } from './end'
import { actionTopic, type ActionKind, type Piece, type Report, type Work } from './kind'
import { advance } from './steps'
import { actions, openStates } from './tables'

type AnyKind = ActionKind<any, any>
type Outcome = Awaited<ReturnType<Finish>>

// With the pauses of `retryAfter` some twenty minutes.
const mostTries = 10
const reportEveryMs = 1_000

/** The job that works on the actions of a kind, piece by piece. */
export function actionJob(kind: AnyKind): JobKind<{ action_id: string }> {
  return {
    kind: kind.type,
    concurrency: kind.concurrency,
    lanes: inTurns,
    leaseMs: kind.leaseMs,
    retryAfter: attempts => Math.min(1_000 * 2 ** (attempts - 1), 300_000),
    async run(hub, { payload, attempts }) {
      const row = await begin(hub, kind, payload.action_id, attempts)
      if (!row) return undefined
      try {
        const piece = await kind.run(hub, workOn(hub, row))
        return tx => moveOn(tx, hub, kind, row.id, piece)
      } catch (error) {
        const gone = !kind.resumable || attempts >= mostTries
        if (!gone) throw error
        hub.log.error({ err: error, action: row.id, type: row.type }, 'an action failed')
        const problem = new Problem('internal_error', 'Something went wrong inside. The log has this action’s id.')
        return tx => finish(tx, hub, kind, row, { status: 'error', problem })
      }
    },
  }
}

/** Marks that a piece begins. Null when there is nothing to do any more: the action is over, or is ended here. */
async function begin(hub: Hub, kind: AnyKind, id: string, attempts: number): Promise<ActionRow | null> {
  return await record<ActionRow | null>(hub, async tx => {
    const row = await held(tx, id)
    if (!row) return { result: null }
    const now = hub.clock.now()
    const end: End | null =
      row.cancelRequestedAt !== null
        ? { status: 'cancelled' }
        : row.underWay && (!kind.resumable || attempts > mostTries)
          ? { status: 'error', problem: interrupted() }
          : null
    if (end) return { ...(await finish(tx, hub, kind, row, end)), result: null }
    const [begun] = await tx
      .update(actions)
      .set({ status: 'running', startedAt: row.startedAt ?? now, underWay: true })
      .where(eq(actions.id, id))
      .returning()
    touchAction(tx, begun!)
    return { result: begun!, wakes: [actionTopic(id)] }
  })
}

function workOn(hub: Hub, row: ActionRow): Work {
  let writtenAt = 0
  let stop = row.cancelRequestedAt !== null
  return {
    actionId: row.id,
    workspaceId: row.workspaceId,
    resources: row.resources,
    actor: row.actor,
    input: row.input,
    state: row.state,
    result: row.result,
    async report(how) {
      const now = hub.clock.now()
      if (how.step === undefined && now - writtenAt < reportEveryMs) return stop
      writtenAt = now
      stop = await record(hub, async tx => {
        const current = await held(tx, row.id)
        if (!current) return { result: true }
        await tx
          .update(actions)
          .set(told(current, how, now))
          .where(eq(actions.id, row.id))
        touchAction(tx, current)
        return { result: current.cancelRequestedAt !== null, wakes: [actionTopic(row.id)] }
      })
      return stop
    },
  }
}

/** Writes what a piece did, in the transaction that also ends its job or asks for the next piece. */
async function moveOn(tx: Tx, hub: Hub, kind: AnyKind, id: string, piece: Piece<any>): Promise<Outcome> {
  const row = await held(tx, id)
  if (!row) return { result: undefined }
  const done = await piece(tx)
  const next = done.result
  if ('done' in next) return joined(done, await finish(tx, hub, kind, row, { status: 'success', result: next.done }))
  if ('failed' in next)
    return joined(done, await finish(tx, hub, kind, row, { status: 'error', problem: next.failed, result: next.result }))
  const now = hub.clock.now()
  const [moved] = await tx
    .update(actions)
    .set({ ...told(row, next, now), state: next.state, underWay: false })
    .where(eq(actions.id, id))
    .returning()
  touchAction(tx, moved!)
  if (moved!.cancelRequestedAt !== null) return joined(done, await finish(tx, hub, kind, moved!, { status: 'cancelled' }))
  return joined(done, { result: { again: next.at ?? now }, wakes: [actionTopic(id)] })
}

/** The action if it is not over, kept from others until the transaction ends. */
async function held(tx: Tx, id: string): Promise<ActionRow | null> {
  const [row] = await locking(tx.select().from(actions).where(eq(actions.id, id)))
  return row && openStates.includes(row.status as never) ? row : null
}

async function finish(tx: Tx, hub: Hub, kind: AnyKind, row: ActionRow, end: End): Promise<Outcome> {
  const ended = await endAction(tx, row, end, hub.clock.now())
  return {
    result: undefined,
    audits: ended && end.status === 'error' ? [failureAudit(row, kind.audit, end.problem)] : [],
    notices: ended && end.status === 'error' ? [failureNotice(row, end.problem)] : [],
    wakes: [actionTopic(row.id)],
  }
}

const told = (row: ActionRow, { progress, step, detail, result }: Report, now: number): Partial<ActionRow> => ({
  ...(progress !== undefined && { progress: Math.max(0, Math.min(100, Math.floor(progress))) }),
  ...((step !== undefined || detail !== undefined) && { steps: advance(row.steps, step ?? null, detail, now) }),
  ...(result !== undefined && { result }),
})

const joined = (piece: Recorded<unknown>, own: Outcome): Outcome => ({
  ...piece,
  result: own.result,
  audits: [...(piece.audits ?? []), ...(own.audits ?? [])],
  notices: [...(piece.notices ?? []), ...(own.notices ?? [])],
  wakes: [...(piece.wakes ?? []), ...(own.wakes ?? [])],
})
