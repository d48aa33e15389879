import { eq } from 'drizzle-orm'
import { formatUtcMinute } from './clock'
import { instanceFacts } from './db/tables'
import type { Reader } from './db/transaction'
import { pluralize } from './pluralize'

/** Name of the fact with the last successful backup. */
export const lastBackupFact = 'last_backup'

/** Its value. */
export interface LastBackup {
  /** RFC 3339. */
  created_at: string
  form: 'physical' | 'logical'
  bytes: number
  with_series: boolean
}

/** The last successful backup; null if there is none. */
export async function lastBackup(read: Reader): Promise<LastBackup | null> {
  const [row] = await read
    .select({ value: instanceFacts.value })
    .from(instanceFacts)
    .where(eq(instanceFacts.name, lastBackupFact))
  return row ? parseLastBackup(row.value) : null
}

export const parseLastBackup = (value: string): LastBackup => JSON.parse(value) as LastBackup

const dayMs = 86_400_000
// A nightly backup that failed once.
const maxAgeDays = 2

/**
 * Why the backups of an installation need attention, and what to do; null if they don't.
 * @param createdAt when the installation was created (ms UTC)
 */
export function backupProblem(last: LastBackup | null, createdAt: number, now: number): string | null {
  const at = last ? Date.parse(last.created_at) : createdAt
  const days = Math.floor((now - at) / dayMs)
  if (days < maxAgeDays) return null
  const found = last
    ? `The last backup was made ${pluralize(days, 'days')} ago, on ${formatUtcMinute(at)}`
    : 'No backup has been made'
  return `${found}. Run bailiwick backup, and schedule it to run every night. Ignore this if you back up with other tools.`
}
