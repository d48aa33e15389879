import { and, count, eq, inArray } from 'drizzle-orm'
import type { JobKind } from '../../core/jobs/job'
import { toldKind, type Told } from '../notifications/delivery-jobs'
import { incidents, incidentUpdates } from './tables'
import { addUpdate } from './timeline'

// An incident that goes on for months is reminded of thousands of times: the log of the channels has all of it.
const mostTold = 500

/** Writes on the timeline of an incident whom it was told to, or who could not be told. */
export const writeToldJob: JobKind<Told & Record<string, unknown>> = {
  kind: toldKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts * 1000, 60_000),
  run:
    async (_, { payload }) =>
    async tx => {
      const { thread, channel, kind, reminder, at, trouble } = payload
      const [incident] = await tx.select({ id: incidents.id }).from(incidents).where(eq(incidents.id, thread))
      if (!incident) return { result: undefined }
      const [written] = await tx
        .select({ n: count() })
        .from(incidentUpdates)
        .where(and(eq(incidentUpdates.incidentId, thread), inArray(incidentUpdates.kind, ['notified', 'notification_failed'])))
      if (written!.n >= mostTold) return { result: undefined }
      const over = `${channel.name} (${channel.kind})`
      await addUpdate(tx, incident, {
        kind: trouble === null ? 'notified' : 'notification_failed',
        at,
        text: trouble === null ? `Told over ${over}.` : `Could not be told over ${over}: ${trouble}`,
        details: { channel, message: kind, reminder },
      })
      return { result: undefined }
    },
}
