import { inArray, sql } from 'drizzle-orm'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'
import { othersTurn } from '../../../core/turns'
import { monitors } from '../tables'
import type { Roster } from './roster'

const rowsAtOnce = 100

/** Writes down when monitors were last checked, and until when the certificates that they saw are good, a few at a time: one write a check would be most of what the database does. */
export async function writeLastChecks(hub: Hub, roster: Roster): Promise<void> {
  const due = [...roster.all()].filter(one => one.lastCheckAt !== one.checkWrittenAt)
  for (let at = 0; at < due.length; at += rowsAtOnce) {
    const some = due.slice(at, at + rowsAtOnce).map(kept => ({ kept, at: kept.lastCheckAt!, end: kept.certificateExpiresAt }))
    const each = (valueOf: (one: (typeof some)[number]) => number | null) => {
      const cases = some.map(one => sql`when ${one.kept.id} then cast(${valueOf(one)} as bigint)`)
      return sql`case ${monitors.id} ${sql.join(cases, sql` `)} end`
    }
    await record(hub, async tx => {
      await tx
        .update(monitors)
        .set({ lastCheckAt: each(one => one.at), certificateExpiresAt: each(one => one.end) })
        .where(
          inArray(
            monitors.id,
            some.map(one => one.kept.id),
          ),
        )
      return { result: undefined }
    })
    for (const one of some) one.kept.checkWrittenAt = one.at
    await othersTurn()
  }
}
