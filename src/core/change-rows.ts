import { changesBetween } from './audit'
import { auditCounter, chainedEntry, entryHash, entryMac, genesis, macKeyOf } from './audit-chain'
import type { AuditDraft, EventDraft } from './change-result'
import { eventCounter, feedCounter, setHead, takeNumbers, type Taken } from './counters'
import { allEnded } from './db/all-ended'
import { insertRows } from './db/insert-rows'
import { auditEntries, events } from './db/tables'
import type { Tx } from './db/transaction'
import type { Hub } from './hub'
import { newId } from './ids'
import type { JobDraft } from './jobs/draft'
import { enqueue } from './jobs/queue'
import { isTurnOver, yieldToEventLoop } from './time-slices'

/** What a change causes. */
interface Effects {
  audits?: readonly AuditDraft[]
  events?: readonly EventDraft[]
  jobs?: readonly JobDraft[]
}

/**
 * Writes the audit events, events, and jobs of a change. After the counters are locked, all rows are written at once: PostgreSQL
 * then needs only one round trip for all of them.
 * @param also is called to write at the same time
 */
export async function writeEffects(
  tx: Tx,
  hub: Hub,
  { audits = [], events: published = [], jobs = [] }: Effects,
  also: () => Promise<unknown> = async () => {},
): Promise<void> {
  if (audits.length + published.length + jobs.length === 0) return void (await also())
  const taken = await lockCounters(tx, audits, published)
  const chains = await auditRows(hub, audits, taken)
  const eventRows = rowsOfEvents(hub, published, taken)
  const eventJobs = eventRows.flatMap(({ id }) => hub.eventJobs.map(kind => ({ kind, payload: { event_id: id } })))
  const [streamJobs] = await allEnded([
    allEnded([...chains.keys()].map(workspaceId => hub.auditJobs(tx, workspaceId, hub.clock.now()))),
    insertRows(
      tx,
      auditEntries,
      [...chains.values()].flatMap(chain => chain.rows),
    ),
    ...[...chains].map(([workspaceId, { head }]) => setHead(tx, auditCounter(workspaceId), head)),
    insertRows(tx, events, eventRows),
    enqueue(tx, hub, [...eventJobs, ...jobs]),
    also(),
  ])
  await enqueue(tx, hub, streamJobs.flat())
}

/**
 * Locks the audit chains and the feeds until the commit, so that positions are in commit order. The order of the locks is the same
 * for all changes, to avoid deadlocks.
 */
async function lockCounters(
  tx: Tx,
  audits: readonly AuditDraft[],
  published: readonly EventDraft[],
): Promise<Map<string, Taken>> {
  const names = [
    ...audits.map(({ workspaceId }) => ({ workspaceId, order: 0, name: auditCounter(workspaceId) })),
    ...published.map(({ workspaceId }) => ({ workspaceId, order: 1, name: feedCounter(workspaceId) })),
    ...published.map(({ workspaceId, resource, kind }) => ({ workspaceId, order: 2, name: eventCounter(resource.id, kind) })),
  ].sort((a, b) => (a.workspaceId === b.workspaceId ? a.order - b.order : a.workspaceId < b.workspaceId ? -1 : 1))
  const counts = new Map<string, number>()
  for (const { name } of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  const taken = await takeNumbers(tx, counts)
  // From here on, `value` is the last number that was used.
  for (const [name, n] of counts) taken.get(name)!.value -= n
  return taken
}

interface Chain {
  rows: (typeof auditEntries.$inferInsert)[]
  head: Uint8Array
}

/** Numbers the audit events and links each to the previous one in the chain of its workspace. */
async function auditRows(hub: Hub, drafts: readonly AuditDraft[], taken: Map<string, Taken>): Promise<Map<string, Chain>> {
  const chains = new Map<string, Chain>()
  for (const draft of drafts) {
    const { workspaceId } = draft
    const last = taken.get(auditCounter(workspaceId))!
    let chain = chains.get(workspaceId)
    if (!chain) chains.set(workspaceId, (chain = { rows: [], head: last.head ?? genesis }))
    const row = auditRow(hub, draft, ++last.value)
    const prevHash = chain.head
    const hash = entryHash(prevHash, chainedEntry(row))
    chain.rows.push({ ...row, prevHash, hash, mac: entryMac(macKeyOf(hub.keys), hash) })
    chain.head = hash
    if (isTurnOver()) await yieldToEventLoop()
  }
  return chains
}

function auditRow(hub: Hub, draft: AuditDraft, seq: number) {
  const { actor, context, targets, reason = null } = draft
  const changes = changesBetween(draft.before, draft.after, hub.keys.tag)
  const content = normalized({ actor, context, targets, changes, reason })
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

// JSON.stringify escapes lone surrogates. Also matches some other texts, which are then only converted more slowly.
const loneSurrogate = /\\ud[89a-f]/

/**
 * Returns a value as the database returns it, without lone surrogates of truncated strings, which have no canonical form.
 */
function normalized<T extends object>(value: T): T {
  const text = JSON.stringify(value)
  const wellFormed = loneSurrogate.test(text)
    ? JSON.stringify(value, (_, part) => (typeof part === 'string' ? part.toWellFormed() : part))
    : text
  return JSON.parse(wellFormed) as T
}

const rowsOfEvents = (hub: Hub, drafts: readonly EventDraft[], taken: Map<string, Taken>): (typeof events.$inferInsert)[] =>
  drafts.map(({ workspaceId, kind, resource, occurredAt, data }) => ({
    id: newId('evt'),
    workspaceId,
    position: ++taken.get(feedCounter(workspaceId))!.value,
    messageId: newId('msg'),
    kind,
    resourceType: resource.type,
    resourceId: resource.id,
    sequence: ++taken.get(eventCounter(resource.id, kind))!.value,
    occurredAt: occurredAt ?? hub.clock.now(),
    body: JSON.stringify({ event: kind, data }),
  }))
