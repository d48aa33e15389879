import { desc, eq } from 'drizzle-orm'
import { target } from '../../../core/audit'
import type { AuditAction } from '../../../core/audit-actions'
import { jobContext, systemActor, type EventDraft } from '../../../core/change'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { durationOf } from '../../incidents/fact'
import type { IncidentRow } from '../../incidents/outage'
import {
  addAffected,
  incidentFact,
  openIncident,
  resolveIncident,
  type Drafts,
  type Outage,
  type Subject,
} from '../../incidents/outages'
import type { Follow, MonitorStatus } from '../verdict/input'
import { tell } from '../../notifications/tell'
import { mostDeep } from '../relations'
import { monitors, monitorTransitions } from '../tables'
import { monitorFact } from '../view'
import type { Step } from './judged'
import type { Kept } from './roster'

/** What one judgement leaves for the door to report, and for the engine to do. */
export interface Consequences extends Pick<Drafts, 'events' | 'jobs' | 'audits' | 'notices' | 'wakes'> {
  /** Monitors that are to be checked at once. */
  asks: string[]
}

/**
 * Writes what follows from a judgement, inside the transaction that writes the judgement itself.
 * @param affected those that are down because of this one, of which nobody was told
 */
export async function consequencesOf(tx: Tx, hub: Hub, kept: Kept, step: Step, affected: readonly Kept[]): Promise<Consequences> {
  const told: Consequences = { events: [], jobs: [], audits: [], notices: [], wakes: [], asks: [] }
  let incident: IncidentRow | null = null
  for (const follow of step.follows) {
    const own = await follows(tx, hub, kept, step, follow, affected)
    incident = own.incident ?? incident
    told.asks.push(...(own.asks ?? []))
    for (const list of ['events', 'jobs', 'audits', 'notices', 'wakes'] as const)
      (told[list] as unknown[]).push(...(own[list] ?? []))
  }
  const { transition } = step
  if (transition) {
    const { from, to, since, reason } = transition
    await tx.insert(monitorTransitions).values({
      id: newId('mtr'),
      monitorId: kept.id,
      at: Math.max(since, kept.statusSince),
      from,
      to,
      reason,
      incidentId: incident?.id ?? null,
    })
    told.audits.push(audited(kept, actionOf(from, to), { status: from }, { status: to }, reason))
  } else if (incident) await bindToLast(tx, kept, incident)
  return told
}

/** What was held back when the status changed is told later: the change that led to it gets its incident then. */
async function bindToLast(tx: Tx, kept: Kept, incident: IncidentRow): Promise<void> {
  const [last] = await tx
    .select({ id: monitorTransitions.id, to: monitorTransitions.to, incidentId: monitorTransitions.incidentId })
    .from(monitorTransitions)
    .where(eq(monitorTransitions.monitorId, kept.id))
    .orderBy(desc(monitorTransitions.at), desc(monitorTransitions.id))
    .limit(1)
  if (!last || last.incidentId !== null || (last.to !== 'down' && last.to !== 'degraded')) return
  await tx.update(monitorTransitions).set({ incidentId: incident.id }).where(eq(monitorTransitions.id, last.id))
}

type Followed = Partial<Consequences> & { incident?: IncidentRow | null }

async function follows(tx: Tx, hub: Hub, kept: Kept, step: Step, follow: Follow, affected: readonly Kept[]): Promise<Followed> {
  switch (follow.kind) {
    case 'alert':
    case 'degraded':
      return await alarm(tx, hub, kept, step, follow, affected)
    case 'eased':
      return await openIncident(tx, hub, outageOf(kept, step, 'monitor.degraded', { ...follow, confirmedAt: follow.at }))
    case 'recovered':
      return await recovery(tx, hub, kept, step, follow)
    case 'affected':
      return await addAffected(tx, hub, {
        parentSubject: await originOf(tx, follow.by),
        subject: subjectOf(kept),
        at: follow.startedAt,
      })
    case 'flapping_began':
    case 'flapping_ended':
      return await flapping(tx, hub, kept, step, follow)
    case 'ask':
    case 'recheck':
      return { asks: [kept.id] }
    case 'ask_parents':
      return { asks: follow.parents }
  }
}

/** Whose outage that of a monitor is, where that one is itself down because of another: the one that people are told of. */
async function originOf(tx: Tx, id: string): Promise<string> {
  let origin = id
  // No longer than monitors may stand one behind the other.
  for (let depth = 0; depth < mostDeep; depth++) {
    const [row] = await tx.select({ state: monitors.state }).from(monitors).where(eq(monitors.id, origin))
    const outage = row?.state.outage
    if (!outage?.affectedBy || outage.told) break
    origin = outage.affectedBy
  }
  return origin
}

type Alarm = Follow & { kind: 'alert' | 'degraded' }

