import { Type } from '@sinclair/typebox'
import { and, count, eq, ne, sql } from 'drizzle-orm'
import { memberships } from '../../access/tables'
import { target } from '../../core/audit'
import { change, isAlready } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, textFilter, timeFilters, wordsFilter, type Filter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { severities } from '../../core/notices'
import { conflict, invalid, notFound } from '../../core/problem'
import { Tag, type Page } from '../../core/shapes'
import { refuseUnknownChannels } from '../notifications/known-channels'
import { doerOf } from './doer'
import { tellOf } from './messages'
import type { IncidentRow } from './outage'
import { write } from './rows'
import type { IncidentInput, IncidentPatch, IncidentView } from './shapes'
import { findSubjects } from './subjects'
import { incidentKinds, incidents, incidentStatuses, incidentSubjects } from './tables'
import { addSubject, addUpdate } from './timeline'
import { edited, incidentViews, viewOf } from './view'

const mostManual = 500

const about = (description: string): Filter => ({
  schema: Type.String({ maxLength: 100, description }),
  where: (value, place) =>
    sql`exists (select 1 from ${incidentSubjects} where ${incidentSubjects.incidentId} = ${incidents.id}
      and ${incidentSubjects.subjectId} = ${place(value)})`,
})

const moment = (description: string, where: Filter['where']): Filter => ({
  schema: Type.String({ format: 'date-time', description }),
  where,
})

export const incidentListing: Listing<IncidentRow> = {
  name: 'incidents',
  table: incidents as never,
  id: incidents.id,
  idOf: row => row.id,
  owner: incidents.workspaceId,
  defaultSort: '-id',
  narrowedBy: incidents.subjectId,
  filters: {
    status: wordsFilter(incidents.status, incidentStatuses, 'Only these statuses.'),
    severity: wordsFilter(incidents.severity, severities, 'Only those that are this grave.'),
    kind: wordsFilter(incidents.kind, incidentKinds, 'Only these kinds.'),
    monitor: about('Only those about the monitor with this id.'),
    heartbeat: about('Only those about the heartbeat with this id.'),
    tag: {
      schema: Type.String({ ...Tag, description: 'Only those about something that had this tag.' }),
      where: (value, place) =>
        sql`exists (select 1 from ${incidentSubjects} where ${incidentSubjects.incidentId} = ${incidents.id}
          and ${incidentSubjects.tags} like ${place(`%"${(value as string).replaceAll('_', '\\_')}"%`)} escape '\\')`,
    },
    assignee_id: textFilter(incidents.assigneeId, 'Only those this member sees to.', { maxLength: 100 }),
    from: moment(
      'Only those that were unresolved at this time or later.',
      (value, place) =>
        sql`(${incidents.resolvedAt} is null or ${incidents.resolvedAt} >= ${place(Date.parse(value as string))})`,
    ),
    to: moment(
      'Only those that had begun by this time.',
      (value, place) => sql`${incidents.startedAt} <= ${place(Date.parse(value as string))}`,
    ),
    q: searchFilter([incidents.title, incidents.cause], 'Only those whose title or cause holds this text.'),
    ...timeFilters('started_at', incidents.startedAt),
  },
  sorts: {
    started_at: { column: incidents.startedAt, read: row => row.startedAt },
    updated_at: { column: incidents.updatedAt, read: row => row.updatedAt },
  },
}

export async function listIncidents(ctx: Ctx, query: Record<string, unknown>): Promise<Page<IncidentView>> {
  const page = await listPage(ctx, incidentListing, query, row => row)
  return { ...page, data: await incidentViews(ctx.hub.read, page.data, ctx.hub.clock.now()) }
}

