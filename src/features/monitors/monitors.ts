import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import { refuseOverLimit } from '../../access/plans'
import { change, isAlready, nextNumber, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { reaches } from '../../core/narrowing'
import { notFound } from '../../core/problem'
import type { Settings } from '../../core/sealed-settings'
import { resolveIncident } from '../incidents/outages'
import { refuseUnknownChannels } from '../notifications/known-channels'
import { countMonitors } from './count'
import { defined, type Definition } from './definition'
import { shareOf } from './live/shares'
import { monitorTypeOf, type MonitorType } from './monitor-types'
import { checkedOptions, editedOptions, openOptions, optionColumns, optionSecrets, type Asked } from './options'
import { refuseUnreachable } from './reach'
import { leaveRelations, refuseBadRelations, refuseTakenKey } from './relations'
import { forgetSeries } from './series/forget'
import type { MonitorInput, MonitorPatch, MonitorView } from './shapes'
import { newMonitorState, type MonitorState } from './state'
import { monitors } from './tables'
import { monitoringTopic } from './topic'
import { understood } from './understood'
import { monitorTarget, monitorView, type MonitorRow } from './view'

/** A monitor of the caller's workspace. @throws Problem 404 */
export async function monitorOf(read: Reader, ctx: Ctx, id: string): Promise<MonitorRow> {
  const [row] = await read.select().from(monitors).where(mine(ctx, id))
  if (!row || !reaches(ctx, row.id)) throw notFound('monitor')
  return row
}

/** The same, held until the transaction ends. @throws Problem 404 */
export async function monitorHeld(tx: Tx, ctx: Ctx, id: string): Promise<MonitorRow> {
  const [row] = await locking(tx.select().from(monitors).where(mine(ctx, id)))
  if (!row || !reaches(ctx, row.id)) throw notFound('monitor')
  return row
}

/** @throws Problem 404 */
export const getMonitor = async (ctx: Ctx, id: string): Promise<MonitorView> =>
  monitorView(ctx.hub, await monitorOf(ctx.hub.read, ctx, id))

/**
 * Makes a monitor, which is checked at once.
 * @throws Problem 422 at each member that is wrong, 403 `plan_limit_reached`, 409 `already_exists` for the key
 */
export async function createMonitor(ctx: Ctx, input: MonitorInput): Promise<MonitorView> {
  const { type: typeName, target, name } = understood(input)
  const type = monitorTypeOf(typeName)
  const definition = defined(ctx, type, input, null)
  const asked = checkedOptions(type, target, input.options ?? {})
  return await change(ctx, 'monitor.create', async tx => {
    return await made(tx, ctx, { type, name, definition, asked })
  })
}

/** Makes a monitor, as a step of the change that wants it. @throws Problem 422, 403, 409 */
export async function made(
  tx: Tx,
  ctx: Ctx,
  { type, name, definition, asked }: Omit<Rewriting, 'kept'>,
): Promise<Changed<MonitorView>> {
  await refuseUnreachable(ctx, tx, type, asked)
  await refuseOverLimit(tx, ctx, 'monitors', () => countMonitors(tx, ctx.workspaceId))
  await refuseTakenKey(tx, ctx, definition.key, null)
  await refuseUnknownChannels(tx, ctx.workspaceId, definition.channelIds)
  await refuseBadRelations(tx, ctx, null, { type: type.name, dependsOn: definition.dependsOn, options: asked.options })
  const own = { id: newId('mon'), workspaceId: ctx.workspaceId }
  const now = ctx.hub.clock.now()
  const [row] = await tx
    .insert(monitors)
    .values({
      ...own,
      number: await nextNumber(tx, 'monitor'),
      share: shareOf(own.id),
      type: type.name,
      name,
      target: asked.target,
      ...definition,
      ...(await optionColumns(tx, ctx.hub, own, type, asked.options)),
      paused: false,
      ...asNew(now),
      stateVersion: 1,
      lastCheckAt: null,
      certificateExpiresAt: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    .returning()
  const view = monitorView(ctx.hub, row!)
  return {
    result: view,
    target: monitorTarget(row!),
    after: { ...view, secret: secretTag(type, asked.options) },
    wakes: [monitoringTopic],
  }
}

/**
 * Edits a monitor, which is then checked at once. What was found before goes on to count until the next check.
 * @throws Problem 404, 409 `already_exists` for the key, 412, 422, 403 `plan_limit_reached`
 */
export async function updateMonitor(ctx: Ctx, id: string, patch: MonitorPatch): Promise<MonitorView> {
  return await change(ctx, 'monitor.update', async tx => {
    const row = await monitorHeld(tx, ctx, id)
    requireMatch(ctx, row)
    const type = monitorTypeOf(row.type)
    const kept = { target: row.target, options: await openOptions(ctx.hub, row, tx) }
    const asked = editedOptions(type, kept, patch)
    const name = patch.name === null ? understood({ type: row.type, target: asked.target }).name : (patch.name ?? row.name)
    return await rewritten(tx, ctx, row, { type, kept, asked, definition: defined(ctx, type, patch, row), name })
  })
}

/** A monitor as it is to be, beside how its target and options are kept. */
export interface Rewriting {
  type: MonitorType
  kept: Asked
  asked: Asked
  definition: Definition
  name: string
}

/** Makes a monitor what it is to be, as a step of the change that edits it. @throws Problem 422, 403, 409 */
export async function rewritten(
  tx: Tx,
  ctx: Ctx,
  row: MonitorRow,
  { type, kept, asked, definition, name }: Rewriting,
): Promise<Changed<MonitorView>> {
  const sameOptions = isDeepStrictEqual(asked.options, kept.options)
  const columns = { name, target: asked.target, ...definition }
  if (sameOptions && isAlready(row, columns))
    return { result: monitorView(ctx.hub, row), target: monitorTarget(row), unchanged: true }
  if (!sameOptions || asked.target !== row.target) await refuseUnreachable(ctx, tx, type, asked)
  if (!isDeepStrictEqual(definition.channelIds, row.channelIds))
    await refuseUnknownChannels(tx, ctx.workspaceId, definition.channelIds)
  if (definition.key !== row.key) await refuseTakenKey(tx, ctx, definition.key, row.id)
  if (!sameOptions || !isDeepStrictEqual(definition.dependsOn, row.dependsOn))
    await refuseBadRelations(tx, ctx, row.id, { type: type.name, dependsOn: definition.dependsOn, options: asked.options })
  const [after] = await tx
    .update(monitors)
    .set({
      ...columns,
      ...(!sameOptions && (await optionColumns(tx, ctx.hub, row, type, asked.options))),
      ...((!sameOptions || asked.target !== row.target) && { certificateExpiresAt: null }),
      version: row.version + 1,
      updatedAt: ctx.hub.clock.now(),
    })
    .where(eq(monitors.id, row.id))
    .returning()
  const view = monitorView(ctx.hub, after!)
  return {
    result: view,
    target: monitorTarget(row),
    before: { ...monitorView(ctx.hub, row), secret: secretTag(type, kept.options) },
    after: { ...view, secret: secretTag(type, asked.options) },
    wakes: [monitoringTopic],
  }
}

/** Removes a monitor with its history; its incident is resolved. Groups and monitors that name it name it no more. @throws Problem 404, 412 */
export async function deleteMonitor(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'monitor.delete', async tx => {
    const row = await monitorHeld(tx, ctx, id)
    requireMatch(ctx, row)
    return await removed(tx, ctx, row)
  })
}

/** What the removal of a monitor takes with it, as a step of the change that removes it. */
export async function removed(tx: Tx, ctx: Ctx, row: MonitorRow): Promise<Changed<undefined>> {
  const touched = await leaveRelations(tx, ctx, row.id)
  const { incident: _, ...ended } = await resolveIncident(tx, ctx.hub, {
    subject: row.id,
    at: ctx.hub.clock.now(),
    reason: 'deleted',
  })
  await tx.delete(monitors).where(eq(monitors.id, row.id))
  return {
    result: undefined,
    target: [row, ...touched].map(monitorTarget),
    before: monitorView(ctx.hub, row),
    ...ended,
    jobs: [...ended.jobs, forgetSeries(row.number)],
    wakes: [...ended.wakes, monitoringTopic],
  }
}

/** How a monitor stands of which nothing is known yet. */
export const asNew = (now: number): { status: 'new'; statusSince: number; state: MonitorState } => ({
  status: 'new',
  statusSince: now,
  state: newMonitorState(now),
})

/** Null where there are none, so that the audit log shows a tag only of what there is. */
function secretTag(type: MonitorType, options: Settings): Settings | null {
  const secrets = optionSecrets(type, options)
  return Object.keys(secrets).length === 0 ? null : secrets
}

const mine = (ctx: Ctx, id: string) => and(eq(monitors.id, id), eq(monitors.workspaceId, ctx.workspaceId))
