import { eq } from 'drizzle-orm'
import { auditActions } from '../../core/audit-actions'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { eventKind, type EventData } from '../../core/events'
import { changeRelations, type ChangeRelation, type IncidentChangeView } from './change-shapes'
import { bearsOn, hostOf, isWithin } from './host'
import { incidentOf } from './incidents'
import { oneLine } from './evidence'
import type { IncidentRow } from './outage'
import type { IncidentView } from './shapes'
import { findSubjects } from './subjects'
import { incidentSubjects } from './tables'
import { viewOf } from './view'
import { auditWithin, eventsWithin, type AuditRow, type EventRow } from './written-down'

const defaultWindowSeconds = 86_400
const mostSuspects = 5
const mostRecords = 10
// What others changed at a provider is found when it is read the next time.
const foundLateMs = 3600_000
// An audit entry and the event of the same change are written in one transaction.
const togetherMs = 50

/**
 * What was changed before an incident began, as far as the caller may read it: what has to do with it first, and of that what was
 * last.
 * @throws Problem 404
 */
export async function changesBefore(
  ctx: Ctx,
  id: string,
  { limit = 25, window_seconds = defaultWindowSeconds }: { limit?: number; window_seconds?: number },
): Promise<{ data: IncidentChangeView[]; truncated: boolean }> {
  const found = await changesOf(ctx, await incidentOf(ctx.hub.read, ctx, id), window_seconds * 1000)
  return { data: found.slice(0, limit), truncated: found.length > limit }
}

/** @throws Problem 404 */
export async function getIncident(ctx: Ctx, id: string, include?: 'suspects'): Promise<IncidentView> {
  const row = await incidentOf(ctx.hub.read, ctx, id)
  const view = await viewOf(ctx.hub.read, row, ctx.hub.clock.now())
  return include ? { ...view, suspects: await suspectsOf(ctx, row) } : view
}

/** Of the changes of the day before, up to five that have to do with the incident. */
const suspectsOf = async (ctx: Ctx, incident: IncidentRow): Promise<IncidentChangeView[]> =>
  (await changesOf(ctx, incident, defaultWindowSeconds * 1000)).filter(one => one.relation !== 'none').slice(0, mostSuspects)

/** What an incident is about, for telling what has to do with it. */
interface About {
  ids: ReadonlySet<string>
  hosts: readonly string[]
  tags: ReadonlySet<string>
  /** Ids of monitors and heartbeats that share a tag. */
  alike: ReadonlySet<string>
}

async function changesOf(ctx: Ctx, incident: IncidentRow, windowMs: number): Promise<IncidentChangeView[]> {
  const [from, to] = [incident.startedAt - windowMs, incident.startedAt]
  const told = (await eventsWithin(ctx, from, to + foundLateMs)).filter(row => row.occurredAt <= to || isExternal(row))
  const logged = (await auditWithin(ctx, from, to)).filter(isChange)
  const about = await aboutOf(ctx, incident, logged)
  const changes = [
    ...told.map(row => ofEvent(row, about, incident)),
    ...logged.filter(row => !told.some(event => isSame(event, row))).map(row => ofAudit(row, about, incident)),
  ]
  const rank = ({ relation }: IncidentChangeView) => changeRelations.indexOf(relation)
  return changes.sort((a, b) => rank(a) - rank(b) || a.seconds_before - b.seconds_before || (a.id < b.id ? 1 : -1))
}

async function aboutOf(ctx: Ctx, incident: IncidentRow, logged: readonly AuditRow[]): Promise<About> {
  const rows = await ctx.hub.read.select().from(incidentSubjects).where(eq(incidentSubjects.incidentId, incident.id))
  const tags = new Set(rows.flatMap(row => row.tags))
  const watched = [...new Set(logged.map(row => row.targetId).filter(id => /^(mon|hb)_/.test(id)))]
  const others = tags.size === 0 ? [] : await findSubjects(ctx.hub.read, ctx.workspaceId, watched)
  return {
    ids: new Set(rows.map(row => row.subjectId)),
    hosts: rows.flatMap(row => (row.target === null ? [] : (hostOf(row.target) ?? []))),
    tags,
    alike: new Set(others.filter(one => one.tags.some(tag => tags.has(tag))).map(one => one.id)),
  }
}

type Records = EventData<'dns.records_changed'>

