import { and, desc, eq, lt, sql } from 'drizzle-orm'
import { record } from '../../core/change'
import { insertRows } from '../../core/db/insert-rows'
import { prepared } from '../../core/db/prepared'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { dynamicIps, dynamicIpUpdates, type StoredClient } from './tables'
import type { SourceRow } from './view'

/** A report as the history shows it. */
interface HistoryEntry {
  at: number
  client: StoredClient
  hosts: string[]
  given: Record<string, string>
  answers: string[]
  explanation: string
  ipv4: string | null
  ipv6: string | null
  prefix6: string | null
}

interface Seen {
  workspaceId: string
  /** The last report that was not refused. */
  last: { at: number; client: StoredClient } | null
  /** By what was sent: of equal reports, only the last is kept. */
  entries: Map<string, HistoryEntry>
}

const seenBySource = new WeakMap<Hub, Map<string, Seen>>()

/** Reports without a change that the history of a source has. */
const keptCalls = 20
const sourcesPerBatch = 25

/**
 * Notes a report that changed nothing. It is stored with the next flush, so that such reports cost no transaction.
 * @param as `seen` if the source reported, `refused` if the report does not count as a sign of life
 */
export function noteCall(
  hub: Hub,
  { id, workspaceId }: Pick<SourceRow, 'id' | 'workspaceId'>,
  entry: HistoryEntry,
  as: 'seen' | 'refused',
): void {
  let sources = seenBySource.get(hub)
  if (!sources) seenBySource.set(hub, (sources = new Map()))
  const { at, client } = entry
  let seen = sources.get(id)
  if (!seen) sources.set(id, (seen = { workspaceId, last: null, entries: new Map() }))
  if (as === 'seen') seen.last = { at, client }
  const key = JSON.stringify([client.client, client.address, entry.hosts, entry.given, entry.answers])
  seen.entries.delete(key)
  seen.entries.set(key, entry)
  if (seen.entries.size > keptCalls) seen.entries.delete(seen.entries.keys().next().value!)
}

/** Stores the noted reports: when each source was last seen, and the history. */
export async function flushCalls(hub: Hub): Promise<void> {
  const sources = [...(seenBySource.get(hub) ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
  seenBySource.delete(hub)
  for (let at = 0; at < sources.length; at += sourcesPerBatch) {
    const batch = sources.slice(at, at + sourcesPerBatch)
    try {
      await record(hub, async tx => {
        for (const [id, seen] of batch) await flush(tx, id, seen)
        return { result: undefined }
      })
    } catch (error) {
      for (const [id, seen] of sources.slice(at)) keep(hub, id, seen)
      throw error
    }
  }
}

/** Keeps notes that could not be stored for the next flush. */
function keep(hub: Hub, id: string, seen: Seen): void {
  let sources = seenBySource.get(hub)
  if (!sources) seenBySource.set(hub, (sources = new Map()))
  const newer = sources.get(id)
  const entries = [...seen.entries, ...(newer?.entries ?? [])].slice(-keptCalls)
  sources.set(id, { workspaceId: seen.workspaceId, last: newer?.last ?? seen.last, entries: new Map(entries) })
}

async function flush(tx: Tx, id: string, { workspaceId, last, entries }: Seen): Promise<void> {
  // It may have been deleted since.
  const [exists] = await tx.select({ id: dynamicIps.id }).from(dynamicIps).where(eq(dynamicIps.id, id))
  if (!exists) return
  if (last)
    await prepared(tx, 'dynamic-ip-seen', (handle: Tx) =>
      handle
        .update(dynamicIps)
        .set({
          lastSeenAt: sql`${sql.placeholder('at')}`,
          lastClient: sql`${sql.placeholder('client')}`,
          staleAt: sql`case when ${dynamicIps.staleAfterSeconds} is null or ${dynamicIps.status} = 'paused' then null else ${sql.placeholder('at')} + ${dynamicIps.staleAfterSeconds} * 1000 end`,
          status: sql`case when ${dynamicIps.status} = 'new' then 'fresh' else ${dynamicIps.status} end`,
        })
        .where(
          and(
            eq(dynamicIps.id, sql.placeholder('id')),
            // A change, or another hub, may have stored a later report.
            sql`(${dynamicIps.lastSeenAt} is null or ${dynamicIps.lastSeenAt} < ${sql.placeholder('at')})`,
          ),
        ),
    ).execute({ id, at: last.at, client: JSON.stringify(last.client) })
  await insertRows(
    tx,
    dynamicIpUpdates,
    [...entries.values()].map(entry => historyRow({ id, workspaceId }, entry, false)),
  )
  await pruneCalls(tx, id)
}

export function historyRow(
  source: Pick<SourceRow, 'id' | 'workspaceId'>,
  { at, ipv4, ipv6, prefix6, client, hosts, given, answers, explanation }: HistoryEntry,
  changed: boolean,
): typeof dynamicIpUpdates.$inferInsert {
  return {
    id: newId('diu'),
    workspaceId: source.workspaceId,
    sourceId: source.id,
    at,
    changed,
    ipv4,
    ipv6,
    prefix6,
    details: { ...client, hosts, given, answers, explanation },
  }
}

/** Deletes the reports without a change of a source, except the last ones. */
async function pruneCalls(tx: Tx, sourceId: string): Promise<void> {
  const unchanged = and(eq(dynamicIpUpdates.sourceId, sourceId), eq(dynamicIpUpdates.changed, false))
  const [last] = await tx
    .select({ id: dynamicIpUpdates.id })
    .from(dynamicIpUpdates)
    .where(unchanged)
    .orderBy(desc(dynamicIpUpdates.id))
    .limit(1)
    .offset(keptCalls - 1)
  if (last) await tx.delete(dynamicIpUpdates).where(and(unchanged, lt(dynamicIpUpdates.id, last.id)))
}
