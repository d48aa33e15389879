import { sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { yieldToEventLoop } from '../../../core/time-slices'
import { monitors } from '../tables'
import type { LoadedMonitor, Roster } from './roster'

const rowsAtOnce = 100

const writtenEachMs = 60_000
// Limits how many are written at once, such as after a restart: statements for thousands of rows would grow memory by a tenth.
const maxShare = 1 / 6

/**
 * Stores when monitors were last checked and when their certificates expire. Batched, because a write per check would be most of the
 * load of the database. Call it every few seconds; each monitor is written once a minute.
 */
export async function writeLastChecks(hub: Hub, roster: Roster): Promise<void> {
  const now = hub.clock.now()
  const due = [...roster.all()].filter(one => unwritten(one) && isDue(one, now))
  await write(hub, due.slice(0, Math.max(rowsAtOnce, Math.ceil(roster.size * maxShare))))
}

/** Stores the same for all monitors, before another hub runs them. */
export const writeAllLastChecks = (hub: Hub, roster: Roster): Promise<void> => write(hub, [...roster.all()].filter(unwritten))

const unwritten = (one: LoadedMonitor): boolean => one.lastCheckAt !== one.checkWrittenAt

// The clock may have been set back.
const isDue = ({ lastCheckAt, checkWrittenAt }: LoadedMonitor, now: number): boolean =>
  checkWrittenAt === null ||
  Math.abs(lastCheckAt! - checkWrittenAt) >= writtenEachMs ||
  Math.abs(now - lastCheckAt!) >= writtenEachMs

async function write(hub: Hub, due: readonly LoadedMonitor[]): Promise<void> {
  for (let at = 0; at < due.length; at += rowsAtOnce) {
    const some = due
      .slice(at, at + rowsAtOnce)
      .map(monitor => ({ monitor, at: monitor.lastCheckAt!, end: monitor.certificateExpiresAt }))
    const seen = some.map(one => sql`(${one.monitor.id}, cast(${one.at} as bigint), cast(${one.end} as bigint))`)
    await record(hub, async tx => {
      await tx
        .update(monitors)
        .set({ lastCheckAt: sql`seen.column2`, certificateExpiresAt: sql`seen.column3` })
        .from(sql`(values ${sql.join(seen, sql`, `)}) as seen`)
        .where(sql`${monitors.id} = seen.column1`)
      return { result: undefined }
    })
    for (const one of some) one.monitor.checkWrittenAt = one.at
    await yieldToEventLoop()
  }
}
