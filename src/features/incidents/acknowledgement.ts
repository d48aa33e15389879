import { eq } from 'drizzle-orm'
import { jobContext, systemActor, type EventDraft } from '../../core/change'
import { instant } from '../../core/clock'
import { locking } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { JobKind } from '../../core/jobs/job'
import { conflict } from '../../core/problem'
import { hushThread, unhushThread } from '../notifications/tell'
import { incidentFact } from './fact'
import { incidentTarget } from './incidents'
import { tellOf } from './messages'
import { noDrafts, type Drafts, type IncidentRow } from './outage'
import { write } from './rows'
import { defaultHoldSeconds } from './shapes'
import { duration } from '../../core/span'
import { subjectFacts } from './subjects'
import { incidents, type Doer } from './tables'
import { addUpdate } from './timeline'
import { edited } from './view'

const endKind = 'incidents.end-acknowledgement'

/** What somebody says who takes an incident on. */
export interface Acknowledgement {
  by: Doer
  note?: string | undefined
  /** Null: it does not end by itself. Four hours when absent. */
  expiresInSeconds?: number | null | undefined
}

/**
 * Takes an incident on, as a step. One that is acknowledged already is taken over, and its time begins anew.
 * @param row held by the transaction
 * @throws Problem 409 for one that is resolved
 */
export async function acknowledge(
  tx: Tx,
  hub: Hub,
  row: IncidentRow,
  { by, note, expiresInSeconds = defaultHoldSeconds }: Acknowledgement,
): Promise<{ incident: IncidentRow } & Drafts> {
  if (row.status === 'resolved') throw conflict('The incident is resolved: there is nothing left to acknowledge.')
  const at = hub.clock.now()
  const until = expiresInSeconds === null ? null : at + expiresInSeconds * 1000
  const incident = await write(tx, hub, row, {
    status: 'acknowledged',
    acknowledgedAt: at,
    acknowledgedBy: by,
    acknowledgedUntil: until,
  })
  const text = note || `Acknowledged${expiresInSeconds === null ? '' : ` for ${duration(expiresInSeconds * 1000)}`}.`
  await addUpdate(tx, incident, { kind: 'acknowledged', at, actor: by, text, details: { expires_at: instant(until) } })
  await hushThread(tx, row.id)
  const { jobs } = await tellOf(tx, hub, incident, 'acknowledged', { at, text })
  return {
    incident,
    ...noDrafts(),
    events: [await acknowledgedEvent(tx, incident, by, note ?? null)],
    jobs:
      until === null
        ? jobs
        : [...jobs, { kind: endKind, payload: { incident_id: row.id }, runAt: until, uniqueKey: row.id, replaces: true }],
  }
}

async function acknowledgedEvent(tx: Tx, incident: IncidentRow, by: Doer, note: string | null): Promise<EventDraft> {
  const facts = await subjectFacts(tx, incident.workspaceId, incident.subjectId)
  const type = facts.monitor ? 'monitor' : facts.heartbeat ? 'heartbeat' : 'incident'
  return {
    workspaceId: incident.workspaceId,
    kind: 'monitor.acknowledged',
    resource: { type, id: (facts.monitor ?? facts.heartbeat ?? incident).id },
    data: {
      ...facts,
      incident: incidentFact(incident),
      acknowledged_by: by,
      acknowledged_at: instant(incident.acknowledgedAt!),
      note,
    },
    occurredAt: incident.acknowledgedAt!,
  }
}

/**
 * Nobody sees to an incident any more: it is open again, told anew and reminded of. A step.
 * @param row held by the transaction
 */
export async function giveBack(
  tx: Tx,
  hub: Hub,
  row: IncidentRow,
  update: { kind: 'unacknowledged' | 'acknowledgement_expired'; at: number; text: string; actor?: Doer },
): Promise<{ incident: IncidentRow } & Drafts> {
  const incident = await write(tx, hub, row, {
    status: 'open',
    acknowledgedAt: null,
    acknowledgedBy: null,
    acknowledgedUntil: null,
  })
  await addUpdate(tx, incident, update)
  const reminders = await unhushThread(tx, hub, row.id)
  const { jobs } = await tellOf(tx, hub, incident, 'unacknowledged', update)
  return { incident, ...noDrafts(), jobs: [...reminders.jobs, ...jobs] }
}

/** Opens an incident again that was acknowledged and not resolved in time. */
export const endAcknowledgementJob: JobKind<{ incident_id: string }> = {
  kind: endKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: attempts => Math.min(attempts * 1000, 60_000),
  run: async (hub, job) => async tx => {
    const [row] = await locking(tx.select().from(incidents).where(eq(incidents.id, job.payload.incident_id)))
    const now = hub.clock.now()
    if (row?.status !== 'acknowledged' || row.acknowledgedUntil === null) return { result: undefined }
    // Taken on anew while this job was claimed.
    if (row.acknowledgedUntil > now) return { result: { again: row.acknowledgedUntil } }
    const text = `The acknowledgement by ${row.acknowledgedBy?.name ?? row.acknowledgedBy?.id ?? 'somebody'} ended.`
    const { incident, jobs } = await giveBack(tx, hub, row, { kind: 'acknowledgement_expired', at: row.acknowledgedUntil, text })
    return {
      result: undefined,
      jobs,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'incident.unacknowledge',
          actor: systemActor(endKind),
          context: jobContext,
          targets: [incidentTarget(row)],
          before: edited(row),
          after: edited(incident),
          reason: text,
        },
      ],
    }
  },
}
