import { and, count, eq } from 'drizzle-orm'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import { timeFilters, wordsFilter } from '../../core/list-filters'
import { conflict, notFound } from '../../core/problem'
import { findRow, lockRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { actorOf } from './actor'
import { incidentRows, incidentTarget } from './incidents'
import { notifyIncident } from './outages/messages'
import { updateKinds, type IncidentUpdateView } from './shapes'
import { incidentUpdates } from './tables'
import { addUpdate, type UpdateRow } from './timeline'
import { updateView } from './view'

const maxNotes = 1_000

export const updateListing = listingOf('incident-updates', incidentUpdates, {
  isSmall: true,
  owner: incidentUpdates.incidentId,
  defaultSort: 'id',
  filters: {
    kind: wordsFilter(incidentUpdates.kind, updateKinds, 'Only entries of these kinds.'),
    ...timeFilters('at', incidentUpdates.at),
  },
  sorts: ['at'],
})

/** The timeline of an incident. @throws Problem 404 */
export async function listUpdates(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<IncidentUpdateView>> {
  await findRow(ctx.hub.read, ctx, incidentRows, id)
  return await listPage(ctx, updateListing, query, updateView, id)
}

/** @throws Problem 404 */
export async function getUpdate(ctx: Ctx, id: string, updateId: string): Promise<IncidentUpdateView> {
  await findRow(ctx.hub.read, ctx, incidentRows, id)
  return updateView(await requireUpdate(ctx.hub.read, id, updateId))
}

/**
 * Adds a note to the timeline of an open or resolved incident, and optionally notifies its channels.
 * @throws Problem 404, 409 if the incident already has 1,000 notes
 */
export async function addNote(
  ctx: Ctx,
  id: string,
  { text, notify = false }: { text: string; notify?: boolean },
): Promise<IncidentUpdateView> {
  return await change(ctx, 'incident.note.create', async tx => {
    const incident = await lockIncident(tx, ctx, id)
    const [notes] = await tx
      .select({ n: count() })
      .from(incidentUpdates)
      .where(and(eq(incidentUpdates.incidentId, id), eq(incidentUpdates.kind, 'note')))
    if (notes!.n >= maxNotes) throw conflict(`An incident can have at most ${maxNotes} notes.`)
    const at = ctx.hub.clock.now()
    const row = await addUpdate(tx, incident, { kind: 'note', at, actor: actorOf(ctx), text })
    const { jobs } = notify ? await notifyIncident(tx, ctx.hub, incident, 'note', { at, text }) : { jobs: [] }
    return { result: updateView(row), target: incidentTarget(incident), after: { text }, jobs }
  })
}

/** Updates a note. @throws Problem 404, 409 if the entry is not a note */
export async function updateNote(ctx: Ctx, id: string, updateId: string, text: string): Promise<IncidentUpdateView> {
  return await change(ctx, 'incident.note.update', async tx => {
    const incident = await lockIncident(tx, ctx, id)
    const row = await requireUpdate(tx, id, updateId)
    if (row.kind !== 'note') throw conflict('Only notes can be edited. Other timeline entries are read-only.')
    const auditTarget = incidentTarget(incident)
    if (row.text === text) return { result: updateView(row), target: auditTarget, unchanged: true }
    const [after] = await tx
      .update(incidentUpdates)
      .set({ text, editedAt: ctx.hub.clock.now() })
      .where(eq(incidentUpdates.id, row.id))
      .returning()
    return { result: updateView(after!), target: auditTarget, before: { text: row.text }, after: { text } }
  })
}

/** Ignores If-Match, which is about the entry, not about the incident. */
const lockIncident = (tx: Tx, ctx: Ctx, id: string) => lockRow(tx, { ...ctx, ifMatch: null }, incidentRows, id)

async function requireUpdate(read: Reader, incidentId: string, id: string): Promise<UpdateRow> {
  const [row] = await read
    .select()
    .from(incidentUpdates)
    .where(and(eq(incidentUpdates.id, id), eq(incidentUpdates.incidentId, incidentId)))
  if (!row) throw notFound('timeline entry')
  return row
}
