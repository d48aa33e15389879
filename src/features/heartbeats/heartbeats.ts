import { isDeepStrictEqual } from 'node:util'
import { and, count, eq, sql } from 'drizzle-orm'
import { Type } from '@sinclair/typebox'
import { refuseOverLimit } from '../../access/plans'
import { target } from '../../core/audit'
import type { AuditAction } from '../../core/audit-actions'
import { change, isAlready, type Changed } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId, newUuid4 } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { draftsOf, noDrafts } from '../incidents/outage'
import { refuseUnknownChannels } from '../notifications/known-channels'
import { resolveIncident } from '../incidents/outages'
import { mergePatch } from '../../core/merge-patch'
import { heldFilter, idsFilter, listPage, searchFilter, textFilter, timeFilters, type Listing } from '../../core/list'
import { invalid, notFound } from '../../core/problem'
import { Tag, Words, type Page } from '../../core/shapes'
import { fieldProblems } from '../../core/validate'
import { dueChanged } from './alarm'
import { columnsAfter, flipRow } from './rows'
import { checkSchedule, type Schedule } from './schedule'
import {
  heartbeatStatuses,
  Schedule as ScheduleShape,
  type HeartbeatInput,
  type HeartbeatPatch,
  type HeartbeatView,
} from './shapes'
import { createState, pause, reschedule, resume, type Outcome } from './state'
import { flips, heartbeats } from './tables'
import { heartbeatView, uuidOf, uuidPlace, type HeartbeatRow } from './view'

export const heartbeatListing: Listing<HeartbeatRow> = {
  name: 'heartbeats',
  table: heartbeats as never,
  id: heartbeats.id,
  idOf: row => row.id,
  owner: heartbeats.workspaceId,
  defaultSort: '-id',
  filters: {
    status: {
      schema: Type.Array(Words(heartbeatStatuses), {
        minItems: 1,
        maxItems: heartbeatStatuses.length,
        description: 'Only these statuses.',
      }),
      where: (value, place, now) =>
        sql`(${sql.join(
          (value as string[]).map(word => statusIs(word, place, now)),
          sql` or `,
        )})`,
    },
    tag: heldFilter(
      heartbeats.tags,
      Type.String({ ...Tag, 'x-rule': 'must be a tag.', description: 'Only those with this tag.' }),
    ),
    slug: textFilter(heartbeats.slug, 'Only those with this slug.'),
    ids: idsFilter(heartbeats.id),
    q: searchFilter([heartbeats.name, heartbeats.slug], 'Only those whose name or slug holds this text.'),
    ...timeFilters('created_at', heartbeats.createdAt),
  },
  sorts: {
    name: { column: heartbeats.name, read: row => row.name },
    created_at: { column: heartbeats.createdAt, read: row => row.createdAt },
    updated_at: { column: heartbeats.updatedAt, read: row => row.updatedAt },
  },
}

export const listHeartbeats = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<HeartbeatView>> =>
  listPage(ctx, heartbeatListing, query, row => heartbeatSeenBy(ctx, row))

/** @throws Problem 404 */
export async function getHeartbeat(ctx: Ctx, id: string): Promise<HeartbeatView> {
  const [row] = await ctx.hub.read.select().from(heartbeats).where(mine(ctx, id))
  if (!row) throw notFound('heartbeat')
  return await heartbeatSeenBy(ctx, row)
}

/** @throws Problem 422, 403 `plan_limit_reached` */
export async function createHeartbeat(ctx: Ctx, input: HeartbeatInput): Promise<HeartbeatView> {
  refuseBadSchedule(ctx, input.schedule)
  const made = await change(ctx, 'heartbeat.create', async tx => {
    await refuseOverLimit(tx, ctx, 'heartbeats', () => countHeartbeats(tx, ctx.workspaceId))
    await refuseUnknownChannels(tx, ctx.workspaceId, input.channel_ids ?? null)
    const { row, uuid } = await insertHeartbeat(tx, ctx, input)
    const view = heartbeatView(ctx.hub, row, uuid)
    return { result: view, target: target('heartbeat', row), after: view }
  })
  dueChanged(ctx.hub, dueOf(made))
  return made
}