const dataOf = (row: EventRow): Record<string, unknown> => (JSON.parse(row.body) as { data: Record<string, unknown> }).data
const isRecords = (row: EventRow): boolean => row.kind === 'dns.records_changed'
const isExternal = (row: EventRow): boolean => isRecords(row) && dataOf(row).origin === 'external'

// What only looks, what says how something stands, and who came and went: nothing of it changes what is watched.
const noChanges = [
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
  'heartbeat.begin',
  'heartbeat.miss',
  'heartbeat.fail',
  'heartbeat.recover',
  'monitor.check',
]

const isChange = ({ actorType, action }: AuditRow): boolean =>
  actorType !== 'system' && !/\.(bulk|test)$/.test(action) && !noChanges.some(beginning => action.startsWith(beginning))

/** Whether an audit entry tells of the change that an event tells of in more words. */
const isSame = (event: EventRow, row: AuditRow): boolean =>
  isRecords(event) && row.action.startsWith('dns.') && Math.abs(event.occurredAt - row.occurredAt) <= togetherMs

function ofEvent(row: EventRow, about: About, incident: IncidentRow): IncidentChangeView {
  const common = {
    id: row.id,
    source: 'event' as const,
    kind: row.kind,
    ...timesOf(row.occurredAt, incident),
    changes: null,
  }
  if (!isRecords(row)) {
    const relation = about.ids.has(row.resourceId) ? 'subject' : row.kind === 'deployment.finished' ? 'deployment' : 'none'
    const resource = { type: row.resourceType, id: row.resourceId, name: null }
    return { ...common, relation, summary: `${eventKind(row.kind)!.title}.`, actor: null, resource, records: [] }
  }
  const data = dataOf(row) as unknown as Records
  const close = data.changes.filter(one => about.hosts.some(host => bearsOn(host, one)))
  const records = [...close, ...data.changes.filter(one => !close.includes(one))].slice(0, mostRecords)
  return {
    ...common,
    relation: close.length > 0 ? 'name' : holdsName(about, data.zone.name) ? 'zone' : 'none',
    summary: summaryOf(records, data.change_count),
    actor: data.actor,
    resource: { type: 'zone', id: data.zone.id, name: data.zone.name },
    records: records.map(({ action, type, fqdn, before, after }) => ({ action, type, fqdn, before, after })),
  }
}

function ofAudit(row: AuditRow, about: About, incident: IncidentRow): IncidentChangeView {
  const [resource = null] = row.targets
  const title = titles.get(row.action) ?? `${row.action}.`
  return {
    id: row.id,
    source: 'audit',
    kind: row.action,
    ...timesOf(row.occurredAt, incident),
    relation: relationOf(row, about),
    summary: oneLine(resource?.name ? `${resource.name}: ${title}` : title),
    actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
    resource,
    records: [],
    changes: row.changes,
  }
}

function relationOf(row: AuditRow, about: About): ChangeRelation {
  if (row.targets.some(one => about.ids.has(one.id))) return 'subject'
  const names = row.targets.flatMap(one => (one.name === null ? [] : [{ type: one.type, name: one.name.split(' ') }]))
  const bears = names.some(
    ({ type, name: [fqdn = '', recordType = ''] }) =>
      type === 'record' && about.hosts.some(host => bearsOn(host, { fqdn, type: recordType })),
  )
  const zone = names.some(({ type, name: [name = ''] }) => type === 'zone' && holdsName(about, name))
  if (bears || (zone && row.action === 'dns.zone.delete')) return 'name'
  if (zone) return 'zone'
  return row.targets.some(one => about.alike.has(one.id)) ? 'tag' : 'none'
}

const holdsName = (about: About, zone: string): boolean => about.hosts.some(host => isWithin(host, zone.toLowerCase()))

const titles: ReadonlyMap<string, string> = new Map(auditActions.map(one => [one.action, one.description]))

const timesOf = (at: number, incident: IncidentRow) => ({
  at: instant(at),
  seconds_before: Math.floor((incident.startedAt - at) / 1000),
})

function summaryOf(records: readonly Records['changes'][number][], count: number): string {
  const [first] = records
  if (!first) return 'Records changed.'
  const { type, fqdn, before, after } = first
  const what =
    before && after
      ? before.content === after.content
        ? `the TTL of ${before.content} became ${after.ttl} s`
        : `${before.content} became ${after.content}`
      : after
        ? `${after.content} was added`
        : `${before?.content ?? ''} was taken away`
  const more = count > 1 ? `, and ${count - 1} more` : ''
  return oneLine(`${type} ${fqdn}: ${what}${more}`)
}
