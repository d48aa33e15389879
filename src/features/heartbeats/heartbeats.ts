import { isDeepStrictEqual } from 'node:util'
import { sql } from 'drizzle-orm'
import { Type } from '@sinclair/typebox'
import { refuseOverLimit } from '../../access/plans'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId, newUuid4 } from '../../core/ids'
import { draftsOf, noDrafts } from '../incidents/outages/outage'
import { refuseUnknownChannels } from '../notifications/channel-references'
import { resolveIncident } from '../incidents/outages/outages'
import { inputColumns, patchColumns } from '../../core/members'
import { mergePatch } from '../../core/merge-patch'
import { listingOf, listPage } from '../../core/list'
import { containsFilter, idsFilter, searchFilter, textFilter, timeFilters } from '../../core/list-filters'
import { invalid } from '../../core/problem'
import { changedRow, findRow, insertRow, lockRow, removeRow, saveRow } from '../../core/rows'
import { Tag, Words, type Page } from '../../core/shapes'
import { fieldProblems } from '../../core/validate'
import { rowsOf } from '../../registry'
import { scheduleDueCheck } from './status/due-timer'
import { columnsAfter, flipRow } from './status/rows'
import { checkSchedule, type Schedule } from './schedule/schedule'
import {
  heartbeatMembers,
  heartbeatStatuses,
  Schedule as ScheduleShape,
  type HeartbeatInput,
  type HeartbeatPatch,
  type HeartbeatView,
} from './shapes'
import { createState, pause, reschedule, resume, type Outcome } from './status/state'
import { flips, heartbeats } from './tables'
import { heartbeatView, uuidOf, uuidLocation, type HeartbeatRow } from './view'

export const heartbeatRows = rowsOf('heartbeat', heartbeats)

export const heartbeatListing = listingOf('heartbeats', heartbeats, {
  isSmall: true,
  filters: {
    status: {
      schema: Type.Array(Words(heartbeatStatuses), {
        minItems: 1,
        maxItems: heartbeatStatuses.length,
        description: 'Only heartbeats with these statuses.',
      }),
      where: (value, place, now) =>
        sql`(${sql.join(
          (value as string[]).map(status => hasStatus(status, place, now)),
          sql` or `,
        )})`,
    },
    tag: containsFilter(heartbeats.tags, Type.String({ ...Tag, description: 'Only heartbeats with this tag.' })),
    slug: textFilter(heartbeats.slug, 'Only heartbeats with this slug.'),
    ids: idsFilter(heartbeats.id),
    q: searchFilter([heartbeats.name, heartbeats.slug], 'Only heartbeats whose name or slug contains all words of this text.'),
    ...timeFilters('created_at', heartbeats.createdAt),
  },
  sorts: ['name', 'created_at', 'updated_at'],
})

export const listHeartbeats = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<HeartbeatView>> =>
  listPage(ctx, heartbeatListing, query, row => heartbeatViewFor(ctx, row))

/** @throws Problem 404 */
export const getHeartbeat = async (ctx: Ctx, id: string): Promise<HeartbeatView> =>
  heartbeatViewFor(ctx, await findRow(ctx.hub.read, ctx, heartbeatRows, id))

/** @throws Problem 422, 403 `plan_limit_reached` */
export async function createHeartbeat(ctx: Ctx, input: HeartbeatInput): Promise<HeartbeatView> {
  requireValidSchedule(ctx, input.schedule)
  const created = await change(ctx, 'heartbeat.create', async tx => {
    await refuseOverLimit(tx, ctx, 'heartbeat')
    await refuseUnknownChannels(tx, ctx.workspaceId, input.channel_ids ?? null)
    const { row, uuid } = await insertHeartbeat(tx, ctx, input)
    const view = heartbeatView(ctx.hub, row, uuid)
    return { result: view, target: target('heartbeat', row), after: view }
  })
  scheduleDueCheck(ctx.hub, dueOf(created))
  return created
}

/** Inserts a heartbeat with its initial state and a new UUID, as a step of a change. */
export async function insertHeartbeat(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  input: HeartbeatInput,
): Promise<{ row: HeartbeatRow; uuid: string }> {
  const { hub, workspaceId } = ctx
  const now = hub.clock.now()
  const uuid = newUuid4()
  const id = newId('hb')
  const row = await insertRow(tx, ctx, heartbeatRows, {
    id,
    ...inputColumns(heartbeatMembers, { ...input, slug: input.slug ?? slugOf(input.name) }),
    uuidHash: sha256Hex(uuid),
    uuidSealed: await hub.keys.seal(tx, uuidLocation({ id, workspaceId }), uuid),
    ...createState(now, input.first_ping_within_seconds ?? null).state,
    statusSince: now,
    alertHeldUntil: null,
    pingCount: 0,
  })
  return { row, uuid }
}

/** @throws Problem 404, 412, 422 */
export function updateHeartbeat(ctx: Ctx, id: string, patch: HeartbeatPatch): Promise<HeartbeatView> {
  return edit(ctx, 'heartbeat.update', id, row => {
    const schedule = patch.schedule ? patchedSchedule(ctx, row.schedule, patch.schedule) : row.schedule
    const set = {
      ...patchColumns(heartbeatMembers, { ...patch, schedule: undefined }),
      ...(patch.slug === null && { slug: slugOf(patch.name ?? row.name) }),
      schedule,
    }
    const { firstPingWithinSeconds } = { ...row, ...set }
    const isLimitChanged = row.status === 'new' && firstPingWithinSeconds !== row.firstPingWithinSeconds
    const state = isLimitChanged ? createState(row.createdAt, firstPingWithinSeconds).state : row
    return { set, outcome: { state: reschedule({ ...state, openRuns: row.openRuns }, schedule), flip: null } }
  })
}

