import { and, count, eq } from 'drizzle-orm'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { listPage, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { conflict, notFound } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { doerOf } from './doer'
import { incidentOf, incidentTarget } from './incidents'
import { tellOf } from './messages'
import type { IncidentUpdateView } from './shapes'
import { incidentUpdates, updateKinds } from './tables'
import { addUpdate, type UpdateRow } from './timeline'
import { updateView } from './view'

const mostNotes = 1_000

export const updateListing: Listing<UpdateRow> = {
  name: 'incident-updates',
  table: incidentUpdates as never,
  id: incidentUpdates.id,
  idOf: row => row.id,
  owner: incidentUpdates.incidentId,
  defaultSort: 'id',
  filters: {
    kind: wordsFilter(incidentUpdates.kind, updateKinds, 'Only these kinds.'),
    ...timeFilters('at', incidentUpdates.at),
  },
  sorts: { at: { column: incidentUpdates.at, read: row => row.at } },
}

/** The timeline of an incident. @throws Problem 404 */
export async function listUpdates(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<IncidentUpdateView>> {
  await incidentOf(ctx.hub.read, ctx, id)
  return await listPage(ctx, updateListing, query, updateView, id)
}

/** @throws Problem 404 */
export async function getUpdate(ctx: Ctx, id: string, updateId: string): Promise<IncidentUpdateView> {
  await incidentOf(ctx.hub.read, ctx, id)
  return updateView(await updateOf(ctx.hub.read, id, updateId))
}

/**
 * Adds a note to the timeline, also of a resolved incident, and tells the channels of it where that is asked for.
 * @throws Problem 404, 409 where there are a thousand
 */
export async function addNote(
  ctx: Ctx,
  id: string,
  { text, notify = false }: { text: string; notify?: boolean },
): Promise<IncidentUpdateView> {
  return await change(ctx, 'incident.note.create', async tx => {
    const incident = await incidentOf(tx, ctx, id)
    const [written] = await tx
      .select({ n: count() })
      .from(incidentUpdates)
      .where(and(eq(incidentUpdates.incidentId, id), eq(incidentUpdates.kind, 'note')))
    if (written!.n >= mostNotes) throw conflict(`The incident has ${mostNotes} notes.`)
    const at = ctx.hub.clock.now()
    const row = await addUpdate(tx, incident, { kind: 'note', at, actor: doerOf(ctx), text })
    const { jobs } = notify ? await tellOf(tx, ctx.hub, incident, 'note', { at, text }) : { jobs: [] }
    return { result: updateView(row), target: incidentTarget(incident), after: { text }, jobs }
  })
}

/** Edits a note. @throws Problem 404, 409 for an entry that is no note */
export async function editNote(ctx: Ctx, id: string, updateId: string, text: string): Promise<IncidentUpdateView> {
  return await change(ctx, 'incident.note.update', async tx => {
    const incident = await incidentOf(tx, ctx, id)
    const row = await updateOf(tx, id, updateId)
    if (row.kind !== 'note') throw conflict('Only notes can be edited: the rest of the timeline is what happened.')
    const named = incidentTarget(incident)
    if (row.text === text) return { result: updateView(row), target: named, unchanged: true }
    const [after] = await tx
      .update(incidentUpdates)
      .set({ text, editedAt: ctx.hub.clock.now() })
      .where(eq(incidentUpdates.id, row.id))
      .returning()
    return { result: updateView(after!), target: named, before: { text: row.text }, after: { text } }
  })
}

async function updateOf(read: Reader, incidentId: string, id: string): Promise<UpdateRow> {
  const [row] = await read
    .select()
    .from(incidentUpdates)
    .where(and(eq(incidentUpdates.id, id), eq(incidentUpdates.incidentId, incidentId)))
  if (!row) throw notFound('entry of the timeline')
  return row
}
