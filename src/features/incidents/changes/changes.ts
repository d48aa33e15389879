import { eq } from 'drizzle-orm'
import { auditActions } from '../../audit-actions'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { EventData } from '../../../core/event-kinds'
import { eventKind } from '../../event-kinds'
import { changeRelations, type ChangeRelation, type IncidentChangeView } from './shapes'
import { affectsHost, hostOf, isAtOrBelow } from './host'
import { findRow } from '../../../core/rows'
import { incidentRows } from '../incidents'
import { oneLine } from '../outages/evidence'
import type { IncidentRow } from '../outages/outage'
import type { IncidentView } from '../shapes'
import { incidentSubjects } from '../tables'
import { incidentViewOf } from '../view'
import { auditWithin, eventsWithin, type AuditRow, type EventRow } from './sources'

const defaultWindowSeconds = 86_400
const maxSuspects = 5
const maxRecords = 10
// Changes made outside Bailiwick are only detected the next time the provider is read.
const detectionDelayMs = 3600_000
// The audit event and the event of one change are written in the same transaction.
const sameChangeMs = 50

/**
 * Lists the changes made before an incident started, as far as the caller may read them: related changes first, then by time, latest
 * first.
 * @throws Problem 404
 */
export async function changesBefore(
  ctx: Ctx,
  id: string,
  { limit = 25, window_seconds = defaultWindowSeconds }: { limit?: number; window_seconds?: number },
): Promise<{ data: IncidentChangeView[]; truncated: boolean }> {
  const found = await changesOf(ctx, await findRow(ctx.hub.read, ctx, incidentRows, id), window_seconds * 1000)
  return { data: found.slice(0, limit), truncated: found.length > limit }
}

/** @throws Problem 404 */
export async function getIncident(ctx: Ctx, id: string, include?: 'suspects'): Promise<IncidentView> {
  const row = await findRow(ctx.hub.read, ctx, incidentRows, id)
  const view = await incidentViewOf(ctx.hub.read, row, ctx.hub.clock.now())
  return include ? { ...view, suspects: await suspectsOf(ctx, row) } : view
}

/** Up to five related changes of the day before the incident. */
const suspectsOf = async (ctx: Ctx, incident: IncidentRow): Promise<IncidentChangeView[]> =>
  (await changesOf(ctx, incident, defaultWindowSeconds * 1000)).filter(one => one.relation !== 'none').slice(0, maxSuspects)

/** What a change is compared with to find out how it is related to the incident. */
interface Scope {
  ids: ReadonlySet<string>
  hosts: readonly string[]
  tags: ReadonlySet<string>
  /** Ids of monitors and heartbeats that share a tag. */
  sharingTag: ReadonlySet<string>
}

async function changesOf(ctx: Ctx, incident: IncidentRow, windowMs: number): Promise<IncidentChangeView[]> {
  const [from, to] = [incident.startedAt - windowMs, incident.startedAt]
  const eventRows = (await eventsWithin(ctx, from, to + detectionDelayMs)).filter(row => row.occurredAt <= to || isExternal(row))
  const auditRows = (await auditWithin(ctx, from, to)).filter(isChange)
  const scope = await scopeOf(ctx, incident, auditRows)
  const changes = [
    ...eventRows.map(row => fromEvent(row, scope, incident)),
    ...auditRows.filter(row => !eventRows.some(event => isSame(event, row))).map(row => fromAudit(row, scope, incident)),
  ]
  const rank = ({ relation }: IncidentChangeView) => changeRelations.indexOf(relation)
  return changes.sort((a, b) => rank(a) - rank(b) || a.seconds_before - b.seconds_before || (a.id < b.id ? 1 : -1))
}

async function scopeOf(ctx: Ctx, incident: IncidentRow, auditRows: readonly AuditRow[]): Promise<Scope> {
  const rows = await ctx.hub.read.select().from(incidentSubjects).where(eq(incidentSubjects.incidentId, incident.id))
  const tags = new Set(rows.flatMap(row => row.tags))
  const subjectIds = [...new Set(auditRows.map(row => row.targetId).filter(id => /^(mon|hb)_/.test(id)))]
  const others = tags.size === 0 ? [] : await ctx.hub.findSubjects(ctx.hub.read, ctx.workspaceId, subjectIds)
  return {
    ids: new Set(rows.map(row => row.subjectId)),
    hosts: rows.flatMap(row => (row.target === null ? [] : (hostOf(row.target) ?? []))),
    tags,
    sharingTag: new Set(others.filter(one => one.tags.some(tag => tags.has(tag))).map(one => one.id)),
  }
}

type RecordChange = EventData<'dns.records_changed'>

const dataOf = (row: EventRow): Record<string, unknown> => (JSON.parse(row.body) as { data: Record<string, unknown> }).data
const isRecordChange = (row: EventRow): boolean => row.kind === 'dns.records_changed'
const isExternal = (row: EventRow): boolean => isRecordChange(row) && dataOf(row).origin === 'external'

