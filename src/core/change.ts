import { isDeepStrictEqual } from 'node:util'
import { and, eq, sql } from 'drizzle-orm'
import { changesBetween } from './audit'
import type { AuditAction } from './audit-actions'
import { auditCounter, entryHash, entryMac, chainedEntry, genesis, macKeyOf } from './audit-chain'
import type { AuditDraft, ChangeResult, EventDraft, RecordResult } from './change-result'
import type { Ctx } from './ctx'
import { auditEntries, counters, events, idempotencyKeys, type AuditActor, type AuditContext } from './db/tables'
import { insertRows, insertRowsReturning, type OnConflict } from './db/insert-rows'
import { prepared } from './db/prepared'
import type { Reader, Tx } from './db/transaction'
import { newId } from './ids'
import type { Hub } from './hub'
import { enqueue } from './jobs/queue'
import { createNotices, type NoticeDraft } from './notices'
import { Problem } from './problem'
import { isTurnOver, yieldToEventLoop } from './time-slices'
import { auditTopic, feedTopic, topicsOf } from './topics'
import { takeChangeHints, changeHintsOf, type ChangeHint } from './change-hints'

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
    await writeAudit(tx, hub, audits)
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    await sendNotices(tx, hub, done.notices ?? [])
    if (ctx.idempotency) await storeResponse(tx, ctx, done.result)
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

/** Like `change`, but for background work: jobs, ingestion and scheduled tasks. The caller provides the audit events. */
export async function record<T>(hub: Hub, fn: (tx: Tx) => Promise<RecordResult<T>>): Promise<T> {
  const recorded = await hub.store.transact(async tx => {
    takeChangeHints(tx)
    const done = await fn(tx)
    await writeAudit(tx, hub, done.audits ?? [])
    await writeEvents(tx, hub, done.events ?? [])
    await enqueue(tx, hub, done.jobs ?? [])
    await sendNotices(tx, hub, done.notices ?? [])
    return { ...done, touches: takeChangeHints(tx) }
  })
  notifyWaiting(hub, recorded)
  return recorded.result
}

/** The actor for background work: a job, a scheduled task, the start of the hub. */
export const systemActor = (name: string): AuditActor => ({ type: 'system', id: name, name, hint: null })
export const jobContext: AuditContext = { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'job' }

/** Numbers the audit events and links each to the previous one in the chain of its workspace. */
async function writeAudit(tx: Tx, hub: Hub, drafts: AuditDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts)) {
    const name = auditCounter(workspaceId)
    // Locks the chain until the commit.
    const last = await takeNumbers(tx, name, own.length)
    const rows: (typeof auditEntries.$inferInsert)[] = []
    let prevHash = last.head ?? genesis
    for (const [index, draft] of own.entries()) {
      const row = auditRow(hub, draft, last.value - own.length + 1 + index)
      const hash = entryHash(prevHash, chainedEntry(row))
      rows.push({ ...row, prevHash, hash, mac: entryMac(macKeyOf(hub.keys), hash) })
      prevHash = hash
      if (isTurnOver()) await yieldToEventLoop()
    }
    await insertRows(tx, auditEntries, rows)
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
  // Normalizes values to what the database returns, and removes lone surrogates of truncated strings, which have no canonical
  // form.
  const content = JSON.parse(
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
    actorType: content.actor.type,
    actorId: content.actor.id,
    targetId: content.targets[0]?.id ?? '',
    ...content,
  }
}

async function writeEvents(tx: Tx, hub: Hub, drafts: EventDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts)) {
    // Locks the feed until the commit, so that positions are in commit order.
    const last = await nextNumber(tx, feedCounter(workspaceId), own.length)
    const sequences = await nextOfEach(tx, own.map(sequenceCounter))
    const rows = own.map((draft, index) => ({
      id: newId('evt'),
      workspaceId,
      position: last - own.length + 1 + index,
      messageId: newId('msg'),
      kind: draft.kind,
      resourceType: draft.resource.type,
      resourceId: draft.resource.id,
      sequence: sequences[index]!,
      occurredAt: draft.occurredAt ?? hub.clock.now(),
      body: JSON.stringify({ event: draft.kind, data: draft.data }),
    }))
    await insertRows(tx, events, rows)
    await enqueue(
      tx,
      hub,
      rows.flatMap(({ id }) => hub.eventJobs.map(kind => ({ kind, payload: { event_id: id } }))),
    )
  }
}

