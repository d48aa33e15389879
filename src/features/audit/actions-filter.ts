import { or, sql, type SQL } from 'drizzle-orm'
import { auditEntries } from '../../core/db/tables'

const isPrefix = (pattern: string) => pattern.endsWith('*')

/** Whether an action is meant by a pattern: the word itself, or a prefix such as `dns.*`. */
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
