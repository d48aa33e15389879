import { auditDrafts, record, storeAnswer, type AuditDraft, type Changed, type EventDraft, type Joining } from './change'
import type { Ctx } from './ctx'
import { undoable } from './db/savepoint'
import type { Tx } from './db/transaction'
import type { JobDraft } from './jobs/queue'
import type { NoticeDraft } from './notices'
import { Problem } from './problem'

/** What became of one verb: its result, or the problem that refused it. */
export type Outcome = { value: unknown } | { problem: Problem }

/** A verb up to its change, which waits for the others. */
interface Waiting extends Joining {
  resolve(value: unknown): void
  reject(error: unknown): void
}

// What verbs do before their change may ask the outside, such as for the address of a host: not of hundreds at once.
const atOnce = 16

/**
 * Runs verbs whose changes are one transaction. Each runs up to its change and waits there; then the changes are made in order, each
 * in a savepoint and with its own audit entry; once that is committed the verbs go on. So a verb in a bulk is the verb it is by
 * itself: what it does before and after its change is outside the transaction here too. A verb makes one change at most, and does
 * not explain errors of the database that come out of it.
 * @param verbs each is called with the caller's context, to which it may add
 * @param answer makes the result of what became of the verbs, in their order; what it throws undoes everything
 * @throws what `answer` throws, and what a verb throws that is no Problem
 */
export async function changeTogether<R>(
  ctx: Ctx,
  verbs: readonly ((ctx: Ctx) => Promise<unknown>)[],
  answer: (outcomes: readonly Outcome[]) => R,
): Promise<R> {
  const ends: Promise<unknown>[] = []
  const failures: unknown[] = []
  const prepared: (Outcome | Waiting)[] = []
  try {
    await inTurns(verbs, async (verb, place) => {
      try {
        prepared[place] = await upToItsChange(ctx, verb, ends)
      } catch (error) {
        failures.push(error)
      }
    })
    if (failures.length > 0) throw failures[0]
    const made = await record(ctx.hub, async tx => {
      const outcomes: Outcome[] = []
      const audits: AuditDraft[] = []
      const events: EventDraft[] = []
      const jobs: JobDraft[] = []
      const notices: NoticeDraft[] = []
      const wakes: string[] = []
      for (const one of prepared) {
        const outcome = isWaiting(one) ? await changed(tx, one) : one
        outcomes.push('done' in outcome ? { value: outcome.done.result } : outcome)
        if (!('done' in outcome)) continue
        audits.push(...auditDrafts(outcome.of.ctx, outcome.of.action, outcome.done))
        events.push(...(outcome.done.events ?? []))
        jobs.push(...(outcome.done.jobs ?? []))
        notices.push(...(outcome.done.notices ?? []))
        wakes.push(...(outcome.done.wakes ?? []))
      }
      const result = answer(outcomes)
      if (ctx.idempotency) await storeAnswer(tx, ctx, result)
      return { result: { result, outcomes }, audits, events, jobs, notices, wakes }
    })
    if (ctx.idempotency) ctx.idempotency.stored = true
    prepared.forEach((one, place) => isWaiting(one) && goOn(one, made.outcomes[place]!))
    for (const end of await Promise.allSettled(ends)) {
      if (end.status === 'rejected' && !(end.reason instanceof Problem))
        ctx.hub.log.error({ err: end.reason }, 'what follows a change of a bulk failed')
    }
    return made.result
  } catch (error) {
    for (const one of prepared) if (one && isWaiting(one)) one.reject(error)
    await Promise.allSettled(ends)
    throw error
  }
}

const isWaiting = (one: Outcome | Waiting): one is Waiting => 'fn' in one

/** Calls `fn` for each, some at once. */
async function inTurns<T>(list: readonly T[], fn: (one: T, place: number) => Promise<void>): Promise<void> {
  let next = 0
  const turn = async () => {
    while (next < list.length) {
      const place = next++
      await fn(list[place]!, place)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, turn))
}

/** Starts a verb; it comes to its change, or ends before that. @param ends gets the promise of its end */
function upToItsChange(ctx: Ctx, verb: (ctx: Ctx) => Promise<unknown>, ends: Promise<unknown>[]): Promise<Outcome | Waiting> {
  return new Promise((resolve, reject) => {
    let joined = false
    const join = (change: Joining) =>
      new Promise<unknown>((goOn, undo) => {
        if (joined) throw new Error('A verb of a bulk makes one change.')
        joined = true
        resolve({ ...change, resolve: goOn, reject: undo })
      })
    const end = verb({ ...ctx, idempotency: null, join })
    ends.push(end)
    end.then(
      value => resolve({ value }),
      error => (error instanceof Problem ? resolve({ problem: error }) : reject(error)),
    )
  })
}

/** Makes a change that waited. What it throws that is no Problem undoes the whole transaction, which may then run again. */
async function changed(tx: Tx, of: Waiting): Promise<{ done: Changed<unknown>; of: Waiting } | { problem: Problem }> {
  try {
    return { done: await undoable(tx, () => of.fn(tx)), of }
  } catch (error) {
    if (error instanceof Problem) return { problem: error }
    throw error
  }
}

function goOn(verb: Waiting, outcome: Outcome): void {
  if ('value' in outcome) verb.resolve(outcome.value)
  else verb.reject(outcome.problem)
}
