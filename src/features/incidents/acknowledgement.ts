import { eq } from 'drizzle-orm'
import { jobContext, systemActor } from '../../core/change'
import type { EventDraft } from '../../core/change-result'
import { instant } from '../../core/clock'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { conflict } from '../../core/problem'
import { muteThread, unmuteThread } from '../notifications/delivery/notify'
import { incidentEventData } from './outages/event-data'
import { incidentTarget } from './incidents'
import { notifyIncident } from './outages/messages'
import { noDrafts, type Drafts, type IncidentRow } from './outages/outage'
import { updateIncidentRow } from './rows'
import { defaultAcknowledgementSeconds } from './shapes'
import { formatDuration } from '../../core/duration'
import { subjectEventData } from './subjects'
import { incidents, type IncidentActor } from './tables'
import { addUpdate } from './timeline'
import { auditView } from './view'

const expireKind = 'incidents.expire-acknowledgement'

/** The details of an acknowledgement. */
interface Acknowledgement {
  by: IncidentActor
  note?: string | undefined
  /** Null: it never expires. Default: four hours. */
  expiresInSeconds?: number | null | undefined
}

/**
 * Acknowledges an incident within the caller's transaction. Acknowledging it again replaces the previous acknowledgement and restarts
 * its expiry.
 * @param row locked by the transaction
 * @throws Problem 409 if the incident is resolved
 */
export async function acknowledge(
  tx: Tx,
  hub: Hub,
  row: IncidentRow,
  { by, note, expiresInSeconds = defaultAcknowledgementSeconds }: Acknowledgement,
): Promise<{ incident: IncidentRow } & Drafts> {
  if (row.status === 'resolved') throw conflict('The incident is resolved and can no longer be acknowledged.')
  const at = hub.clock.now()
  const until = expiresInSeconds === null ? null : at + expiresInSeconds * 1000
  const incident = await updateIncidentRow(tx, hub, row, {
    status: 'acknowledged',
    acknowledgedAt: at,
    acknowledgedBy: by,
    acknowledgedUntil: until,
  })
  const text = note || `Acknowledged${expiresInSeconds === null ? '' : ` for ${formatDuration(expiresInSeconds * 1000)}`}.`
  await addUpdate(tx, incident, { kind: 'acknowledged', at, actor: by, text, details: { expires_at: instant(until) } })
  await muteThread(tx, row.id)
  // Without a note, the title and the facts of the message say it all.
  const { jobs } = await notifyIncident(tx, hub, incident, 'acknowledged', { at, text: note ?? '' })
  return {
    incident,
    ...noDrafts(),
    events: [await acknowledgedEvent(tx, hub, incident, by, note ?? null)],
    jobs:
      until === null
        ? jobs
        : [...jobs, { kind: expireKind, payload: { incident_id: row.id }, runAt: until, uniqueKey: row.id, replaces: true }],
  }
}

async function acknowledgedEvent(
  tx: Tx,
  hub: Hub,
  incident: IncidentRow,
  by: IncidentActor,
  note: string | null,
): Promise<EventDraft> {
  const facts = await subjectEventData(tx, hub, incident.workspaceId, incident.subjectId)
  const type = facts.monitor ? 'monitor' : facts.heartbeat ? 'heartbeat' : 'incident'
  return {
    workspaceId: incident.workspaceId,
    kind: 'monitor.acknowledged',
    resource: { type, id: (facts.monitor ?? facts.heartbeat ?? incident).id },
    data: {
      ...facts,
      incident: incidentEventData(incident),
      acknowledged_by: by,
      acknowledged_at: instant(incident.acknowledgedAt!),
      note,
    },
    occurredAt: incident.acknowledgedAt!,
  }
}

/**
 * Removes the acknowledgement within the caller's transaction: the incident is open again, and channels are notified and reminded.
 * @param row locked by the transaction
 */
export async function unacknowledge(
  tx: Tx,
  hub: Hub,
  row: IncidentRow,
  update: { kind: 'unacknowledged' | 'acknowledgement_expired'; at: number; text: string; actor?: IncidentActor },
): Promise<{ incident: IncidentRow } & Drafts> {
  const incident = await updateIncidentRow(tx, hub, row, {
    status: 'open',
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgedUntil: null,
  })
  await addUpdate(tx, incident, update)
  const reminders = await unmuteThread(tx, hub, row.id)
  const { jobs } = await notifyIncident(tx, hub, incident, 'unacknowledged', update)
  return { incident, ...noDrafts(), jobs: [...reminders.jobs, ...jobs] }
}

/** Ends an acknowledgement when it expires, which opens the incident again. */
export const expireAcknowledgementJob: JobKind<{ incident_id: string }> = {
  kind: expireKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts * 1000, 60_000),
  run: async (hub, job) => async tx => {
    const [row] = await forUpdate(tx.select().from(incidents).where(eq(incidents.id, job.payload.incident_id)))
    const now = hub.clock.now()
    if (row?.status !== 'acknowledged' || row.acknowledgedUntil === null) return { result: undefined }
    // Acknowledged again while this job was being claimed.
    if (row.acknowledgedUntil > now) return { result: { again: row.acknowledgedUntil } }
    const text = `The acknowledgement by ${row.acknowledgedBy?.name ?? row.acknowledgedBy?.id ?? 'someone'} expired.`
    const { incident, jobs } = await unacknowledge(tx, hub, row, {
      kind: 'acknowledgement_expired',
      at: row.acknowledgedUntil,
      text,
    })
    return {
      result: undefined,
      jobs,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'incident.unacknowledge',
          actor: systemActor(expireKind),
          context: jobContext,
          targets: [incidentTarget(row)],
          before: auditView(row),
          after: auditView(incident),
          reason: text,
        },
      ],
    }
  },
}
