import { auditDrafts, record, storeResponse } from './change'
import type { PendingChange, Ctx } from './ctx'
import type { AuditDraft, ChangeResult, EventDraft } from './change-result'
import { inSavepoint } from './db/savepoint'
import type { Tx } from './db/transaction'
import type { JobDraft } from './jobs/draft'
import type { NoticeDraft } from './notices'
import { Problem } from './problem'

/** The outcome of an operation: its result or a problem. */
export type Outcome = { value: unknown } | { problem: Problem }

/** An operation that is paused before its change until the others are ready too. */
interface WaitingChange extends PendingChange {
  resolve(value: unknown): void
  reject(error: unknown): void
}

// Before their change, operations may call external systems, for example DNS: limit how many run at a time.
const maxConcurrent = 16

/**
 * Runs several operations with their changes in one transaction. Each operation runs up to its change and waits. Then the changes
 * are applied in order, each in a savepoint and with its own audit event. After the commit, the operations continue. So what an
 * operation does before and after its change is outside of the transaction, as it is without a bulk request. Each operation can
 * make at most one change and must not handle database errors of that change.
 * @param verbs each is called with the caller's context, which it may extend
 * @param answer returns the result from the outcomes, in order; if it throws, the transaction is rolled back
 * @throws errors of `answer`, and errors of operations that are not a Problem
 */
export async function changeInBulk<R>(
  ctx: Ctx,
  verbs: readonly ((ctx: Ctx) => Promise<unknown>)[],
  answer: (outcomes: readonly Outcome[]) => R,
): Promise<R> {
  const ends: Promise<unknown>[] = []
  const failures: unknown[] = []
  const prepared: (Outcome | WaitingChange)[] = []
  try {
    await forEachLimited(verbs, async (verb, index) => {
      try {
        prepared[index] = await runUntilChange(ctx, verb, ends)
      } catch (error) {
        failures.push(error)
      }
    })
    if (failures.length > 0) throw failures[0]
    const committed = await record(ctx.hub, async tx => {
      const outcomes: Outcome[] = []
      const audits: AuditDraft[] = []
      const events: EventDraft[] = []
      const jobs: JobDraft[] = []
      const notices: NoticeDraft[] = []
      const wakes: string[] = []
      for (const one of prepared) {
        const outcome = isWaiting(one) ? await applyChange(tx, one) : one
        outcomes.push('done' in outcome ? { value: outcome.done.result } : outcome)
        if (!('done' in outcome)) continue
        audits.push(...auditDrafts(outcome.of.ctx, outcome.of.action, outcome.done))
        events.push(...(outcome.done.events ?? []))
        jobs.push(...(outcome.done.jobs ?? []))
        notices.push(...(outcome.done.notices ?? []))
        wakes.push(...(outcome.done.wakeTopics ?? []))
      }
      const result = answer(outcomes)
      if (ctx.idempotency) await storeResponse(tx, ctx, result)
      return { result: { result, outcomes }, audits, events, jobs, notices, wakeTopics: wakes }
    })
    if (ctx.idempotency) ctx.idempotency.stored = true
    prepared.forEach((one, index) => isWaiting(one) && settle(one, committed.outcomes[index]!))
    for (const end of await Promise.allSettled(ends)) {
      if (end.status === 'rejected' && !(end.reason instanceof Problem))
        ctx.hub.log.error({ err: end.reason }, 'a bulk operation failed after its change was committed')
    }
    return committed.result
  } catch (error) {
    for (const one of prepared) if (one && isWaiting(one)) one.reject(error)
    await Promise.allSettled(ends)
    throw error
  }
}

const isWaiting = (one: Outcome | WaitingChange): one is WaitingChange => 'fn' in one

/** Calls `fn` for all items with limited concurrency. */
async function forEachLimited<T>(list: readonly T[], fn: (one: T, index: number) => Promise<void>): Promise<void> {
  let next = 0
  const worker = async () => {
    while (next < list.length) {
      const index = next++
      await fn(list[index]!, index)
    }
  }
  await Promise.all(Array.from({ length: maxConcurrent }, worker))
}

/** Starts an operation and resolves when it reaches its change or finishes without one. @param ends receives its promise */
function runUntilChange(
  ctx: Ctx,
  verb: (ctx: Ctx) => Promise<unknown>,
  ends: Promise<unknown>[],
): Promise<Outcome | WaitingChange> {
  return new Promise((resolve, reject) => {
    let joined = false
    const join = (change: PendingChange) =>
      new Promise<unknown>((onCommit, onFailure) => {
        if (joined) throw new Error('An operation in a bulk request can make only one change.')
        joined = true
        resolve({ ...change, resolve: onCommit, reject: onFailure })
      })
    const end = verb({ ...ctx, idempotency: null, join })
    ends.push(end)
    end.then(
      value => resolve({ value }),
      error => (error instanceof Problem ? resolve({ problem: error }) : reject(error)),
    )
  })
}

/** Applies a pending change. Errors other than a Problem roll back the whole transaction, which may then be retried. */
async function applyChange(
  tx: Tx,
  of: WaitingChange,
): Promise<{ done: ChangeResult<unknown>; of: WaitingChange } | { problem: Problem }> {
  try {
    return { done: await inSavepoint(tx, () => of.fn(tx)), of }
  } catch (error) {
    if (error instanceof Problem) return { problem: error }
    throw error
  }
}

function settle(verb: WaitingChange, outcome: Outcome): void {
  if ('value' in outcome) verb.resolve(outcome.value)
  else verb.reject(outcome.problem)
}
