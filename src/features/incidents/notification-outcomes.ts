import { and, inArray, sql } from 'drizzle-orm'
import { forIds } from '../../core/db/id-list'
import { prepared } from '../../core/db/prepared'
import { together } from '../../core/db/together'
import type { Tx } from '../../core/db/transaction'
import { Together, type JobKind } from '../../core/jobs/job'
import { recordOutcomeKind, type NotificationOutcome } from '../notifications/delivery/delivery-jobs'
import { incidents, incidentUpdates } from './tables'
import { addUpdate } from './timeline'

// A months-long incident can have thousands of reminders; the channel log has all of them.
const maxEntries = 500

type Payload = NotificationOutcome & Record<string, unknown>

/** Records on the timeline of an incident whether a notification was sent or failed. */
export const recordOutcomeJob: JobKind<Payload, unknown, NotificationOutcome> = {
  kind: recordOutcomeKind,
  concurrency: 100,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts * 1000, 60_000),
  run: async (_, { payload }) => new Together(payload),
  async finishAll(tx, _, outcomes) {
    const room = await roomOf(tx, [...new Set(outcomes.map(one => one.thread))])
    const recorded = outcomes.filter(({ thread }) => {
      const left = room.get(thread) ?? 0
      room.set(thread, left - 1)
      return left > 0
    })
    await together(
      tx,
      recorded.map(one => () => addOutcome(tx, one)),
    )
    return { result: undefined }
  },
}

const addOutcome = (tx: Tx, { thread, channel, kind, reminder, at, error }: NotificationOutcome) => {
  const channelLabel = `${channel.name} (${channel.kind})`
  return addUpdate(
    tx,
    { id: thread },
    {
      kind: error === null ? 'notified' : 'notification_failed',
      at,
      text: error === null ? `Sent to ${channelLabel}.` : `Could not send to ${channelLabel}: ${error}`,
      details: { channel, message: kind, reminder },
    },
  )
}

/** How many more entries the timelines of incidents can have. */
async function roomOf(tx: Tx, incidentIds: readonly string[]): Promise<Map<string, number>> {
  const rows = await forIds(incidentIds, (size, list, values) =>
    prepared<{ id: string; used: number }[], Tx>(tx, `incident-outcomes|${size}`, handle =>
      handle
        .select({
          id: incidents.id,
          used: sql<number>`(select count(*) from ${incidentUpdates} where ${and(
            sql`${incidentUpdates.incidentId} = ${incidents.id}`,
            inArray(incidentUpdates.kind, ['notified', 'notification_failed']),
          )})`.mapWith(Number),
        })
        .from(incidents)
        .where(sql`${incidents.id} in ${list}`),
    ).execute(values),
  )
  return new Map(rows.map(row => [row.id, maxEntries - row.used]))
}
