import { and, eq } from 'drizzle-orm'
import { refuseOneTooMany } from '../../access/fixed-limits'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change, isAlready, nextNumber, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { listPage, searchFilter, textFilter, timeFilters, type Listing } from '../../core/list'
import { invalid, notFound } from '../../core/problem'
import { Words, type Page } from '../../core/shapes'
import { readCalendar } from './calendar'
import { calendarCounter } from './calendar-counter'
import { timingOf } from './rules'
import type { MaintenanceWindowInput, MaintenanceWindowPatch, MaintenanceWindowView } from './shapes'
import { maintenanceWindows, windowKinds } from './tables'
import { noTargets, type Targets } from './targets'
import { currentOf, windowView, type WindowRow } from './view'

const mostWindows = 200

export const windowListing: Listing<WindowRow> = {
  name: 'maintenance-windows',
  table: maintenanceWindows as never,
  id: maintenanceWindows.id,
  idOf: row => row.id,
  owner: maintenanceWindows.workspaceId,
  defaultSort: '-id',
  filters: {
    kind: {
      ...textFilter(maintenanceWindows.kind, 'Only those of this kind.'),
      schema: Words(windowKinds, { description: 'Only those of this kind.' }),
    },
    q: searchFilter([maintenanceWindows.name], 'Only those whose name holds this text.'),
    ...timeFilters('created_at', maintenanceWindows.createdAt),
  },
  sorts: {
    name: { column: maintenanceWindows.name, read: row => row.name },
    created_at: { column: maintenanceWindows.createdAt, read: row => row.createdAt },
    updated_at: { column: maintenanceWindows.updatedAt, read: row => row.updatedAt },
  },
}

export const listWindows = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<MaintenanceWindowView>> =>
  listPage(ctx, windowListing, query, row => windowView(row, ctx.hub.clock.now()))

/** @throws Problem 404 */
export const getWindow = async (ctx: Ctx, id: string): Promise<MaintenanceWindowView> =>
  windowView(await windowOf(ctx.hub.read, ctx, id), ctx.hub.clock.now())

/** @throws Problem 409 where the workspace has as many as it may, 422 */
export function createWindow(ctx: Ctx, input: MaintenanceWindowInput): Promise<MaintenanceWindowView> {
  const timing = timingAsked({ starts_at_local: null, rrule: null, cron: null, exdates: [], ...input })
  const targets = targetsAsked(noTargets, input.targets)
  return write(ctx, 'maintenance.window.create', async tx => {
    await refuseOneTooMany(tx, ctx.workspaceId, { table: maintenanceWindows, most: mostWindows, things: 'maintenance windows' })
    const now = ctx.hub.clock.now()
    const [row] = await tx
      .insert(maintenanceWindows)
      .values({
        id: newId('mw'),
        workspaceId: ctx.workspaceId,
        name: input.name,
        description: input.description ?? '',
        ...timing,
        exdates: [...timing.exdates],
        targets,
        startedAt: null,
        startedUntil: null,
        stoppedAt: null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    return { before: null, after: row! }
  })
}

/** @throws Problem 404, 412, 422 */
export const updateWindow = (ctx: Ctx, id: string, patch: MaintenanceWindowPatch): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.update', id, row => {
    const kind = patch.kind ?? row.kind
    const timing = timingAsked({
      kind,
      starts_at_local: patch.starts_at_local === undefined ? row.startsAtLocal : patch.starts_at_local,
      timezone: patch.timezone ?? row.timezone,
      duration_seconds: patch.duration_seconds ?? row.durationSeconds,
      // What belongs to another kind goes with it.
      rrule: patch.rrule === undefined ? (kind === 'rrule' ? row.rrule : null) : patch.rrule,
      cron: patch.cron === undefined ? (kind === 'cron' ? row.cron : null) : patch.cron,
      exdates: patch.exdates === undefined ? (kind === 'once' ? [] : row.exdates) : (patch.exdates ?? []),
    })
    return {
      ...timing,
      exdates: [...timing.exdates],
      name: patch.name ?? row.name,
      description: patch.description === undefined ? row.description : (patch.description ?? ''),
      targets: targetsAsked(row.targets, patch.targets ?? {}),
    }
  })

