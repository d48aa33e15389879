import { and, eq, or, sql, type SQL } from 'drizzle-orm'
import { auditActions } from '../../core/audit-actions'
import type { Ctx } from '../../core/ctx'
import { auditEntries } from '../../core/db/tables'

const isPrefix = (pattern: string) => pattern.endsWith('*')

/** Whether an action is meant by a pattern: the word itself, or a prefix such as `heartbeat.*`. */
export const isMeant = (action: string, pattern: string): boolean =>
  isPrefix(pattern) ? action.startsWith(pattern.slice(0, -1)) : action === pattern

/** The condition that an entry's action is meant by one of the patterns; none for null, which means every action. */
export const actionsAmong = (patterns: readonly string[] | null): SQL | undefined =>
  patterns === null
    ? undefined
    : or(
        ...patterns.map(pattern =>
          isPrefix(pattern)
            ? sql`${auditEntries.action} like ${`${pattern.slice(0, -1).replaceAll('_', '\\_')}%`} escape '\\'`
            : sql`${auditEntries.action} = ${pattern}`,
        ),
      )

/** Those of the patterns, by their places, that mean no action of the catalogue, nor one that the log has from an earlier version. */
export async function meaningless(ctx: Ctx, patterns: readonly string[]): Promise<number[]> {
  const places: number[] = []
  for (const [place, pattern] of patterns.entries()) {
    if (auditActions.some(one => isMeant(one.action, pattern))) continue
    const [found] = await ctx.hub.read
      .select({ id: auditEntries.id })
      .from(auditEntries)
      .where(and(eq(auditEntries.workspaceId, ctx.workspaceId), actionsAmong([pattern])))
      .limit(1)
    if (!found) places.push(place)
  }
  return places
}

/** What is wrong with a pattern that is meaningless. */
export const meansNoAction = 'means no action of the audit log; GET /v1/audit-events/catalog lists them.'
