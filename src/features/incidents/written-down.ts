import { and, desc, eq, gte, inArray, lte, max, min } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { auditEntries, events } from '../../core/db/tables'
import { eventKinds } from '../../core/events'
import { reachable } from '../../core/narrowing'
import { firstSince } from './log-place'

export type EventRow = typeof events.$inferSelect
export type AuditRow = typeof auditEntries.$inferSelect

// Of each log: those next to the end of the span.
const mostRead = 500

/** What the feed holds of a span of time (ms UTC), newest first, of the areas that the caller may read. What monitors say is left out. */
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
  const place = await places(bounds!, from, to, async position => {
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
        gte(events.position, place.from),
        lte(events.position, place.to),
        inArray(events.kind, kinds),
        reachable(ctx, events.resourceId),
      ),
    )
    .orderBy(desc(events.position))
    .limit(mostRead)
}

/** What the audit log holds of a span of time (ms UTC), newest first; nothing where the caller may not read it. */
export async function auditWithin(ctx: Ctx, from: number, to: number): Promise<AuditRow[]> {
  if (!ctx.permissions.has('account.read')) return []
  const { read } = ctx.hub
  const own = eq(auditEntries.workspaceId, ctx.workspaceId)
  const [bounds] = await read
    .select({ lowest: min(auditEntries.seq), highest: max(auditEntries.seq) })
    .from(auditEntries)
    .where(own)
  const place = await places(bounds!, from, to, async seq => {
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
        gte(auditEntries.seq, place.from),
        lte(auditEntries.seq, place.to),
        eq(auditEntries.outcome, 'success'),
        reachable(ctx, auditEntries.targetId),
      ),
    )
    .orderBy(desc(auditEntries.seq))
    .limit(mostRead)
}

/** The numbers between which a span lies: a log has no index by time, but is in its order. */
async function places(
  { lowest, highest }: { lowest: number | null; highest: number | null },
  from: number,
  to: number,
  timeOf: (number: number) => Promise<number | null>,
): Promise<{ from: number; to: number }> {
  if (lowest === null || highest === null) return { from: 0, to: -1 }
  return {
    from: await firstSince(from, lowest, highest, timeOf),
    to: (await firstSince(to + 1, lowest, highest, timeOf)) - 1,
  }
}