/** Opens an incident by hand. @throws Problem 422, 409 where too many of them are unresolved */
export async function createIncident(ctx: Ctx, input: IncidentInput): Promise<IncidentView> {
  return await change(ctx, 'incident.create', async tx => {
    const now = ctx.hub.clock.now()
    const startedAt = input.started_at === undefined ? now : Date.parse(input.started_at)
    if (startedAt > now) throw invalid([{ pointer: '#/started_at', code: 'maximum', detail: 'must not be in the future.' }])
    const assigneeId = await memberAmong(tx, ctx, input.assignee_id ?? null)
    await refuseUnknownChannels(tx, ctx.workspaceId, input.channel_ids ?? null)
    const subjects = await subjectsOf(tx, ctx, input.affected ?? [])
    const [unresolved] = await tx
      .select({ n: count() })
      .from(incidents)
      .where(and(eq(incidents.workspaceId, ctx.workspaceId), eq(incidents.kind, 'manual'), ne(incidents.status, 'resolved')))
    if (unresolved!.n >= mostManual)
      throw conflict(`${mostManual} incidents that were opened by hand are unresolved. Resolve some of them first.`)
    const [row] = await tx
      .insert(incidents)
      .values({
        id: newId('inc'),
        workspaceId: ctx.workspaceId,
        kind: 'manual',
        title: input.title,
        status: 'open',
        severity: input.severity ?? 'warning',
        cause: input.cause ?? input.title,
        locations: [],
        channelIds: input.channel_ids ?? null,
        startedAt,
        confirmedAt: now,
        awaitsRecovery: false,
        restedMs: 0,
        reopenings: 0,
        assigneeId,
        notes: input.notes ?? '',
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    for (const subject of subjects) await addSubject(tx, row!, subject, 'affected', now)
    const details = { kind: 'manual', severity: row!.severity }
    await addUpdate(tx, row!, { kind: 'opened', at: now, text: row!.cause, actor: doerOf(ctx), details })
    const { jobs } = await tellOf(tx, ctx.hub, row!, 'opened', { at: now, text: row!.cause })
    return { result: await viewOf(tx, row!, now), target: incidentTarget(row!), after: edited(row!), jobs }
  })
}

/** @throws Problem 404, 412, 422 */
export async function updateIncident(ctx: Ctx, id: string, patch: IncidentPatch): Promise<IncidentView> {
  return await change(ctx, 'incident.update', async tx => {
    const row = await incidentOf(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    const set = {
      title: patch.title,
      severity: patch.severity,
      assigneeId: patch.assignee_id === undefined ? undefined : await memberAmong(tx, ctx, patch.assignee_id),
      notes: patch.notes === null ? '' : patch.notes,
    }
    const named = incidentTarget(row)
    if (isAlready(row, set)) return { result: await viewOf(tx, row, now), target: named, unchanged: true }
    const after = await write(tx, ctx.hub, row, set)
    const members = Object.keys(patch).filter(name => !isAlready(row, { [columns[name]!]: after[columns[name]!] }))
    const text = `${members.map(name => words[name]).join(', ')} changed.`
    await addUpdate(tx, row, { kind: 'edited', at: now, actor: doerOf(ctx), text: capital(text), details: { members } })
    return { result: await viewOf(tx, after, now), target: named, before: edited(row), after: edited(after) }
  })
}

const columns: Record<string, keyof IncidentRow> = {
  title: 'title',
  severity: 'severity',
  assignee_id: 'assigneeId',
  notes: 'notes',
}
const words: Record<string, string> = { title: 'title', severity: 'severity', assignee_id: 'assignee', notes: 'notes' }
const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)

/** An incident of the workspace; within a change it is held until the change is done. @throws Problem 404 */
export async function incidentOf(read: Reader, ctx: Ctx, id: string): Promise<IncidentRow> {
  const found = read
    .select()
    .from(incidents)
    .where(and(eq(incidents.id, id), eq(incidents.workspaceId, ctx.workspaceId)))
  const [row] = await (read === ctx.hub.read ? found : locking(found))
  if (!row || !reaches(ctx, row.subjectId)) throw notFound('incident')
  return row
}

export const incidentTarget = (row: IncidentRow) => target('incident', { id: row.id, name: row.title })

async function memberAmong(tx: Tx, ctx: Ctx, userId: string | null): Promise<string | null> {
  if (userId === null) return null
  const [row] = await tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, ctx.workspaceId), eq(memberships.userId, userId)))
  if (!row) throw invalid([{ pointer: '#/assignee_id', code: 'unknown', detail: 'names no member of the workspace.' }])
  return row.id
}

async function subjectsOf(tx: Tx, ctx: Ctx, ids: readonly string[]) {
  const found = new Map((await findSubjects(tx, ctx.workspaceId, ids)).map(one => [one.id, one]))
  const missing = ids.flatMap((id, place) =>
    found.has(id)
      ? []
      : [{ pointer: `#/affected/${place}`, code: 'unknown', detail: 'names no monitor or heartbeat of the workspace.' }],
  )
  if (missing.length > 0) throw invalid(missing)
  return ids.map(id => found.get(id)!)
}
