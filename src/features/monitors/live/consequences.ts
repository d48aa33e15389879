import { desc, eq } from 'drizzle-orm'
import { target } from '../../../core/audit'
import type { AuditAction } from '../../../core/audit-actions'
import { jobContext, systemActor } from '../../../core/change'
import type { EventDraft } from '../../../core/change-result'
import { insertRows } from '../../../core/db/insert-rows'
import { batched } from '../../../core/db/together'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { maskedAddress } from '../../../core/net/masked-address'
import { durationOf } from '../../incidents/outages/event-data'
import type { IncidentRow } from '../../incidents/outages/outage'
import {
  addAffected,
  incidentEventData,
  openIncident,
  resolveIncident,
  type Drafts,
  type Outage,
  type Subject,
} from '../../incidents/outages/outages'
import type { FollowUp, MonitorStatus } from '../verdict/input'
import { notify } from '../../notifications/delivery/notify'
import { addressFact } from '../../notifications/message'
import { maxDepth } from '../relations'
import { monitors, monitorTransitions } from '../tables'
import { monitorFact } from '../view'
import type { Step } from './judged'
import type { LoadedMonitor } from './roster'

/** The drafts to write and the checks to run after a judgment. */
export interface Consequences extends Pick<Drafts, 'events' | 'jobs' | 'audits' | 'notices' | 'wakes'> {
  /** Monitors to check immediately. */
  checks: string[]
}

/**
 * Writes the consequences of a judgment, in the same transaction as the judgment itself.
 * @param affected monitors that are down because of this one and were not reported
 */
export async function consequencesOf(
  tx: Tx,
  hub: Hub,
  monitor: LoadedMonitor,
  step: Step,
  affected: readonly LoadedMonitor[],
): Promise<Consequences> {
  const all: Consequences = { events: [], jobs: [], audits: [], notices: [], wakes: [], checks: [] }
  let incident: IncidentRow | null = null
  for (const followUp of step.followUps) {
    const own = await carryOut(tx, hub, monitor, step, followUp, affected)
    incident = own.incident ?? incident
    all.checks.push(...(own.checks ?? []))
    for (const list of ['events', 'jobs', 'audits', 'notices', 'wakes'] as const)
      (all[list] as unknown[]).push(...(own[list] ?? []))
  }
  const { transition } = step
  if (transition) {
    const { from, to, since, reason } = transition
    await insertTransition(tx, {
      id: newId('mtr'),
      monitorId: monitor.id,
      at: Math.max(since, monitor.statusSince),
      from,
      to,
      reason,
      incidentId: incident?.id ?? null,
    })
    all.audits.push(audited(monitor, actionOf(from, to), { status: from }, { status: to }, reason))
  } else if (incident) await bindToLast(tx, monitor, incident)
  return all
}

const insertTransition = batched('monitor-transition', async (tx, rows: readonly (typeof monitorTransitions.$inferInsert)[]) => {
  await insertRows(tx, monitorTransitions, rows)
  return rows
})

/** Whether the consequences of a step depend on those of other monitors in the same batch. */
export const dependsOnOthers = ({ followUps }: Step): boolean => followUps.some(one => one.kind === 'affected')

/** If an alert was suppressed at first, links the earlier status change to the incident now. */
async function bindToLast(tx: Tx, monitor: LoadedMonitor, incident: IncidentRow): Promise<void> {
  const [last] = await tx
    .select({ id: monitorTransitions.id, to: monitorTransitions.to, incidentId: monitorTransitions.incidentId })
    .from(monitorTransitions)
    .where(eq(monitorTransitions.monitorId, monitor.id))
    .orderBy(desc(monitorTransitions.at), desc(monitorTransitions.id))
    .limit(1)
  if (!last || last.incidentId !== null || (last.to !== 'down' && last.to !== 'degraded')) return
  await tx.update(monitorTransitions).set({ incidentId: incident.id }).where(eq(monitorTransitions.id, last.id))
}

