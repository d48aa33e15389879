import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import { changesBetween } from './audit'
import type { AuditAction } from './audit-actions'
import { auditCounter, entryHash, entryMac, entryOf, genesis, macKeyOf } from './audit-chain'
import type { Ctx } from './ctx'
import type { AuditActor, AuditContext, AuditTarget } from './db/tables'
import { auditEntries, counters, events, idempotencyKeys } from './db/tables'
import { prepared } from './db/prepared'
import type { Tx } from './db/transaction'
import type { EventData, EventKind } from './events'
import { newId } from './ids'
import type { Hub } from './hub'
import { enqueue, type JobDraft } from './jobs/queue'
import { writeNotices, type NoticeDraft } from './notices'
import { Problem } from './problem'
import { auditTopic, feedTopic, topicsOf } from './topics'
import { takeTouches, touch, touchesOf, type Touch } from './touches'

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
  action: AuditAction
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
  /** Everything was already as the caller asked: no version is gone up, and the log has nothing to tell. */
  unchanged?: boolean
  /** Entries beside the change's own: what it brought about in other resources. */
  audits?: AuditDraft[]
  events?: EventDraft[]
  jobs?: JobDraft[]
  notices?: NoticeDraft[]
  /** Topics to wake once it is committed, beside the feeds of the events. */
  wakes?: string[]
}

/** A change that is to be made together with others (core/bulk.ts). */
export interface Joining {
  ctx: Ctx
  action: AuditAction
  fn(tx: Tx): Promise<Changed<unknown>>
}

/**
 * The door for what a caller asks for: the change, its audit entry, its events, its jobs, its notices and its idempotency record
 * are one transaction. `fn` must not call anything outside the database; a thrown error undoes all of it.
 * @param action `<area>.<thing>.<verb>` in the infinitive, declared in core/audit-actions
 */
export async function change<T>(ctx: Ctx, action: AuditAction, fn: (tx: Tx) => Promise<Changed<T>>): Promise<T> {
  if (ctx.join) return (await ctx.join({ ctx, action, fn })) as T
  const { hub } = ctx
  const changed = await hub.store.transact(async tx => {
    takeTouches(tx)
    const done = await fn(tx)
    const audits = auditDrafts(ctx, action, done)
    await writeAudit(tx, hub, audits)
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    await giveNotices(tx, hub, done.notices ?? [])
    if (ctx.idempotency) await storeAnswer(tx, ctx, done.result)
    return { ...done, audits, touches: takeTouches(tx) }
  })
  if (ctx.idempotency) ctx.idempotency.stored = true
  announce(hub, changed)
  return changed.result
}

/** The audit entries of what a caller changed; none where nothing did. */
export const auditDrafts = (
  ctx: Pick<Ctx, 'workspaceId' | 'actor' | 'context'>,
  action: AuditAction,
  done: Changed<unknown>,
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
 * Whether a row already has all that an edit would set. Such an edit is answered with the row as it is: its version does not go up.
 * @param columns those that are undefined stay as they are
 */
export const isAlready = <Row extends object>(row: Row, columns: Partial<Row>): boolean =>
  Object.entries(columns).every(([name, value]) => value === undefined || isDeepStrictEqual(row[name as keyof Row], value))

/** What background work did: any number of audit entries, of any workspace. */
export interface Recorded<T> {
  result: T
  audits?: AuditDraft[]
  events?: EventDraft[]
  jobs?: JobDraft[]
  notices?: NoticeDraft[]
  wakes?: string[]
}

/** The door for background work: jobs, ingests and the timetable. The same promise as `change`, with the entries named by the caller. */
export async function record<T>(hub: Hub, fn: (tx: Tx) => Promise<Recorded<T>>): Promise<T> {
  const recorded = await hub.store.transact(async tx => {
    takeTouches(tx)
    const done = await fn(tx)
    await writeAudit(tx, hub, done.audits ?? [])
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    await giveNotices(tx, hub, done.notices ?? [])
    return { ...done, touches: takeTouches(tx) }
  })
  announce(hub, recorded)
  return recorded.result
}

/** Who acts when nobody asked: a job, the timetable, the start of the hub. */
export const systemActor = (name: string): AuditActor => ({ type: 'system', id: name, name, hint: null })
export const jobContext: AuditContext = { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' }

/** Numbers the entries and links each to the one before it in its workspace's chain. */
async function writeAudit(tx: Tx, hub: Hub, drafts: AuditDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts)) {
    const name = auditCounter(workspaceId)
    // From here to the commit no other transaction writes into this chain.
    const last = await takeNumbers(tx, name, own.length)
    let prevHash = last.head ?? genesis
    for (const [place, draft] of own.entries()) {
      const row = auditRow(hub, draft, last.value - own.length + 1 + place)
      const hash = entryHash(prevHash, entryOf(row))
      await tx.insert(auditEntries).values({ ...row, prevHash, hash, mac: entryMac(macKeyOf(hub.keys), hash) })
      prevHash = hash
    }
    await prepared<unknown, Tx>(tx, 'counter-head', handle =>
      handle
        .update(counters)
        .set({ head: sql`${sql.placeholder('head')}` })
        .where(eq(counters.name, sql.placeholder('name'))),
    ).execute({ name, head: prevHash })
    await enqueue(tx, hub, await hub.auditJobs(tx, workspaceId, hub.clock.now()))
  }
}

