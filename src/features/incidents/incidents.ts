import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { and, count, eq, ne, sql } from 'drizzle-orm'
import { memberships } from '../../access/tables'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { isByIdOnly, listingOf, listPage } from '../../core/list'
import type { Filter } from '../../core/listing'
import { searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { inputColumns, memberView, patchColumns } from '../../core/members'
import { severities } from '../../core/notices'
import { conflict, invalid } from '../../core/problem'
import { insertRow, lockRow, saveRow } from '../../core/rows'
import { Tag, type Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { refuseUnknownChannels } from '../notifications/channel-references'
import { actorOf } from './actor'
import { capitalized } from './outages/evidence'
import { notifyIncident } from './outages/messages'
import type { IncidentRow } from './outages/outage'
import {
  incidentKinds,
  incidentMembers,
  incidentStatuses,
  type IncidentInput,
  type IncidentPatch,
  type IncidentView,
} from './shapes'
import { incidents, incidentSubjects } from './tables'
import { addSubject, addUpdate } from './timeline'
import { auditView, incidentViews, incidentViewOf } from './view'

const maxOpenManual = 500

const aboutFilter = (description: string): Filter => ({
  schema: Type.String({ maxLength: 100, description }),
  where: (value, place) =>
    sql`exists (select 1 from ${incidentSubjects} where ${incidentSubjects.incidentId} = ${incidents.id}
      and ${incidentSubjects.subjectId} = ${place(value)})`,
})

const timeFilter = (description: string, where: Filter['where']): Filter => ({
  schema: Type.String({ format: 'date-time', description }),
  where,
})

export const incidentRows = rowsOf('incident', incidents, { label: 'title', accessTo: row => row.subjectId })

export const incidentListing = listingOf('incidents', incidents, {
  accessColumn: incidents.subjectId,
  filters: {
    status: wordsFilter(incidents.status, incidentStatuses, 'Only incidents with these statuses.'),
    severity: wordsFilter(incidents.severity, severities, 'Only incidents with these severities.'),
    kind: wordsFilter(incidents.kind, incidentKinds, 'Only incidents of these kinds.'),
    monitor: aboutFilter('Only incidents that involve the monitor with this ID.'),
    heartbeat: aboutFilter('Only incidents that involve the heartbeat with this ID.'),
    tag: {
      schema: Type.String({ ...Tag, description: 'Only incidents that involve a monitor or heartbeat with this tag.' }),
      where: (value, place) =>
        sql`exists (select 1 from ${incidentSubjects} where ${incidentSubjects.incidentId} = ${incidents.id}
          and ${incidentSubjects.tags} like ${place(`%"${(value as string).replaceAll('_', '\\_')}"%`)} escape '\\')`,
    },
    assignee_id: textFilter(incidents.assigneeId, 'Only incidents assigned to the workspace member with this ID.', {
      maxLength: 100,
    }),
    from: timeFilter(
      'Only incidents that were unresolved at or after this time.',
      (value, place) =>
        sql`(${incidents.resolvedAt} is null or ${incidents.resolvedAt} >= ${place(Date.parse(value as string))})`,
    ),
    to: timeFilter(
      'Only incidents that started at or before this time.',
      (value, place) => sql`${incidents.startedAt} <= ${place(Date.parse(value as string))}`,
    ),
    q: searchFilter([incidents.title, incidents.cause], 'Only incidents whose title or cause contains all words of this text.'),
    ...timeFilters('started_at', incidents.startedAt),
  },
  sorts: ['started_at', 'updated_at'],
})

/** The listing for a query that names a subject: scans the incidents of the subject instead of all. */
function aboutOne(query: Record<string, unknown>): typeof incidentListing | null {
  const parameter = ['monitor', 'heartbeat'].find(name => query[name] !== undefined)
  if (parameter === undefined || !isByIdOnly(query)) return null
  const scanned: Filter = {
    schema: incidentListing.filters[parameter]!.schema,
    where: (value, place) => sql`${incidentSubjects.subjectId} = ${place(value)}`,
    finds: () => 'scanned',
  }
  return {
    ...incidentListing,
    name: `incidents-about-${parameter}`,
    through: { table: incidentSubjects, on: eq(incidents.id, incidentSubjects.incidentId) },
    id: incidentSubjects.incidentId,
    accessColumn: incidents.subjectId,
    filters: { ...incidentListing.filters, [parameter]: scanned },
  }
}

export async function listIncidents(ctx: Ctx, query: Record<string, unknown>): Promise<Page<IncidentView>> {
  const page = await listPage(ctx, aboutOne(query) ?? incidentListing, query, row => row)
  return { ...page, data: await incidentViews(ctx.hub.read, page.data, ctx.hub.clock.now()) }
}

/** Creates a manual incident. @throws Problem 422, 409 if too many manual incidents are unresolved */
export async function createIncident(ctx: Ctx, input: IncidentInput): Promise<IncidentView> {
  return await change(ctx, 'incident.create', async tx => {
    const now = ctx.hub.clock.now()
    const startedAt = input.started_at === undefined ? now : Date.parse(input.started_at)
    if (startedAt > now) throw invalid([{ pointer: '#/started_at', code: 'maximum', detail: 'must not be in the future.' }])
    await refuseNonMember(tx, ctx, input.assignee_id)
    await refuseUnknownChannels(tx, ctx.workspaceId, input.channel_ids ?? null)
    const subjects = await requireSubjects(tx, ctx, input.affected ?? [])
    const [unresolved] = await tx
      .select({ n: count() })
      .from(incidents)
      .where(and(eq(incidents.workspaceId, ctx.workspaceId), eq(incidents.kind, 'manual'), ne(incidents.status, 'resolved')))
    if (unresolved!.n >= maxOpenManual)
      throw conflict(`A workspace can have at most ${maxOpenManual} unresolved manual incidents. Resolve some of them first.`)
    const row = await insertRow(tx, ctx, incidentRows, {
      kind: 'manual',
      ...inputColumns(incidentMembers, input),
      status: 'open',
      cause: input.cause ?? input.title,
      locations: [],
      startedAt,
      confirmedAt: now,
      awaitsRecovery: false,
      resolvedMs: 0,
      reopenCount: 0,
    })
    for (const subject of subjects) await addSubject(tx, row, subject, 'affected', now)
    const details = { kind: 'manual', severity: row.severity }
    await addUpdate(tx, row, { kind: 'opened', at: now, text: row.cause, actor: actorOf(ctx), details })
    const { jobs } = await notifyIncident(tx, ctx.hub, row, 'opened', { at: now, text: row.cause })
    return { result: await incidentViewOf(tx, row, now), target: incidentTarget(row), after: auditView(row), jobs }
  })
}

/** Changed channels receive what happens from now on. @throws Problem 404, 412, 422 */
export async function updateIncident(ctx: Ctx, id: string, patch: IncidentPatch): Promise<IncidentView> {
  return await change(ctx, 'incident.update', async tx => {
    const row = await lockRow(tx, ctx, incidentRows, id)
    const now = ctx.hub.clock.now()
    await refuseNonMember(tx, ctx, patch.assignee_id)
    // A stored channel may have been deleted since.
    if (!isDeepStrictEqual(patch.channel_ids, row.channelIds))
      await refuseUnknownChannels(tx, ctx.workspaceId, patch.channel_ids ?? null)
    const after = await saveRow(tx, ctx, incidentRows, row, patchColumns(incidentMembers, patch))
    const auditTarget = incidentTarget(row)
    if (after === row) return { result: await incidentViewOf(tx, row, now), target: auditTarget, unchanged: true }
    const [was, is] = [memberView(incidentMembers, row), memberView(incidentMembers, after)]
    const fields = (Object.keys(patch) as (keyof IncidentPatch)[]).filter(name => !isDeepStrictEqual(was[name], is[name]))
    const text = `${new Intl.ListFormat('en').format(fields.map(name => fieldNames[name] ?? name))} changed.`
    await addUpdate(tx, row, { kind: 'edited', at: now, actor: actorOf(ctx), text: capitalized(text), details: { fields } })
    return { result: await incidentViewOf(tx, after, now), target: auditTarget, before: auditView(row), after: auditView(after) }
  })
}

const fieldNames: Partial<Record<keyof IncidentPatch, string>> = {
  assignee_id: 'assignee',
  channel_ids: 'notification channels',
}

export const incidentTarget = (row: IncidentRow) => target('incident', { id: row.id, name: row.title })

/** Refuses an assignee who is not a member of the workspace. @throws Problem 422 */
async function refuseNonMember(tx: Tx, ctx: Ctx, userId: string | null | undefined): Promise<void> {
  if (userId === null || userId === undefined) return
  const [row] = await tx
    .select({ id: memberships.userId })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, ctx.workspaceId), eq(memberships.userId, userId)))
  if (!row) throw invalid([{ pointer: '#/assignee_id', code: 'unknown', detail: 'must be the ID of a workspace member.' }])
}

async function requireSubjects(tx: Tx, ctx: Ctx, ids: readonly string[]) {
  const subjects = await ctx.hub.findSubjects(tx, ctx.workspaceId, ids)
  const found = new Map(subjects.filter(({ type }) => type === 'monitor' || type === 'heartbeat').map(one => [one.id, one]))
  const missing = ids.flatMap((id, index) =>
    found.has(id)
      ? []
      : [
          {
            pointer: `#/affected/${index}`,
            code: 'unknown',
            detail: 'must be the ID of a monitor or heartbeat of this workspace.',
          },
        ],
  )
  if (missing.length > 0) throw invalid(missing)
  return ids.map(id => found.get(id)!)
}
