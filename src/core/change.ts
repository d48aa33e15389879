import { isDeepStrictEqual } from 'node:util'
import type { AuditAction } from './audit-actions'
import { changeHintsOf, takeChangeHints, type ChangeHint } from './change-hints'
import type { AuditDraft, ChangeResult, RecordResult } from './change-result'
import { writeEffects } from './change-rows'
import type { Ctx } from './ctx'
import type { AuditActor, AuditContext } from './db/tables'
import type { Tx } from './db/transaction'
import type { Hub } from './hub'
import { storeResponseOf } from './idempotency-rows'
import { enqueue } from './jobs/queue'
import { createNotices, type NoticeDraft } from './notices'
import { Problem } from './problem'
import { auditTopic, feedTopic, topicsOf } from './topics'

/**
 * Applies a change requested by a caller. The change, its audit event, events, jobs, notices and idempotency record are one
 * transaction. `fn` must not call anything outside of the database. If it throws, everything is rolled back.
 * @param action `<area>.<thing>.<verb>` in the infinitive, declared in features/audit-actions
 */
export async function change<T>(ctx: Ctx, action: AuditAction, fn: (tx: Tx) => Promise<ChangeResult<T>>): Promise<T> {
  if (ctx.join) return (await ctx.join({ ctx, action, fn })) as T
  const { hub } = ctx
  const changed = await hub.store.transact(async tx => {
    takeChangeHints(tx)
    const done = await fn(tx)
    const audits = auditDrafts(ctx, action, done)
    await writeEffects(tx, hub, { ...done, audits }, ctx.idempotency ? () => storeResponse(tx, ctx, done.result) : undefined)
    await sendNotices(tx, hub, done.notices ?? [])
    return { ...done, audits, touches: takeChangeHints(tx) }
  })
  if (ctx.idempotency) ctx.idempotency.stored = true
  notifyWaiting(hub, changed)
  return changed.result
}

/** The audit events of a change; none if nothing changed. */
export const auditDrafts = (
  ctx: Pick<Ctx, 'workspaceId' | 'actor' | 'context'>,
  action: AuditAction,
  done: ChangeResult<unknown>,
): AuditDraft[] =>
  done.unchanged
    ? []
    : [
        {
          workspaceId: ctx.workspaceId,
          action,
          actor: ctx.actor,
          context: ctx.context,
          targets: [done.target].flat(),
          before: done.before,
          after: done.after,
          reason: done.reason,
        },
        ...(done.audits ?? []),
      ]

/**
 * Whether an update would change nothing. The response is then the current row, with the same version.
 * @param columns undefined values are ignored
 */
export const isUnchanged = <Row extends object>(row: Row, columns: Partial<Row>): boolean =>
  Object.entries(columns).every(([name, value]) => value === undefined || isDeepStrictEqual(row[name as keyof Row], value))

/**
 * Like `change`, but for background work: jobs, ingestion and scheduled tasks. The caller provides the audit events.
 * @param isRoutine it only renews a lease, so polls need not look for changes
 */
export async function record<T>(hub: Hub, fn: (tx: Tx) => Promise<RecordResult<T>>, isRoutine?: boolean): Promise<T> {
  const recorded = await hub.store.transact(async tx => {
    takeChangeHints(tx)
    const done = await fn(tx)
    await writeEffects(tx, hub, done)
    if (done.notices) await sendNotices(tx, hub, done.notices)
    return { ...done, touches: takeChangeHints(tx) }
  }, isRoutine)
  notifyWaiting(hub, recorded)
  return recorded.result
}

/** The actor for background work: a job, a scheduled task, the start of the hub. */
export const systemActor = (name: string): AuditActor => ({ type: 'system', id: name, name, hint: null })
export const jobContext: AuditContext = { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' }

/** Stores notices and adds the jobs for them. Can be called within a change. */
export async function sendNotices(tx: Tx, hub: Hub, drafts: NoticeDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts))
    for (const id of new Set(await createNotices(tx, hub, own))) await enqueue(tx, hub, hub.onNotice(tx, workspaceId, id))
}

/** Orders by workspace, to avoid deadlocks between changes of several workspaces. */
const byWorkspace = <D extends { workspaceId: string }>(drafts: D[]): [string, D[]][] =>
  [...Map.groupBy(drafts, draft => draft.workspaceId)].sort(([a], [b]) => (a < b ? -1 : 1))

/** Stores the response of a request with an Idempotency-Key in the transaction of its change. */
export async function storeResponse(tx: Tx, ctx: Ctx, result: unknown): Promise<void> {
  const { method, path, key, response } = ctx.idempotency!
  const { workspaceId, hub } = ctx
  const stored = await storeResponseOf(tx, { workspaceId, method, path, key, runningIn: hub.id }, response(result))
  // Another hub considered this one dead and runs the request now: roll back, so that it isn't applied twice.
  if (!stored) throw idempotencyInProgress()
}

/** A request with the same Idempotency-Key is running, here or in another hub. */
export const idempotencyInProgress = (): Problem =>
  new Problem('idempotency_in_progress', 'A request with this Idempotency-Key is still running.', {
    headers: { 'Retry-After': '1' },
  })

/** PostgreSQL channel on which hubs notify each other of new jobs. */
export const jobsChannel = 'bailiwick_jobs'

function notifyWaiting(hub: Hub, done: Omit<RecordResult<unknown>, 'result'> & { touches: readonly ChangeHint[] }): void {
  const { audits = [], events: published = [], jobs = [], notices = [], wakeTopics = [] } = done
  const topics = topicsOf(hub)
  const woken = [
    ...audits.map(one => auditTopic(one.workspaceId)),
    ...published.map(one => feedTopic(one.workspaceId)),
    ...wakeTopics,
  ]
  for (const topic of new Set(woken)) topics.wake(topic)
  changeHintsOf(hub).publish(done.touches)
  if (published.length === 0 && jobs.length === 0 && notices.length === 0) return
  // Notices have jobs of their own.
  hub.jobSignal.wake(
    notices.length > 0 ? undefined : [...jobs.map(one => one.kind), ...(published.length > 0 ? hub.eventJobs : [])],
  )
  // A lost notification delays the jobs by at most a second: hubs also poll.
  void hub.store
    .notify(jobsChannel, hub.id)
    .catch(error => hub.log.warn({ err: error }, 'could not notify the other hubs of new jobs'))
}