async function alarm(tx: Tx, hub: Hub, kept: Kept, step: Step, follow: Alarm, affected: readonly Kept[]): Promise<Followed> {
  const isDown = follow.kind === 'alert'
  const kind = isDown ? 'monitor.down' : 'monitor.degraded'
  const opened = await openIncident(tx, hub, outageOf(kept, step, kind, follow))
  // They were found to be down while there was no incident yet.
  for (const one of affected)
    await addAffected(tx, hub, { parentSubject: kept.id, subject: subjectOf(one), at: follow.confirmedAt })
  const event = {
    ...aboutOf(kept, follow.confirmedAt),
    kind: 'monitor.alert',
    data: { kind, status: isDown ? 'down' : 'degraded', ...dataOf(kept, step, follow.reason, opened.incident) },
  }
  return { ...opened, events: [...opened.events, event as EventDraft] }
}

function outageOf(
  kept: Kept,
  step: Step,
  kind: 'monitor.down' | 'monitor.degraded',
  found: Pick<Alarm, 'reason' | 'startedAt' | 'confirmedAt' | 'locations'>,
): Outage {
  return {
    workspaceId: kept.workspaceId,
    subject: subjectOf(kept),
    kind,
    // What still answers calls nobody out of bed.
    severity: kind === 'monitor.degraded' && kept.severity === 'critical' ? 'warning' : kept.severity,
    startedAt: found.startedAt,
    confirmedAt: found.confirmedAt,
    cause: found.reason,
    locations: found.locations,
    evidence: step.found.result?.evidence ?? kept.lastBad?.evidence ?? null,
    channelIds: kept.channelIds,
    link: null,
  }
}

async function recovery(tx: Tx, hub: Hub, kept: Kept, step: Step, follow: Follow & { kind: 'recovered' }): Promise<Followed> {
  const at = step.transition?.since ?? step.found.at
  const resolved = await resolveIncident(tx, hub, { subject: kept.id, at, reason: follow.because, text: follow.reason })
  if (follow.because !== 'recovered') return resolved
  const downMs = resolved.incident ? durationOf(resolved.incident, at) : at - follow.startedAt
  const event = {
    ...aboutOf(kept, at),
    kind: 'monitor.recovered',
    data: {
      kind: 'monitor.recovered',
      status: 'up',
      ...dataOf(kept, step, follow.reason, resolved.incident),
      downtime_seconds: Math.max(0, Math.round(downMs / 1000)),
    },
  }
  return { ...resolved, events: [...resolved.events, event as EventDraft] }
}

async function flapping(
  tx: Tx,
  hub: Hub,
  kept: Kept,
  step: Step,
  follow: Follow & { kind: 'flapping_began' | 'flapping_ended' },
): Promise<Followed> {
  const began = follow.kind === 'flapping_began'
  const share = `${Math.round(follow.score * 100)} %`
  const text = began
    ? `It changed in ${share} of its last verdicts, the latest counting most. Until it rests, its changes are not told one by one.`
    : `It changed in ${share} of its last verdicts, and its changes are told again.`
  const { jobs } = await tell(tx, hub, {
    workspaceId: kept.workspaceId,
    channelIds: kept.channelIds,
    message: {
      kind: 'monitor.flapping',
      state: 'information',
      severity: began ? 'warning' : 'info',
      title: began ? `${kept.name} keeps going up and down` : `${kept.name} has come to rest`,
      text,
      facts: [
        ['Monitor', kept.name],
        ['Status', step.after],
      ],
      link: null,
      acknowledgeLink: null,
      thread: `flapping ${kept.id}`,
      resource: target('monitor', kept),
      tags: kept.tags,
      occurredAt: step.found.at,
    },
  })
  const action = began ? 'monitor.flap' : 'monitor.rest'
  return { jobs, audits: [audited(kept, action, { flapping: !began }, { flapping: began }, text)] }
}

const aboutOf = (kept: Kept, occurredAt: number) => ({
  workspaceId: kept.workspaceId,
  resource: { type: 'monitor', id: kept.id },
  occurredAt,
})

const dataOf = (kept: Kept, step: Step, reason: string, incident: IncidentRow | null) => ({
  previous_status: step.before,
  reason,
  monitor: monitorFact(kept, kept.lastCheckAt),
  heartbeat: null,
  probe: null,
  incident: incident && incidentFact(incident),
})

const subjectOf = (kept: Kept): Subject => ({
  type: 'monitor',
  id: kept.id,
  name: kept.name,
  tags: kept.tags,
  target: kept.target || null,
})

const audited = (kept: Kept, action: AuditAction, before: object, after: object, reason: string): Drafts['audits'][number] => ({
  workspaceId: kept.workspaceId,
  action,
  actor: systemActor('monitors'),
  context: jobContext,
  targets: [target('monitor', kept)],
  before,
  after,
  reason,
})

function actionOf(from: MonitorStatus, to: MonitorStatus): AuditAction {
  if (to === 'maintenance') return 'monitor.shelter'
  if (from === 'maintenance') return 'monitor.unshelter'
  if (to === 'down') return 'monitor.fail'
  if (to === 'degraded') return 'monitor.degrade'
  if (to === 'unknown') return 'monitor.lose'
  return from === 'down' || from === 'degraded' ? 'monitor.recover' : 'monitor.begin'
}