type Outcome = Partial<Consequences> & { incident?: IncidentRow | null }

async function carryOut(
  tx: Tx,
  hub: Hub,
  monitor: LoadedMonitor,
  step: Step,
  followUp: FollowUp,
  affected: readonly LoadedMonitor[],
): Promise<Outcome> {
  switch (followUp.kind) {
    case 'alert':
    case 'degraded':
      return await alarm(tx, hub, monitor, step, followUp, affected)
    case 'improved':
      return await openIncident(tx, hub, outageOf(monitor, step, 'monitor.degraded', { ...followUp, confirmedAt: followUp.at }))
    case 'recovered':
      return await recovery(tx, hub, monitor, step, followUp)
    case 'affected':
      return await addAffected(tx, hub, {
        parentSubject: await originOf(tx, followUp.by),
        subject: subjectOf(monitor),
        at: followUp.startedAt,
      })
    case 'flapping_started':
    case 'flapping_stopped':
      return await flapping(tx, hub, monitor, step, followUp)
    case 'check_locations':
    case 'recheck':
      return { checks: [monitor.id] }
    case 'check_parents':
      return { checks: followUp.parents }
  }
}

/** The monitor at the root of a chain of affected monitors: the one whose outage is reported. */
async function originOf(tx: Tx, id: string): Promise<string> {
  let origin = id
  // Bounded by the longest allowed chain of dependencies.
  for (let depth = 0; depth < maxDepth; depth++) {
    const [row] = await tx.select({ state: monitors.state }).from(monitors).where(eq(monitors.id, origin))
    const outage = row?.state.outage
    if (!outage?.affectedBy || outage.notified) break
    origin = outage.affectedBy
  }
  return origin
}

type Alarm = FollowUp & { kind: 'alert' | 'degraded' }

async function alarm(
  tx: Tx,
  hub: Hub,
  monitor: LoadedMonitor,
  step: Step,
  followUp: Alarm,
  affected: readonly LoadedMonitor[],
): Promise<Outcome> {
  const isDown = followUp.kind === 'alert'
  const kind = isDown ? 'monitor.down' : 'monitor.degraded'
  const opened = await openIncident(tx, hub, outageOf(monitor, step, kind, followUp))
  // They went down before there was an incident to list them on.
  for (const one of affected)
    await addAffected(tx, hub, { parentSubject: monitor.id, subject: subjectOf(one), at: followUp.confirmedAt })
  const event = {
    ...aboutOf(monitor, followUp.confirmedAt),
    kind: 'monitor.alert',
    data: { kind, status: isDown ? 'down' : 'degraded', ...dataOf(monitor, step, followUp.reason, opened.incident) },
  }
  return { ...opened, events: [...opened.events, event as EventDraft] }
}

function outageOf(
  monitor: LoadedMonitor,
  step: Step,
  kind: 'monitor.down' | 'monitor.degraded',
  found: Pick<Alarm, 'reason' | 'startedAt' | 'confirmedAt' | 'locations'>,
): Outage {
  return {
    workspaceId: monitor.workspaceId,
    subject: subjectOf(monitor),
    kind,
    // A degraded service is never critical.
    severity: kind === 'monitor.degraded' && monitor.severity === 'critical' ? 'warning' : monitor.severity,
    startedAt: found.startedAt,
    confirmedAt: found.confirmedAt,
    cause: found.reason,
    locations: found.locations,
    evidence: evidenceOf(monitor, step),
    channelIds: monitor.channelIds,
    link: null,
  }
}

/** Request and response, or else the conditions that were true: monitors of servers send no requests. */
function evidenceOf({ lastBad }: LoadedMonitor, { found: { result } }: Step): Outage['evidence'] {
  const conditions = (result ?? lastBad)?.conditions.map(one => one.found) ?? []
  return result?.evidence ?? lastBad?.evidence ?? (conditions.length > 0 ? { conditions } : null)
}