// Actions that can't affect what is monitored: read-only actions, status changes, sign-ins and membership.
const ignoredActions = [
  'incident.',
  'account.session.',
  'account.notice.',
  'account.resource.',
  'account.secrets.',
  'account.action.',
  'account.invitation.',
  'account.member.',
  'account.audit_stream.',
  'account.token.use',
  'dns.zone.refresh',
  'dns.zone.block',
  'dns.zone.unblock',
  'dns.provider.check',
  'dns.plan.create',
  'dns.template.preview',
  'heartbeat.ping',
  'heartbeat.activate',
  'heartbeat.miss',
  'heartbeat.fail',
  'heartbeat.recover',
  'monitor.check',
]

const isChange = ({ actorType, action }: AuditRow): boolean =>
  actorType !== 'system' && !/\.(bulk|test)$/.test(action) && !ignoredActions.some(prefix => action.startsWith(prefix))

/** Whether an audit event and an event describe the same change. The event has more detail. */
const isSame = (event: EventRow, row: AuditRow): boolean =>
  isRecordChange(event) && row.action.startsWith('dns.') && Math.abs(event.occurredAt - row.occurredAt) <= sameChangeMs

function fromEvent(row: EventRow, scope: Scope, incident: IncidentRow): IncidentChangeView {
  const common = {
    id: row.id,
    source: 'event' as const,
    kind: row.kind,
    ...timesOf(row.occurredAt, incident),
    changes: null,
  }
  if (!isRecordChange(row)) {
    const relation = scope.ids.has(row.resourceId) ? 'subject' : row.kind === 'deployment.finished' ? 'deployment' : 'none'
    const resource = { type: row.resourceType, id: row.resourceId, name: null }
    return { ...common, relation, summary: `${eventKind(row.kind)!.title}.`, actor: null, resource, records: [] }
  }
  const data = dataOf(row) as unknown as RecordChange
  const resolving = data.changes.filter(one => scope.hosts.some(host => affectsHost(host, one)))
  const records = [...resolving, ...data.changes.filter(one => !resolving.includes(one))].slice(0, maxRecords)
  return {
    ...common,
    relation: resolving.length > 0 ? 'name' : containsHost(scope, data.zone.name) ? 'zone' : 'none',
    summary: summaryOf(records, data.change_count),
    actor: data.actor,
    resource: { type: 'zone', id: data.zone.id, name: data.zone.name },
    records: records.map(({ action, type, fqdn, before, after }) => ({ action, type, fqdn, before, after })),
  }
}

function fromAudit(row: AuditRow, scope: Scope, incident: IncidentRow): IncidentChangeView {
  const [resource = null] = row.targets
  const title = titles.get(row.action) ?? `${row.action}.`
  return {
    id: row.id,
    source: 'audit',
    kind: row.action,
    ...timesOf(row.occurredAt, incident),
    relation: relationOf(row, scope),
    summary: oneLine(resource?.name ? `${resource.name}: ${title}` : title),
    actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
    resource,
    records: [],
    changes: row.changes,
  }
}

function relationOf(row: AuditRow, scope: Scope): ChangeRelation {
  if (row.targets.some(one => scope.ids.has(one.id))) return 'subject'
  const names = row.targets.flatMap(one => (one.name === null ? [] : [{ type: one.type, name: one.name.split(' ') }]))
  const affects = names.some(
    ({ type, name: [fqdn = '', recordType = ''] }) =>
      type === 'record' && scope.hosts.some(host => affectsHost(host, { fqdn, type: recordType })),
  )
  const zone = names.some(({ type, name: [name = ''] }) => type === 'zone' && containsHost(scope, name))
  if (affects || (zone && row.action === 'dns.zone.delete')) return 'name'
  if (zone) return 'zone'
  return row.targets.some(one => scope.sharingTag.has(one.id)) ? 'tag' : 'none'
}

const containsHost = (scope: Scope, zone: string): boolean => scope.hosts.some(host => isAtOrBelow(host, zone.toLowerCase()))

const titles: ReadonlyMap<string, string> = new Map(auditActions.map(one => [one.action, one.description]))

const timesOf = (at: number, incident: IncidentRow) => ({
  at: instant(at),
  seconds_before: Math.floor((incident.startedAt - at) / 1000),
})

function summaryOf(records: readonly RecordChange['changes'][number][], count: number): string {
  const [first] = records
  if (!first) return 'Records changed'
  const { type, fqdn, before, after } = first
  const what =
    before && after
      ? before.content === after.content
        ? `TTL of ${before.content} changed to ${after.ttl} s`
        : `changed from ${before.content} to ${after.content}`
      : after
        ? `${after.content} added`
        : `${before?.content ?? ''} deleted`
  const more = count > 1 ? `, and ${count - 1} more` : ''
  return oneLine(`${type} ${fqdn}: ${what}${more}`)
}
