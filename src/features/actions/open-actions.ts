import { and, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { actions, openStates } from './tables'

/** Which of these actions have not finished. */
export async function openActionIds(read: Reader, ids: readonly string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await read
    .select({ id: actions.id })
    .from(actions)
    .where(and(inArray(actions.id, [...ids]), inArray(actions.status, [...openStates])))
  return new Set(rows.map(row => row.id))
}