function auditRow(hub: Hub, draft: AuditDraft, seq: number) {
  const { actor, context, targets } = draft
  // As the database gives it back, and with nothing that has no canonical form: half a surrogate pair from a text that was cut.
  const told = JSON.parse(
    JSON.stringify(
      { actor, context, targets, changes: changesBetween(draft.before, draft.after, hub.keys.tag), reason: draft.reason ?? null },
      (_, value) => (typeof value === 'string' ? value.toWellFormed() : value),
    ),
  ) as Pick<typeof auditEntries.$inferSelect, 'actor' | 'context' | 'targets' | 'changes' | 'reason'>
  return {
    id: newId('aud'),
    workspaceId: draft.workspaceId,
    seq,
    occurredAt: hub.clock.now(),
    action: draft.action,
    outcome: draft.outcome ?? ('success' as const),
    actorType: told.actor.type,
    actorId: told.actor.id,
    targetId: told.targets[0]?.id ?? '',
    ...told,
  }
}

async function writeEvents(tx: Tx, hub: Hub, drafts: EventDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts)) {
    // From here to the commit no other transaction adds to this feed: positions are in the order of commits.
    const last = await nextNumber(tx, feedCounter(workspaceId), own.length)
    for (const [place, draft] of own.entries()) {
      const id = newId('evt')
      await tx.insert(events).values({
        id,
        workspaceId,
        position: last - own.length + 1 + place,
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
}

/** Writes notices down, with the jobs that tell people of them: a step for what gives notice deep within a change. */
export async function giveNotices(tx: Tx, hub: Hub, drafts: NoticeDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts))
    for (const id of new Set(await writeNotices(tx, hub, own))) {
      await enqueue(
        tx,
        hub,
        hub.noticeJobs.map(kind => ({ kind, payload: { notice_id: id }, uniqueKey: id })),
      )
      touch(tx, { workspaceId, action: 'account.notice.give', type: 'notice', id, within: null })
    }
}

/** Workspaces in one order, so that two changes of several never wait for each other. */
const byWorkspace = <D extends { workspaceId: string }>(drafts: D[]): [string, D[]][] =>
  [...Map.groupBy(drafts, draft => draft.workspaceId)].sort(([a], [b]) => (a < b ? -1 : 1))

/** Name of the counter that holds the position of the last event in a workspace's feed. */
export const feedCounter = (workspaceId: string): string => `feed:${workspaceId}`

/** The next of a gapless sequence, or the last of the next `n`; transactions that ask for the same one take turns until they end. */
export const nextNumber = async (tx: Tx, name: string, n = 1): Promise<number> => (await takeNumbers(tx, name, n)).value

/** Takes the next `n` numbers and holds the counter until the transaction ends. `value` is the last of them. */
async function takeNumbers(tx: Tx, name: string, n: number): Promise<{ value: number; head: Uint8Array | null }> {
  const [row] = await prepared<{ value: number; head: Uint8Array | null }[], Tx>(tx, 'counter-up', handle =>
    handle
      .insert(counters)
      .values({ name: sql.placeholder('name'), value: sql.placeholder('n') })
      // Written as excluded: it is the number that was asked for.
      .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + excluded.value` } })
      .returning({ value: counters.value, head: counters.head }),
  ).execute({ name, n })
  return row!
}

/** Keeps the answer of a request with an Idempotency-Key, in the transaction of what it did. */
export async function storeAnswer(tx: Tx, ctx: Ctx, result: unknown): Promise<void> {
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

function announce(hub: Hub, done: Omit<Recorded<unknown>, 'result'> & { touches: readonly Touch[] }): void {
  const { audits = [], events: told = [], jobs = [], notices = [], wakes = [] } = done
  const topics = topicsOf(hub)
  const woken = [...audits.map(one => auditTopic(one.workspaceId)), ...told.map(one => feedTopic(one.workspaceId)), ...wakes]
  for (const topic of new Set(woken)) topics.wake(topic)
  touchesOf(hub).tell(done.touches)
  if (told.length === 0 && jobs.length === 0 && notices.length === 0) return
  hub.jobSignal.wake()
  // A lost announcement costs the other hubs at most a second: they look by themselves that often.
  void hub.store
    .announce(jobsChannel, hub.id)
    .catch(error => hub.log.warn({ err: error }, 'jobs were not announced to the other hubs'))
}
