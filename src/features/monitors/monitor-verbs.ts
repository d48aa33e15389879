import type { AuditAction } from '../../core/audit-actions'
import { change } from '../../core/change'
import type { ChangeResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { memberValues } from '../../core/members'
import { changedRow, findRow, lockRow, saveRow } from '../../core/rows'
import { noDrafts, type Resolution } from '../incidents/outages/outage'
import { resolveIncident } from '../incidents/outages/outages'
import { channelNames, existingChannels } from '../notifications/channel-references'
import { monitorTypeOf } from './definition/types'
import { initialStatus, insertMonitor } from './monitors'
import { openOptions } from './definition/options'
import { definitionMembers, statusRank, type MonitorView } from './shapes'
import { monitorTransitions } from './tables'
import { monitoringTopic } from './live/topic'
import { monitorRows, monitorTarget, monitorView, type MonitorRow } from './view'

/** Stops checking a monitor. Pausing a paused monitor changes nothing. @throws Problem 404, 412 */
export const pauseMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  applyStateChange(ctx, 'monitor.pause', id, row =>
    row.paused
      ? null
      : {
          ...initialStatus(ctx.hub.clock.now()),
          paused: true,
          status: 'paused',
          ends: 'paused',
          reason: `Paused by ${actorName(ctx)}.`,
        },
  )

/** Resumes a monitor as if it were new. Resuming a monitor that is not paused changes nothing. @throws Problem 404, 412 */
export const resumeMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  applyStateChange(ctx, 'monitor.resume', id, row =>
    row.paused
      ? { ...initialStatus(ctx.hub.clock.now()), paused: false, ends: null, reason: `Resumed by ${actorName(ctx)}.` }
      : null,
  )

/**
 * Discards the current state of a monitor: status, streaks, flapping, suppressed alerts. Keeps its history. A paused monitor stays paused.
 * @throws Problem 404, 412
 */
export const resetMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  applyStateChange(ctx, 'monitor.reset', id, row => {
    const fresh = initialStatus(ctx.hub.clock.now())
    return {
      ...fresh,
      status: row.paused ? 'paused' : 'new',
      paused: row.paused,
      ends: 'reset',
      reason: `Reset by ${actorName(ctx)}.`,
    }
  })

/**
 * Copies a monitor including its secrets, but without its key, which is unique.
 * @throws Problem 404, 403 `plan_limit_reached`
 */
export async function cloneMonitor(ctx: Ctx, id: string, input: { name?: string }): Promise<MonitorView> {
  return await change(ctx, 'monitor.clone', async tx => {
    const from = await findRow(tx, ctx, monitorRows, id)
    const type = monitorTypeOf(from.type)
    const options = await openOptions(ctx.hub, from, tx)
    const name = input.name ?? `${[...from.name].slice(0, 190).join('')} (copy)`
    const definition = {
      ...memberValues(definitionMembers, from),
      key: null,
      channelIds: existingChannels(from.channelIds, await channelNames(tx, ctx.workspaceId)),
    }
    const copy = await insertMonitor(tx, ctx, { type, name, definition, next: { target: from.target, options } })
    return { ...copy, target: [copy.target, monitorTarget(from)].flat() }
  })
}

type StateChange = Pick<MonitorRow, 'paused' | 'status' | 'statusSince' | 'state'> & {
  reason: string
  /** How to resolve its incident; null if it can't have one. */
  ends: Resolution | null
}

/** @param turn returns the new state, or null for no change */
async function applyStateChange(
  ctx: Ctx,
  action: AuditAction,
  id: string,
  turn: (row: MonitorRow) => StateChange | null,
): Promise<MonitorView> {
  return await change(ctx, action, async (tx): Promise<ChangeResult<MonitorView>> => {
    const row = await lockRow(tx, ctx, monitorRows, id)
    const after = turn(row)
    if (after === null) return { result: monitorView(ctx.hub, row), target: monitorTarget(row), unchanged: true }
    const { reason, ends, ...columns } = after
    if (columns.status === row.status) columns.statusSince = row.statusSince
    const changed = await saveRow(tx, ctx, monitorRows, row, {
      ...columns,
      statusRank: statusRank(columns.status),
      stateVersion: row.stateVersion + 1,
    })
    await writeTransition(tx, row, changed, reason)
    const { incident: _, ...ended } = ends
      ? await resolveIncident(tx, ctx.hub, { subject: id, at: ctx.hub.clock.now(), reason: ends, text: reason })
      : { incident: null, ...noDrafts() }
    return {
      ...(await changedRow(monitorRows, row, changed, one => monitorView(ctx.hub, one))),
      ...ended,
      wakeTopics: [...ended.wakes, monitoringTopic],
    }
  })
}

async function writeTransition(tx: Tx, before: MonitorRow, after: MonitorRow, reason: string): Promise<void> {
  if (before.status === after.status) return
  await tx.insert(monitorTransitions).values({
    id: newId('mtr'),
    monitorId: before.id,
    at: after.statusSince,
    from: before.status,
    to: after.status,
    reason,
    incidentId: null,
  })
}

const actorName = (ctx: Ctx): string => ctx.actor.name ?? ctx.actor.id
