import { and, eq, or, sql, type SQL } from 'drizzle-orm'
import { auditActions } from '../audit-actions'
import type { Ctx } from '../../core/ctx'
import { auditEntries } from '../../core/db/tables'

const isPrefix = (pattern: string) => pattern.endsWith('*')

/** Whether an action matches a pattern: an action name, or a prefix such as `heartbeat.*`. */
export const matchesAction = (action: string, pattern: string): boolean =>
  isPrefix(pattern) ? action.startsWith(pattern.slice(0, -1)) : action === pattern

/** SQL condition that an entry's action matches one of the patterns; undefined for null, which matches every action. */
export const actionCondition = (patterns: readonly string[] | null): SQL | undefined =>
  patterns === null
    ? undefined
    : or(
        ...patterns.map(pattern =>
          isPrefix(pattern)
            ? sql`${auditEntries.action} like ${`${pattern.slice(0, -1).replaceAll('_', '\\_')}%`} escape '\\'`
            : sql`${auditEntries.action} = ${pattern}`,
        ),
      )

/**
 * Returns the indexes of the patterns that match no known action. Actions in the log that an earlier version wrote also count as
 * known.
 */
export async function unknownActions(ctx: Ctx, patterns: readonly string[]): Promise<number[]> {
  const indexes: number[] = []
  for (const [index, pattern] of patterns.entries()) {
    if (auditActions.some(one => matchesAction(one.action, pattern))) continue
    const [found] = await ctx.hub.read
      .select({ id: auditEntries.id })
      .from(auditEntries)
      .where(and(eq(auditEntries.workspaceId, ctx.workspaceId), actionCondition([pattern])))
      .limit(1)
    if (!found) indexes.push(index)
  }
  return indexes
}

export const unknownActionDetail = 'matches no audit action. GET /v1/audit-events/catalog lists all actions.'
