import { isDeepStrictEqual } from 'node:util'
import { refuseOverLimit } from '../../access/plans'
import { change, isUnchanged } from '../../core/change'
import { nextNumber } from '../../core/counters'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { invalid } from '../../core/problem'
import { canAccess } from '../../core/resource-access'
import { findRow, insertRow, lockRow, removeRow, saveRow } from '../../core/rows'
import type { Settings } from '../../core/sealed-settings'
import { resolveIncident } from '../incidents/outages/outages'
import { refuseUnknownChannels } from '../notifications/channel-references'
import { definitionFrom, type Definition } from './definition/definition'
import { shareOf } from './live/shares'
import { monitorTypeOf, type MonitorType } from './definition/types'
import {
  validatedOptions,
  patchedOptions,
  openOptions,
  optionColumns,
  optionSecrets,
  type TargetAndOptions,
} from './definition/options'
import { refuseUnreachable } from './definition/reach'
import { removeFromRelations, refuseBadRelations, refuseTakenKey } from './relations'
import { declareDomain } from './domain'
import { deleteSeries } from './series/delete-series'
import { statusRank, type MonitorInput, type MonitorPatch, type MonitorView } from './shapes'
import { newMonitorState, type MonitorState } from './verdict/state'
import { monitoringTopic } from './live/topic'
import { parseTarget } from './definition/parse-target'
import { monitorRows, monitorTarget, monitorView, type MonitorRow } from './view'

/** @throws Problem 404 */
export const getMonitor = async (ctx: Ctx, id: string): Promise<MonitorView> =>
  monitorView(ctx.hub, await findRow(ctx.hub.read, ctx, monitorRows, id))

/**
 * Creates a monitor, which is checked immediately.
 * @throws Problem 422 for each invalid field, 403 `plan_limit_reached`, 409 `already_exists` for the key
 */
export async function createMonitor(ctx: Ctx, input: MonitorInput): Promise<MonitorView> {
  const { type: typeName, target, name: derived } = parseTarget(input)
  const type = monitorTypeOf(typeName)
  const definition = definitionFrom(ctx, type, input, null)
  const next = validatedOptions(type, target, input.options ?? {})
  const name = input.name ?? (await serverNameOf(ctx, ctx.hub.read, type, next)) ?? derived
  return await change(ctx, 'monitor.create', async tx => {
    return await insertMonitor(tx, ctx, { type, name, definition, next })
  })
}

/** Creates a monitor within a change. @throws Problem 422, 403, 409 */
export async function insertMonitor(
  tx: Tx,
  ctx: Ctx,
  { type, name, definition, next }: Omit<MonitorRewrite, 'current'>,
): Promise<ChangeResult<MonitorView>> {
  await refuseUnreachable(ctx, tx, type, next)
  await refuseUnknownServer(ctx, tx, type, next)
  await refuseOverLimit(tx, ctx, 'monitor')
  await refuseTakenKey(tx, ctx, definition.key, null)
  await refuseUnknownChannels(tx, ctx.workspaceId, definition.channelIds)
  await refuseBadRelations(tx, ctx, null, { type: type.name, dependsOn: definition.dependsOn, options: next.options })
  const own = { id: newId('mon'), workspaceId: ctx.workspaceId }
  const row = await insertRow(tx, ctx, monitorRows, {
    ...own,
    number: await nextNumber(tx, 'monitor'),
    share: shareOf(own.id),
    type: type.name,
    name,
    target: next.target,
    ...definition,
    ...(await optionColumns(tx, ctx.hub, own, type, next.options)),
    paused: false,
    ...initialStatus(ctx.hub.clock.now()),
    statusRank: statusRank('new'),
    stateVersion: 1,
    lastCheckAt: null,
    certificateExpiresAt: null,
  })
  await declareDomain(tx, ctx.hub, row.id, null, row)
  const view = monitorView(ctx.hub, row)
  return {
    result: view,
    target: monitorTarget(row),
    after: { ...view, secret: secretTag(type, next.options) },
    wakeTopics: [monitoringTopic],
  }
}

/**
 * Updates a monitor, which is then checked immediately. It keeps its status until then.
 * @throws Problem 404, 409 `already_exists` for the key, 412, 422, 403 `plan_limit_reached`
 */
export async function updateMonitor(ctx: Ctx, id: string, patch: MonitorPatch): Promise<MonitorView> {
  return await change(ctx, 'monitor.update', async tx => {
    const row = await lockRow(tx, ctx, monitorRows, id)
    const type = monitorTypeOf(row.type)
    const current = { target: row.target, options: await openOptions(ctx.hub, row, tx) }
    const next = patchedOptions(type, current, patch)
    const name = patch.name === null ? await derivedName(ctx, tx, type, next) : (patch.name ?? row.name)
    return await rewriteMonitor(tx, ctx, row, { type, current, next, definition: definitionFrom(ctx, type, patch, row), name })
  })
}

/** The new definition of a monitor, and its stored target and options. */
interface MonitorRewrite {
  type: MonitorType
  current: TargetAndOptions
  next: TargetAndOptions
  definition: Definition
  name: string
}

