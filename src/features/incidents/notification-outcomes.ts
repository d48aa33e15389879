import { and, count, eq, inArray } from 'drizzle-orm'
import type { JobKind } from '../../core/jobs/job'
import { recordOutcomeKind, type NotificationOutcome } from '../notifications/delivery/delivery-jobs'
import { incidents, incidentUpdates } from './tables'
import { addUpdate } from './timeline'

// A months-long incident can have thousands of reminders; the channel log has all of them.
const maxEntries = 500

/** Records on the timeline of an incident whether a notification was sent or failed. */
export const recordOutcomeJob: JobKind<NotificationOutcome & Record<string, unknown>> = {
  kind: recordOutcomeKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts * 1000, 60_000),
  run:
    async (_, { payload }) =>
    async tx => {
      const { thread, channel, kind, reminder, at, error } = payload
      const [incident] = await tx.select({ id: incidents.id }).from(incidents).where(eq(incidents.id, thread))
      if (!incident) return { result: undefined }
      const [recorded] = await tx
        .select({ n: count() })
        .from(incidentUpdates)
        .where(and(eq(incidentUpdates.incidentId, thread), inArray(incidentUpdates.kind, ['notified', 'notification_failed'])))
      if (recorded!.n >= maxEntries) return { result: undefined }
      const channelLabel = `${channel.name} (${channel.kind})`
      await addUpdate(tx, incident, {
        kind: error === null ? 'notified' : 'notification_failed',
        at,
        text: error === null ? `Sent to ${channelLabel}.` : `Could not send to ${channelLabel}: ${error}`,
        details: { channel, message: kind, reminder },
      })
      return { result: undefined }
    },
}