const sequenceCounter = ({ resource, kind }: EventDraft): string => `event:${resource.id}:${kind}`

/** Stores notices and adds the jobs for them. Can be called within a change. */
export async function sendNotices(tx: Tx, hub: Hub, drafts: NoticeDraft[]): Promise<void> {
  for (const [workspaceId, own] of byWorkspace(drafts))
    for (const id of new Set(await createNotices(tx, hub, own))) await enqueue(tx, hub, hub.onNotice(tx, workspaceId, id))
}

/** Orders by workspace, to avoid deadlocks between changes of several workspaces. */
const byWorkspace = <D extends { workspaceId: string }>(drafts: D[]): [string, D[]][] =>
  [...Map.groupBy(drafts, draft => draft.workspaceId)].sort(([a], [b]) => (a < b ? -1 : 1))

/** Name of the counter with the position of the last event in the feed of a workspace. */
export const feedCounter = (workspaceId: string): string => `feed:${workspaceId}`

/** Takes the next number of a gapless sequence, or the last of the next `n`. Locks the sequence until the transaction ends. */
export const nextNumber = async (tx: Tx, name: string, n = 1): Promise<number> => (await takeNumbers(tx, name, n)).value

/** The last number of a sequence that was taken; 0 if none was. */
export async function lastNumber(read: Reader, name: string): Promise<number> {
  const [row] = await read.select({ value: counters.value }).from(counters).where(eq(counters.name, name))
  return row?.value ?? 0
}

/** Takes the next `n` numbers and locks the counter until the transaction ends. `value` is the last of them. */
async function takeNumbers(tx: Tx, name: string, n: number): Promise<{ value: number; head: Uint8Array | null }> {
  const [row] = await prepared<{ value: number; head: Uint8Array | null }[], Tx>(tx, 'counter-up', handle =>
    handle
      .insert(counters)
      .values({ name: sql.placeholder('name'), value: sql.placeholder('n') })
      // `excluded.value` is the requested number `n`.
      .onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + excluded.value` } })
      .returning({ value: counters.value, head: counters.head }),
  ).execute({ name, n })
  return row!
}

/** Takes the next number of each sequence; of one that is listed several times, as many. */
async function nextOfEach(tx: Tx, names: readonly string[]): Promise<number[]> {
  const taken = Map.groupBy(names, name => name)
  // In order of the names, to avoid deadlocks.
  const rows = [...taken].map(([name, { length }]) => ({ name, value: length })).sort((a, b) => (a.name < b.name ? -1 : 1))
  const next = new Map<string, number>()
  for (const { name, value } of await insertRowsReturning(tx, counters, rows, addToExisting))
    next.set(name, value - taken.get(name)!.length + 1)
  return names.map(name => {
    const number = next.get(name)!
    next.set(name, number + 1)
    return number
  })
}

const addToExisting: OnConflict = {
  name: 'add',
  apply: insert => insert.onConflictDoUpdate({ target: counters.name, set: { value: sql`${counters.value} + excluded.value` } }),
}

/** Stores the response of a request with an Idempotency-Key in the transaction of its change. */
export async function storeResponse(tx: Tx, ctx: Ctx, result: unknown): Promise<void> {
  const { method, path, key, response } = ctx.idempotency!
  const stored = await tx
    .update(idempotencyKeys)
    .set({ runningIn: null, ...response(result) })
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
  // Another hub considered this one dead and runs the request now: roll back, so that it isn't applied twice.
  if (stored.length === 0) throw idempotencyInProgress()
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