/** A row with its state and its UUID, as a step of the change that makes it. */
export async function insertHeartbeat(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  input: HeartbeatInput,
): Promise<{ row: HeartbeatRow; uuid: string }> {
  const { hub, workspaceId } = ctx
  const now = hub.clock.now()
  const uuid = newUuid4()
  const id = newId('hb')
  const first = input.first_ping_within_seconds ?? null
  const [row] = await tx
    .insert(heartbeats)
    .values({
      id,
      workspaceId,
      name: input.name,
      slug: input.slug ?? slugOf(input.name),
      tags: input.tags ?? [],
      description: input.description ?? '',
      schedule: input.schedule as Schedule,
      methods: input.methods ?? 'any',
      manualResume: input.manual_resume ?? false,
      firstPingWithinSeconds: first,
      severity: input.severity ?? 'critical',
      channelIds: input.channel_ids ?? null,
      uuidHash: sha256Hex(uuid),
      uuidSealed: await hub.keys.seal(tx, uuidPlace({ id, workspaceId }), uuid),
      ...createState(now, first).state,
      statusSince: now,
      heldUntil: null,
      pingCount: 0,
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    .returning()
  return { row: row!, uuid }
}

/** @throws Problem 404, 412, 422 */
export function updateHeartbeat(ctx: Ctx, id: string, patch: HeartbeatPatch): Promise<HeartbeatView> {
  return edit(ctx, 'heartbeat.update', id, row => {
    const schedule = patch.schedule ? patchedSchedule(ctx, row.schedule, patch.schedule) : row.schedule
    const name = patch.name ?? row.name
    const first = patch.first_ping_within_seconds === undefined ? row.firstPingWithinSeconds : patch.first_ping_within_seconds
    const waiting = row.status === 'new' && first !== row.firstPingWithinSeconds ? createState(row.createdAt, first).state : row
    return {
      set: {
        name,
        slug: patched(patch.slug, row.slug, slugOf(name)),
        tags: patched(patch.tags, row.tags, []),
        description: patched(patch.description, row.description, ''),
        methods: patched(patch.methods, row.methods, 'any'),
        manualResume: patched(patch.manual_resume, row.manualResume, false),
        schedule,
        firstPingWithinSeconds: first,
        severity: patched(patch.severity, row.severity, 'critical'),
        channelIds: patch.channel_ids === undefined ? row.channelIds : patch.channel_ids,
      },
      outcome: { state: reschedule({ ...waiting, openRuns: row.openRuns }, schedule), flip: null },
    }
  })
}

/** A member after a merge patch: absent stays, null is what a new heartbeat has. */
const patched = <T>(asked: T | null | undefined, now: T, fresh: T): T => (asked === undefined ? now : (asked ?? fresh))

function patchedSchedule(ctx: Ctx, now: Schedule, patch: NonNullable<HeartbeatPatch['schedule']>): Schedule {
  // Members of another kind mean nothing for the new one.
  const base = patch.kind === undefined || patch.kind === now.kind ? now : { grace_seconds: now.grace_seconds }
  const merged = mergePatch(base, patch)
  const problems = fieldProblems(ScheduleShape, merged, '#/schedule')
  if (problems.length > 0) throw invalid(problems)
  refuseBadSchedule(ctx, merged as HeartbeatInput['schedule'])
  return merged as Schedule
}

/** Removes a heartbeat with its pings and flips. @throws Problem 404, 412 */
export async function deleteHeartbeat(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'heartbeat.delete', async tx => {
    const row = await heartbeatOf(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(heartbeats).where(eq(heartbeats.id, id))
    const ended = await resolveIncident(tx, ctx.hub, { subject: id, at: ctx.hub.clock.now(), reason: 'deleted' })
    return { result: undefined, target: target('heartbeat', row), before: heartbeatView(ctx.hub, row, null), ...draftsOf(ended) }
  })
}

/** Stops expecting pings. Pausing what is paused changes nothing. @throws Problem 404, 412 */
export const pauseHeartbeat = (ctx: Ctx, id: string): Promise<HeartbeatView> =>
  edit(ctx, 'heartbeat.pause', id, row => ({ set: {}, outcome: pause(row, ctx.hub.clock.now()) }))

/** Waits for the next ping as a new heartbeat does. @throws Problem 404, 412 */
export const resumeHeartbeat = (ctx: Ctx, id: string): Promise<HeartbeatView> =>
  edit(ctx, 'heartbeat.resume', id, row => ({ set: {}, outcome: resume(row, ctx.hub.clock.now()) }))

/** Gives the heartbeat a new UUID; the old address stops working at once. @throws Problem 404, 412 */
export async function rotateHeartbeat(ctx: Ctx, id: string): Promise<HeartbeatView> {
  return await change(ctx, 'heartbeat.rotate', async tx => {
    const row = await heartbeatOf(tx, ctx, id)
    requireMatch(ctx, row)
    const before = await uuidOf(ctx.hub, row, tx)
    const uuid = newUuid4()
    const [after] = await tx
      .update(heartbeats)
      .set({
        uuidHash: sha256Hex(uuid),
        uuidSealed: await ctx.hub.keys.seal(tx, uuidPlace(row), uuid),
        version: row.version + 1,
        updatedAt: ctx.hub.clock.now(),
      })
      .where(eq(heartbeats.id, id))
      .returning()
    const view = heartbeatView(ctx.hub, after!, uuid)
    return { result: view, target: target('heartbeat', row), before: heartbeatView(ctx.hub, row, before), after: view }
  })
}

/** Heartbeats that count against the plan. */
export async function countHeartbeats(read: Reader, workspaceId: string): Promise<number> {
  const [row] = await read.select({ n: count() }).from(heartbeats).where(eq(heartbeats.workspaceId, workspaceId))
  return row!.n
}

type Edit = { set: Partial<HeartbeatRow>; outcome: Outcome }

async function edit(ctx: Ctx, action: AuditAction, id: string, decide: (row: HeartbeatRow) => Edit): Promise<HeartbeatView> {
  const view = await change(ctx, action, async (tx): Promise<Changed<HeartbeatView>> => {
    const row = await heartbeatOf(tx, ctx, id)
    requireMatch(ctx, row)
    const { set, outcome } = decide(row)
    const { flip } = outcome
    if (set.channelIds && !isDeepStrictEqual(set.channelIds, row.channelIds))
      await refuseUnknownChannels(tx, ctx.workspaceId, set.channelIds)
    const columns = { ...set, ...columnsAfter(row, outcome) }
    if (!flip?.from && isAlready(row, columns)) {
      const uuid = ctx.permissions.has('monitoring.write') ? await uuidOf(ctx.hub, row, tx) : null
      return { result: heartbeatView(ctx.hub, row, uuid), target: target('heartbeat', row), unchanged: true }
    }
    const [after] = await tx
      .update(heartbeats)
      .set({ ...columns, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(eq(heartbeats.id, id))
      .returning()
    if (flip?.from) await tx.insert(flips).values(flipRow(id, flip))
    // Nobody looks any more whether it is well.
    const ended =
      flip?.to === 'paused' ? await resolveIncident(tx, ctx.hub, { subject: id, at: flip.at, reason: 'paused' }) : noDrafts()
    const uuid = await uuidOf(ctx.hub, row, tx)
    const shown = heartbeatView(ctx.hub, after!, ctx.permissions.has('monitoring.write') ? uuid : null)
    return {
      result: shown,
      target: target('heartbeat', row),
      before: heartbeatView(ctx.hub, row, null),
      after: { ...shown, uuid: null, ping_url: null },
      ...draftsOf(ended),
    }
  })
  dueChanged(ctx.hub, dueOf(view))
  return view
}

async function heartbeatOf(tx: Tx, ctx: Ctx, id: string): Promise<HeartbeatRow> {
  const [row] = await locking(tx.select().from(heartbeats).where(mine(ctx, id)))
  if (!row) throw notFound('heartbeat')
  return row
}

const dueOf = (view: HeartbeatView): number | null => (view.down_at === null ? null : Date.parse(view.down_at))

const mine = (ctx: Ctx, id: string) => and(eq(heartbeats.id, id), eq(heartbeats.workspaceId, ctx.workspaceId))

/** A heartbeat as the API shows it to the caller. */
export const heartbeatSeenBy = (ctx: Ctx, row: HeartbeatRow): HeartbeatView | Promise<HeartbeatView> =>
  ctx.permissions.has('monitoring.write')
    ? uuidOf(ctx.hub, row).then(uuid => heartbeatView(ctx.hub, row, uuid))
    : heartbeatView(ctx.hub, row, null)

function refuseBadSchedule(ctx: Ctx, schedule: HeartbeatInput['schedule']): void {
  const problems = checkSchedule(schedule as Schedule, ctx.hub.clock.now())
  if (problems.length > 0) throw invalid(problems.map(one => ({ ...one, pointer: `#/schedule${one.pointer}` })))
}

/** Lower-case letters, digits and hyphens of a name, as Healthchecks makes slugs. */
export const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_\s-]/g, '')
    .trim()
    .replaceAll(/[\s-]+/g, '-')
    .slice(0, 100)

/** `grace` is `up` past the expected time; `up` is what is left. */
function statusIs(word: string, place: (value: unknown) => ReturnType<typeof sql>, now: number) {
  if (word === 'grace') return sql`(${heartbeats.status} = ${place('up')} and ${heartbeats.expectedAt} <= ${place(now)})`
  if (word === 'up')
    return sql`(${heartbeats.status} = ${place('up')} and (${heartbeats.expectedAt} is null or ${heartbeats.expectedAt} > ${place(now)}))`
  return sql`${heartbeats.status} = ${place(word)}`
}
