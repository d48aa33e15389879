import { count, eq } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { monitors } from './tables'

/** Monitors that count against the plan, groups and paused ones among them. */
export async function countMonitors(read: Reader, workspaceId: string): Promise<number> {
  const [row] = await read.select({ n: count() }).from(monitors).where(eq(monitors.workspaceId, workspaceId))
  return row!.n
}