/** @throws Problem 404, 412 */
export async function deleteWindow(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'maintenance.window.delete', async tx => {
    const row = await windowHeld(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(maintenanceWindows).where(eq(maintenanceWindows.id, id))
    await nextNumber(tx, calendarCounter)
    return { result: undefined, target: target('maintenance_window', row), before: windowView(row, ctx.hub.clock.now()) }
  })
  if (!ctx.join) await readCalendar(ctx.hub)
}

/**
 * Begins maintenance now, beside the schedule. What was begun by hand before begins anew.
 * @param seconds how long it is in force; as long as its occurrences when left out
 * @throws Problem 404, 412
 */
export const startWindow = (ctx: Ctx, id: string, seconds?: number): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.start', id, row => {
    const now = ctx.hub.clock.now()
    return { startedAt: now, startedUntil: now + (seconds ?? row.durationSeconds) * 1000 }
  })

/** Ends what is in force now; later occurrences take place. Where nothing is in force nothing changes. @throws Problem 404, 412 */
export const stopWindow = (ctx: Ctx, id: string): Promise<MaintenanceWindowView> =>
  edit(ctx, 'maintenance.window.stop', id, row => {
    const now = ctx.hub.clock.now()
    if (currentOf(row, now) === null) return {}
    const isByHand = row.startedUntil !== null && row.startedUntil > now
    return { stoppedAt: now, ...(isByHand && { startedUntil: now }) }
  })

/** A maintenance window of the caller's workspace. @throws Problem 404 */
export async function windowOf(read: Reader, ctx: Ctx, id: string): Promise<WindowRow> {
  const [row] = await read.select().from(maintenanceWindows).where(mine(ctx, id))
  if (!row) throw notFound('maintenance window')
  return row
}

async function windowHeld(tx: Tx, ctx: Ctx, id: string): Promise<WindowRow> {
  const [row] = await locking(tx.select().from(maintenanceWindows).where(mine(ctx, id)))
  if (!row) throw notFound('maintenance window')
  return row
}

const mine = (ctx: Ctx, id: string) => and(eq(maintenanceWindows.id, id), eq(maintenanceWindows.workspaceId, ctx.workspaceId))

function edit(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  decide: (row: WindowRow) => Partial<WindowRow>,
): Promise<MaintenanceWindowView> {
  return write(ctx, action, async tx => {
    const before = await windowHeld(tx, ctx, id)
    requireMatch(ctx, before)
    const set = decide(before)
    if (isAlready(before, set)) return { before, after: before }
    const [after] = await tx
      .update(maintenanceWindows)
      .set({ ...set, version: before.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(eq(maintenanceWindows.id, id))
      .returning()
    return { before, after: after! }
  })
}

async function write(
  ctx: Ctx,
  action: AuditAction,
  fn: (tx: Tx) => Promise<{ before: WindowRow | null; after: WindowRow }>,
): Promise<MaintenanceWindowView> {
  const view = await change(ctx, action, async (tx): Promise<Changed<MaintenanceWindowView>> => {
    const { before, after } = await fn(tx)
    const now = ctx.hub.clock.now()
    const result = windowView(after, now)
    const named = target('maintenance_window', after)
    if (before === after) return { result, target: named, unchanged: true }
    await nextNumber(tx, calendarCounter)
    return { result, target: named, before: before && windowView(before, now), after: result }
  })
  // Together with others it is not committed yet: then the calendar is read at the next second.
  if (!ctx.join) await readCalendar(ctx.hub)
  return view
}

function timingAsked(asked: Parameters<typeof timingOf>[0]) {
  const found = timingOf(asked)
  if ('problems' in found) throw invalid(found.problems)
  return found.timing
}

function targetsAsked(before: Targets, asked: Partial<Targets>): Targets {
  const targets = { ...before, ...asked }
  const { all, ...lists } = targets
  if (!all && Object.values(lists).every(list => list.length === 0))
    throw invalid([{ pointer: '#/targets', code: 'required', detail: 'must name something, or have all set to true.' }])
  return targets
}
