import { sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitors } from '../tables'
import type { Kept, Roster } from './roster'

const rowsAtOnce = 100

const writtenEachMs = 60_000
// Of what is due together, such as after a restart: the statements of thousands at once are so much garbage that memory grows by a tenth.
const mostOfAll = 1 / 6

/**
 * Writes down when monitors were last checked, and until when the certificates that they saw are good, a few at a time: one write a
 * check would be most of what the database does. Call it every few seconds: each monitor has its turn once a minute.
 */
export async function writeLastChecks(hub: Hub, roster: Roster): Promise<void> {
  const now = hub.clock.now()
  const due = [...roster.all()].filter(one => unwritten(one) && isDue(one, now))
  await write(hub, due.slice(0, Math.max(rowsAtOnce, Math.ceil(roster.size * mostOfAll))))
}

/** The same of all monitors, before others take them over. */
export const writeAllLastChecks = (hub: Hub, roster: Roster): Promise<void> => write(hub, [...roster.all()].filter(unwritten))

const unwritten = (one: Kept): boolean => one.lastCheckAt !== one.checkWrittenAt

// Clocks may be set back.
const isDue = ({ lastCheckAt, checkWrittenAt }: Kept, now: number): boolean =>
  checkWrittenAt === null ||
  Math.abs(lastCheckAt! - checkWrittenAt) >= writtenEachMs ||
  Math.abs(now - lastCheckAt!) >= writtenEachMs

async function write(hub: Hub, due: readonly Kept[]): Promise<void> {
  for (let at = 0; at < due.length; at += rowsAtOnce) {
    const some = due.slice(at, at + rowsAtOnce).map(kept => ({ kept, at: kept.lastCheckAt!, end: kept.certificateExpiresAt }))
    const seen = some.map(one => sql`(${one.kept.id}, cast(${one.at} as bigint), cast(${one.end} as bigint))`)
    await record(hub, async tx => {
      await tx
        .update(monitors)
        .set({ lastCheckAt: sql`seen.column2`, certificateExpiresAt: sql`seen.column3` })
        .from(sql`(values ${sql.join(seen, sql`, `)}) as seen`)
        .where(sql`${monitors.id} = seen.column1`)
      return { result: undefined }
    })
    for (const one of some) one.kept.checkWrittenAt = one.at
    await othersTurn()
  }
}
