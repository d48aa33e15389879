import { and, eq, sql } from 'drizzle-orm'
import { changesBetween } from './audit'
import type { Ctx } from './ctx'
import type { AuditActor, AuditContext, AuditTarget } from './db/tables'
import { auditEntries, counters, events, idempotencyKeys } from './db/tables'
import type { Tx } from './db/transaction'
import type { EventData, EventKind } from './events'
import { newId } from './ids'
import type { Hub } from './hub'
import { enqueue, type JobDraft } from './jobs/queue'
import { Problem } from './problem'

/** A fact to tell: one row in `events`, and a job for each who wants to hear of it. */
export interface EventDraft<K extends EventKind = EventKind> {
  workspaceId: string
  kind: K
  resource: { type: string; id: string }
  data: EventData<K>
  /** Milliseconds UTC; the time of the change when absent. */
  occurredAt?: number
}

/** An action to write into the audit log. `before` and `after` are the resource as the API shows it. */
export interface AuditDraft {
  workspaceId: string
  action: string
  outcome?: 'success' | 'failure' | 'denied'
  actor: AuditActor
  context: AuditContext
  targets: AuditTarget[]
  before?: object | null
  after?: object | null
  reason?: string | null
}

/** What a change did, for the door to write down. */
export interface Changed<T> {
  /** The verb's result; on a POST it is the body of the answer. */
  result: T
  target: AuditTarget | AuditTarget[]
  before?: object | null
  after?: object | null
  reason?: string | null
  events?: EventDraft[]
  jobs?: JobDraft[]
}

/**
 * The door for what a caller asks for: the change, its audit entry, its events, its jobs and its idempotency record are one
 * transaction. `fn` must not call anything outside the database; a thrown error undoes all of it.
 * @param action `<area>.<thing>.<verb>` in the infinitive
 */
export async function change<T>(ctx: Ctx, action: string, fn: (tx: Tx) => Promise<Changed<T>>): Promise<T> {
  const { hub } = ctx
  const changed = await hub.store.transact(async tx => {
    const done = await fn(tx)
    await writeAudit(tx, hub, [
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
    ])
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    if (ctx.idempotency) await storeAnswer(tx, ctx, done.result)
    return done
  })
  if (ctx.idempotency) ctx.idempotency.stored = true
  if (changed.events?.length || changed.jobs?.length) announceJobs(hub)
  return changed.result
}

/** What background work did: any number of audit entries, of any workspace. */
export interface Recorded<T> {
  result: T
  audits?: AuditDraft[]
  events?: EventDraft[]
  jobs?: JobDraft[]
}

/** The door for background work: jobs, ingests and the timetable. The same promise as `change`, with the entries named by the caller. */
export async function record<T>(hub: Hub, fn: (tx: Tx) => Promise<Recorded<T>>): Promise<T> {
  const recorded = await hub.store.transact(async tx => {
    const done = await fn(tx)
    await writeAudit(tx, hub, done.audits ?? [])
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    return done
  })
  if (recorded.events?.length || recorded.jobs?.length) announceJobs(hub)
  return recorded.result
}

/** Who acts when nobody asked: a job, the timetable, the start of the hub. */
export const systemActor = (name: string): AuditActor => ({ type: 'system', id: name, name, hint: null })
export const jobContext: AuditContext = { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' }

async function writeAudit(tx: Tx, hub: Hub, drafts: AuditDraft[]): Promise<void> {
  for (const draft of drafts) {
    await tx.insert(auditEntries).values({
      id: newId('aud'),
      workspaceId: draft.workspaceId,
      seq: await nextNumber(tx, `audit:${draft.workspaceId}`),
      occurredAt: hub.clock.now(),
      action: draft.action,
      outcome: draft.outcome ?? 'success',
      actorType: draft.actor.type,
      actorId: draft.actor.id,
      actor: draft.actor,
      targetId: draft.targets[0]?.id ?? '',
      targets: draft.targets,
      context: draft.context,
      changes: changesBetween(draft.before, draft.after, hub.keys.tag),
      reason: draft.reason ?? null,
    })
  }
}

async function writeEvents(tx: Tx, hub: Hub, drafts: EventDraft[]): Promise<void> {
  for (const draft of drafts) {
    const id = newId('evt')
    await tx.insert(events).values({
      id,
      workspaceId: draft.workspaceId,
      messageId: newId('msg'),
      kind: draft.kind,
      resourceType: draft.resource.type,
      resourceId: draft.resource.id,
      sequence: await nextNumber(tx, `event:${draft.resource.id}:${draft.kind}`),
      occurredAt: draft.occurredAt ?? hub.clock.now(),
      body: JSON.stringify({ event: draft.kind, data: draft.data }),
    })
    await enqueue(
      tx,
      hub,
      hub.eventJobs.map(kind => ({ kind, payload: { event_id: id } })),
    )
  }
}

async function nextNumber(tx: Tx, name: string): Promise<number> {
  const [row] = await tx
    .insert(counters)
    .values({ name, value: 1 })
    .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + 1` } })
    .returning({ value: counters.value })
  return row!.value
}

async function storeAnswer(tx: Tx, ctx: Ctx, result: unknown): Promise<void> {
  const { method, path, key, answer } = ctx.idempotency!
  const stored = await tx
    .update(idempotencyKeys)
    .set({ runningIn: null, ...answer(result) })
    .where(
      and(
        eq(idempotencyKeys.workspaceId, ctx.workspaceId),
        eq(idempotencyKeys.method, method),
        eq(idempotencyKeys.path, path),
        eq(idempotencyKeys.key, key),
        eq(idempotencyKeys.runningIn, ctx.hub.id),
      ),
    )
    .returning({ key: idempotencyKeys.key })
  // Another hub took this one for dead and runs the request now: what was done here must not count twice.
  if (stored.length === 0) throw stillRunning()
}

/** A request with the same Idempotency-Key is under way, here or in another hub. */
export const stillRunning = (): Problem =>
  new Problem('idempotency_in_progress', 'A request with this Idempotency-Key is still running.', {
    headers: { 'Retry-After': '1' },
  })

/** Name of the PostgreSQL channel on which hubs tell each other that jobs were committed. */
export const jobsChannel = 'bailiwick_jobs'

function announceJobs(hub: Hub): void {
  hub.jobSignal.wake()
  // A lost announcement costs the other hubs at most a second: they look by themselves that often.
  void hub.store
    .announce(jobsChannel, hub.id)
    .catch(error => hub.log.warn({ err: error }, 'jobs were not announced to the other hubs'))
}
