import { and, desc, eq, gte, inArray, lte, max, min } from 'drizzle-orm'
import type { Ctx } from '../../../core/ctx'
import { auditEntries, events } from '../../../core/db/tables'
import { eventKinds } from '../../event-kinds'
import { accessCondition } from '../../../core/resource-access'
import { firstEntrySince } from './log-search'

export type EventRow = typeof events.$inferSelect
export type AuditRow = typeof auditEntries.$inferSelect

// Per log, the latest ones.
const maxRows = 500

/** Events of a time span (ms UTC), newest first, limited to areas the caller may read. Excludes monitor events. */
export async function eventsWithin(ctx: Ctx, from: number, to: number): Promise<EventRow[]> {
  const kinds = eventKinds
    .filter(({ kind, area }) => !kind.startsWith('monitor.') && ctx.permissions.has(`${area}.read`))
    .map(one => one.kind)
  if (kinds.length === 0) return []
  const { read } = ctx.hub
  const own = eq(events.workspaceId, ctx.workspaceId)
  const [bounds] = await read
    .select({ lowest: min(events.position), highest: max(events.position) })
    .from(events)
    .where(own)
  const range = await rangeOf(bounds!, from, to, async position => {
    const [row] = await read
      .select({ at: events.occurredAt })
      .from(events)
      .where(and(own, eq(events.position, position)))
    return row?.at ?? null
  })
  return await read
    .select()
    .from(events)
    .where(
      and(
        own,
        gte(events.position, range.from),
        lte(events.position, range.to),
        inArray(events.kind, kinds),
        accessCondition(ctx, events.resourceId),
      ),
    )
    .orderBy(desc(events.position))
    .limit(maxRows)
}

/** Audit events of a time span (ms UTC), newest first; empty if the caller may not read the audit log. */
export async function auditWithin(ctx: Ctx, from: number, to: number): Promise<AuditRow[]> {
  if (!ctx.permissions.has('account.read')) return []
  const { read } = ctx.hub
  const own = eq(auditEntries.workspaceId, ctx.workspaceId)
  const [bounds] = await read
    .select({ lowest: min(auditEntries.seq), highest: max(auditEntries.seq) })
    .from(auditEntries)
    .where(own)
  const range = await rangeOf(bounds!, from, to, async seq => {
    const [row] = await read
      .select({ at: auditEntries.occurredAt })
      .from(auditEntries)
      .where(and(own, eq(auditEntries.seq, seq)))
    return row?.at ?? null
  })
  return await read
    .select()
    .from(auditEntries)
    .where(
      and(
        own,
        gte(auditEntries.seq, range.from),
        lte(auditEntries.seq, range.to),
        eq(auditEntries.outcome, 'success'),
        accessCondition(ctx, auditEntries.targetId),
      ),
    )
    .orderBy(desc(auditEntries.seq))
    .limit(maxRows)
}

/** The range of log numbers of a time span. The logs have no index by time, but are in order of time. */
async function rangeOf(
  { lowest, highest }: { lowest: number | null; highest: number | null },
  from: number,
  to: number,
  timeOf: (number: number) => Promise<number | null>,
): Promise<{ from: number; to: number }> {
  if (lowest === null || highest === null) return { from: 0, to: -1 }
  return {
    from: await firstEntrySince(from, lowest, highest, timeOf),
    to: (await firstEntrySince(to + 1, lowest, highest, timeOf)) - 1,
  }
}
