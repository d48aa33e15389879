import { and, asc, eq, isNull, lte } from 'drizzle-orm'
import { record } from '../../core/change'
import type { EventDraft } from '../../core/change-result'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { certificateInEvent } from './issued'
import { levelAt, nextAlarmAt } from './life'
import { isOverdue } from './status'
import { certificatePresences, certificates, type CertificateRow } from './tables'
import { daysLeft } from './view'

const rowsPerBatch = 100
/** At most this many places are in an event. */
const maxListed = 100

/**
 * Sends the events of certificates that have reached the next level. After a pause, only the gravest one is sent. Repeated runs, here or in
 * another hub, send nothing.
 */
export async function sendCertificateAlarms(hub: Hub): Promise<void> {
  while ((await sendBatch(hub)) === rowsPerBatch) continue
}

const sendBatch = (hub: Hub): Promise<number> =>
  record(hub, async tx => {
    const now = hub.clock.now()
    const rows = await forUpdate(
      tx.select().from(certificates).where(lte(certificates.alarmAt, now)).orderBy(asc(certificates.alarmAt)).limit(rowsPerBatch),
    )
    const events: EventDraft[] = []
    for (const row of rows) {
      const level = levelAt(row, now)
      await tx
        .update(certificates)
        .set({ alarmLevel: level, alarmAt: nextAlarmAt(row, level) })
        .where(eq(certificates.id, row.id))
      if (level && level !== row.alarmLevel) events.push(await alarmOf(tx, row, level, now))
    }
    return { result: rows.length, events }
  })

async function alarmOf(
  tx: Tx,
  row: CertificateRow,
  level: NonNullable<CertificateRow['alarmLevel']>,
  now: number,
): Promise<EventDraft> {
  const places = await tx
    .select({ label: certificatePresences.label })
    .from(certificatePresences)
    .where(
      and(
        eq(certificatePresences.certificateId, row.id),
        eq(certificatePresences.isUse, true),
        isNull(certificatePresences.endedAt),
      ),
    )
    .orderBy(asc(certificatePresences.id))
    .limit(maxListed)
  return {
    workspaceId: row.workspaceId,
    kind: 'certificate.expiring',
    resource: { type: 'certificate', id: row.id },
    data: {
      certificate: certificateInEvent(row),
      level,
      days_left: daysLeft(row, now),
      renewal_overdue: isOverdue(row, now),
      seen_at: [...new Set(places.map(one => one.label))],
    },
  }
}