async function recovery(
  tx: Tx,
  hub: Hub,
  monitor: LoadedMonitor,
  step: Step,
  followUp: FollowUp & { kind: 'recovered' },
): Promise<Outcome> {
  const at = step.transition?.since ?? step.found.at
  const resolved = await resolveIncident(tx, hub, { subject: monitor.id, at, reason: followUp.resolution, text: followUp.reason })
  if (followUp.resolution !== 'recovered') return resolved
  const downMs = resolved.incident ? durationOf(resolved.incident, at) : at - followUp.startedAt
  const event = {
    ...aboutOf(monitor, at),
    kind: 'monitor.recovered',
    data: {
      kind: 'monitor.recovered',
      status: 'up',
      ...dataOf(monitor, step, followUp.reason, resolved.incident),
      downtime_seconds: Math.max(0, Math.round(downMs / 1000)),
    },
  }
  return { ...resolved, events: [...resolved.events, event as EventDraft] }
}

async function flapping(
  tx: Tx,
  hub: Hub,
  monitor: LoadedMonitor,
  step: Step,
  followUp: FollowUp & { kind: 'flapping_started' | 'flapping_stopped' },
): Promise<Outcome> {
  const isStart = followUp.kind === 'flapping_started'
  const share = `${Math.round(followUp.score * 100)}%`
  const text = isStart
    ? `The status changed in ${share} of recent checks (weighted). Individual changes are not reported until it is stable again.`
    : `The status changed in ${share} of recent checks (weighted). Changes are reported again.`
  const { jobs } = await notify(tx, hub, {
    workspaceId: monitor.workspaceId,
    channelIds: monitor.channelIds,
    message: {
      kind: 'monitor.flapping',
      state: 'information',
      severity: isStart ? 'warning' : 'info',
      title: isStart ? `${monitor.name} is flapping` : `${monitor.name} stopped flapping`,
      text,
      facts: [...(monitor.target ? [[addressFact, maskedAddress(monitor.target)] as const] : []), ['Status', step.after]],
      link: `${hub.baseUrl}/monitors/${monitor.id}`,
      acknowledgeLink: null,
      thread: `flapping ${monitor.id}`,
      resource: target('monitor', monitor),
      tags: monitor.tags,
      occurredAt: step.found.at,
    },
  })
  const action = isStart ? 'monitor.flap' : 'monitor.stabilize'
  return { jobs, audits: [audited(monitor, action, { flapping: !isStart }, { flapping: isStart }, text)] }
}

const aboutOf = (monitor: LoadedMonitor, occurredAt: number) => ({
  workspaceId: monitor.workspaceId,
  resource: { type: 'monitor', id: monitor.id },
  occurredAt,
})

const dataOf = (monitor: LoadedMonitor, step: Step, reason: string, incident: IncidentRow | null) => ({
  previous_status: step.before,
  reason,
  monitor: monitorFact(monitor, monitor.lastCheckAt),
  heartbeat: null,
  probe: null,
  incident: incident && incidentEventData(incident),
})

const subjectOf = (monitor: LoadedMonitor): Subject => ({
  type: 'monitor',
  id: monitor.id,
  name: monitor.name,
  tags: monitor.tags,
  target: monitor.target || null,
})

const audited = (
  monitor: LoadedMonitor,
  action: AuditAction,
  before: object,
  after: object,
  reason: string,
): Drafts['audits'][number] => ({
  workspaceId: monitor.workspaceId,
  action,
  actor: systemActor('monitors'),
  context: jobContext,
  targets: [target('monitor', monitor)],
  before,
  after,
  reason,
})

function actionOf(from: MonitorStatus, to: MonitorStatus): AuditAction {
  if (to === 'maintenance') return 'monitor.enter_maintenance'
  if (from === 'maintenance') return 'monitor.leave_maintenance'
  if (to === 'down') return 'monitor.fail'
  if (to === 'degraded') return 'monitor.degrade'
  if (to === 'unknown') return 'monitor.lose_contact'
  return from === 'down' || from === 'degraded' ? 'monitor.recover' : 'monitor.begin'
}