/** Updates a monitor within a change. @throws Problem 422, 403, 409 */
export async function rewriteMonitor(
  tx: Tx,
  ctx: Ctx,
  row: MonitorRow,
  { type, current, next, definition, name }: MonitorRewrite,
): Promise<ChangeResult<MonitorView>> {
  const sameOptions = isDeepStrictEqual(next.options, current.options)
  const columns = { name, target: next.target, ...definition }
  if (sameOptions && isUnchanged(row, columns))
    return { result: monitorView(ctx.hub, row), target: monitorTarget(row), unchanged: true }
  if (!sameOptions || next.target !== row.target) await refuseUnreachable(ctx, tx, type, next)
  if (next.target !== row.target) await refuseUnknownServer(ctx, tx, type, next)
  if (!isDeepStrictEqual(definition.channelIds, row.channelIds))
    await refuseUnknownChannels(tx, ctx.workspaceId, definition.channelIds)
  if (definition.key !== row.key) await refuseTakenKey(tx, ctx, definition.key, row.id)
  if (!sameOptions || !isDeepStrictEqual(definition.dependsOn, row.dependsOn))
    await refuseBadRelations(tx, ctx, row.id, { type: type.name, dependsOn: definition.dependsOn, options: next.options })
  const after = await saveRow(tx, ctx, monitorRows, row, {
    ...columns,
    ...(!sameOptions && (await optionColumns(tx, ctx.hub, row, type, next.options))),
    ...((!sameOptions || next.target !== row.target) && { certificateExpiresAt: null }),
  })
  await declareDomain(tx, ctx.hub, row.id, row, after)
  const view = monitorView(ctx.hub, after)
  return {
    result: view,
    target: monitorTarget(row),
    before: { ...monitorView(ctx.hub, row), secret: secretTag(type, current.options) },
    after: { ...view, secret: secretTag(type, next.options) },
    wakeTopics: [monitoringTopic],
  }
}

/** The name of a monitor without a name of its own. @throws Problem 422 if it can’t be derived */
const derivedName = async (ctx: Ctx, read: Reader, type: MonitorType, next: TargetAndOptions): Promise<string> =>
  (await serverNameOf(ctx, read, type, next)) ?? parseTarget({ type: type.name, target: next.target }).name

/** The name of the server that a monitor follows; null if there is none that the caller can read. */
const serverNameOf = async (
  ctx: Ctx,
  read: Reader,
  type: MonitorType,
  { target: id }: TargetAndOptions,
  lock?: 'lock',
): Promise<string | null> =>
  type.name === 'server' && ctx.permissions.has('cloud.read') && canAccess(ctx, id)
    ? await ctx.hub.serverStates.nameOf(read, ctx.workspaceId, id, lock)
    : null

/** @throws Problem 422 if a monitor follows a server that does not exist or that the caller can’t read */
async function refuseUnknownServer(ctx: Ctx, tx: Tx, type: MonitorType, next: TargetAndOptions): Promise<void> {
  // Locked, or a deletion of the server at the same time would miss the monitor.
  if (type.name !== 'server' || (await serverNameOf(ctx, tx, type, next, 'lock')) !== null) return
  throw invalid([{ pointer: '#/target', code: 'not_found', detail: 'There is no server with this ID.' }])
}

/** Deletes a monitor with its history, resolves its incident, and removes it from groups and dependencies. @throws Problem 404, 412 */
export async function deleteMonitor(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'monitor.delete', async tx => {
    const row = await lockRow(tx, ctx, monitorRows, id)
    return await removeMonitor(tx, ctx, row)
  })
}

/**
 * Deletes a monitor, and everything that goes with it, within a change.
 * @param isReferenced false if no other monitor refers to it, which saves searching for them
 */
export async function removeMonitor(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  row: MonitorRow,
  isReferenced = true,
): Promise<ChangeResult<undefined>> {
  const touched = isReferenced ? await removeFromRelations(tx, ctx, row.id) : []
  const { incident: _, ...ended } = await resolveIncident(tx, ctx.hub, {
    subject: row.id,
    at: ctx.hub.clock.now(),
    reason: 'deleted',
  })
  await removeRow(tx, monitorRows, row)
  await declareDomain(tx, ctx.hub, row.id, row, null)
  return {
    result: undefined,
    target: [row, ...touched].map(monitorTarget),
    before: monitorView(ctx.hub, row),
    ...ended,
    jobs: [...ended.jobs, deleteSeries(row.number)],
    wakeTopics: [...ended.wakes, monitoringTopic],
  }
}

/** The status columns of a monitor that has not been checked yet. */
export const initialStatus = (now: number): { status: 'new'; statusSince: number; state: MonitorState } => ({
  status: 'new',
  statusSince: now,
  state: newMonitorState(now),
})

/** Null if there are no secrets, so the audit log shows a tag only for secrets that are set. */
function secretTag(type: MonitorType, options: Settings): Settings | null {
  const secrets = optionSecrets(type, options)
  return Object.keys(secrets).length === 0 ? null : secrets
}