function patchedSchedule(ctx: Ctx, current: Schedule, patch: NonNullable<HeartbeatPatch['schedule']>): Schedule {
  // Only the grace period carries over to another kind.
  const base = patch.kind === undefined || patch.kind === current.kind ? current : { grace_seconds: current.grace_seconds }
  const merged = mergePatch(base, patch) as Schedule
  const problems = fieldProblems(ScheduleShape, merged, '#/schedule')
  if (problems.length > 0) throw invalid(problems)
  requireValidSchedule(ctx, merged)
  return merged
}

/** Deletes a heartbeat with its pings and flips. @throws Problem 404, 412 */
export async function deleteHeartbeat(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'heartbeat.delete', async tx => {
    const row = await lockRow(tx, ctx, heartbeatRows, id)
    await removeRow(tx, heartbeatRows, row)
    const resolved = await resolveIncident(tx, ctx.hub, { subject: id, at: ctx.hub.clock.now(), reason: 'deleted' })
    return {
      result: undefined,
      target: target('heartbeat', row),
      before: heartbeatView(ctx.hub, row, null),
      ...draftsOf(resolved),
    }
  })
}

/** Stops expecting pings. Does nothing if already paused. @throws Problem 404, 412 */
export const pauseHeartbeat = (ctx: Ctx, id: string): Promise<HeartbeatView> =>
  edit(ctx, 'heartbeat.pause', id, row => ({ set: {}, outcome: pause(row, ctx.hub.clock.now()) }))

/** Resumes a paused heartbeat, which then waits for its next ping like a new one. @throws Problem 404, 412 */
export const resumeHeartbeat = (ctx: Ctx, id: string): Promise<HeartbeatView> =>
  edit(ctx, 'heartbeat.resume', id, row => ({ set: {}, outcome: resume(row, ctx.hub.clock.now()) }))

/** Gives the heartbeat a new UUID. The old ping URL stops working immediately. @throws Problem 404, 412 */
export async function rotateHeartbeat(ctx: Ctx, id: string): Promise<HeartbeatView> {
  return await change(ctx, 'heartbeat.rotate', async tx => {
    const row = await lockRow(tx, ctx, heartbeatRows, id)
    const oldUuid = await uuidOf(ctx.hub, row, tx)
    const uuid = newUuid4()
    const after = await saveRow(tx, ctx, heartbeatRows, row, {
      uuidHash: sha256Hex(uuid),
      uuidSealed: await ctx.hub.keys.seal(tx, uuidLocation(row), uuid),
    })
    return await changedRow(heartbeatRows, row, after, one => heartbeatView(ctx.hub, one, one === row ? oldUuid : uuid))
  })
}

type Edit = { set: Partial<HeartbeatRow>; outcome: Outcome }

async function edit(ctx: Ctx, action: AuditAction, id: string, decide: (row: HeartbeatRow) => Edit): Promise<HeartbeatView> {
  const view = await change(ctx, action, async tx => {
    const row = await lockRow(tx, ctx, heartbeatRows, id)
    const { set, outcome } = decide(row)
    const { flip } = outcome
    if (set.channelIds && !isDeepStrictEqual(set.channelIds, row.channelIds))
      await refuseUnknownChannels(tx, ctx.workspaceId, set.channelIds)
    const after = await saveRow(tx, ctx, heartbeatRows, row, { ...set, ...columnsAfter(row, outcome) })
    if (flip?.from) await tx.insert(flips).values(flipRow(id, flip))
    // A paused heartbeat can’t recover, so resolve its incident.
    const resolved =
      flip?.to === 'paused' ? await resolveIncident(tx, ctx.hub, { subject: id, at: flip.at, reason: 'paused' }) : noDrafts()
    const done = await changedRow(heartbeatRows, row, after, one => heartbeatView(ctx.hub, one, null))
    return { ...done, result: await heartbeatViewFor(ctx, after, tx), ...draftsOf(resolved) }
  })
  scheduleDueCheck(ctx.hub, dueOf(view))
  return view
}

const dueOf = (view: HeartbeatView): number | null => (view.down_at === null ? null : Date.parse(view.down_at))

/** A heartbeat as the API returns it to the caller. */
export const heartbeatViewFor = (ctx: Ctx, row: HeartbeatRow, read?: Reader): HeartbeatView | Promise<HeartbeatView> =>
  ctx.permissions.has('monitoring.write')
    ? uuidOf(ctx.hub, row, read).then(uuid => heartbeatView(ctx.hub, row, uuid))
    : heartbeatView(ctx.hub, row, null)

function requireValidSchedule(ctx: Ctx, schedule: Schedule): void {
  const problems = checkSchedule(schedule, ctx.hub.clock.now())
  if (problems.length > 0) throw invalid(problems.map(one => ({ ...one, pointer: `#/schedule${one.pointer}` })))
}

/** Derives a slug from a name, by the rules of Healthchecks. */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_\s-]/g, '')
    .trim()
    .replaceAll(/[\s-]+/g, '-')
    .slice(0, 100)

/** The SQL condition for a status. `grace` is stored as `up` with an expected time in the past. */
function hasStatus(status: string, place: (value: unknown) => ReturnType<typeof sql>, now: number) {
  if (status === 'grace') return sql`(${heartbeats.status} = ${place('up')} and ${heartbeats.expectedAt} <= ${place(now)})`
  if (status === 'up')
    return sql`(${heartbeats.status} = ${place('up')} and (${heartbeats.expectedAt} is null or ${heartbeats.expectedAt} > ${place(now)}))`
  return sql`${heartbeats.status} = ${place(status)}`
}
