import { eq } from 'drizzle-orm'
import type { AuditAction } from '../../core/audit-actions'
import { change, type Changed } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { newId } from '../../core/ids'
import { requireMatch } from '../../core/if-match'
import { noDrafts, type Resolution } from '../incidents/outage'
import { resolveIncident } from '../incidents/outages'
import { channelNames, stillThere } from '../notifications/known-channels'
import { monitorTypeOf } from './monitor-types'
import { asNew, made, monitorHeld, monitorOf } from './monitors'
import { openOptions } from './options'
import type { MonitorView } from './shapes'
import { monitors, monitorTransitions } from './tables'
import { monitoringTopic } from './topic'
import { monitorTarget, monitorView, type MonitorRow } from './view'

/** Stops checking. Pausing what is paused changes nothing. @throws Problem 404, 412 */
export const pauseMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  turned(ctx, 'monitor.pause', id, row =>
    row.paused
      ? null
      : { ...asNew(ctx.hub.clock.now()), paused: true, status: 'paused', ends: 'paused', reason: `Paused by ${whoOf(ctx)}.` },
  )

/** Checks again, at once and as if it were new. Resuming what is not paused changes nothing. @throws Problem 404, 412 */
export const resumeMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  turned(ctx, 'monitor.resume', id, row =>
    row.paused ? { ...asNew(ctx.hub.clock.now()), paused: false, ends: null, reason: `Resumed by ${whoOf(ctx)}.` } : null,
  )

/**
 * Forgets how it stood, as if it were new: streaks, flapping, alerts that are held back. Its history stays. One that is paused stays so.
 * @throws Problem 404, 412
 */
export const resetMonitor = (ctx: Ctx, id: string): Promise<MonitorView> =>
  turned(ctx, 'monitor.reset', id, row => {
    const fresh = asNew(ctx.hub.clock.now())
    return {
      ...fresh,
      status: row.paused ? 'paused' : 'new',
      paused: row.paused,
      ends: 'reset',
      reason: `Begun anew by ${whoOf(ctx)}.`,
    }
  })

/**
 * Makes a monitor like another, secrets among its options; without its key, which is unique.
 * @throws Problem 404, 403 `plan_limit_reached`
 */
export async function cloneMonitor(ctx: Ctx, id: string, input: { name?: string }): Promise<MonitorView> {
  return await change(ctx, 'monitor.clone', async tx => {
    const from = await monitorOf(tx, ctx, id)
    const type = monitorTypeOf(from.type)
    const options = await openOptions(ctx.hub, from, tx)
    const name = input.name ?? `${[...from.name].slice(0, 190).join('')} (copy)`
    const definition = {
      ...definitionOf(from),
      channelIds: stillThere(from.channelIds, await channelNames(tx, ctx.workspaceId)),
    }
    const copy = await made(tx, ctx, { type, name, definition, asked: { target: from.target, options } })
    return { ...copy, target: [copy.target, monitorTarget(from)].flat() }
  })
}

type Turn = Pick<MonitorRow, 'paused' | 'status' | 'statusSince' | 'state'> & {
  reason: string
  /** Why its incident is over; null where it cannot have one. */
  ends: Resolution | null
}

/** @param turn what becomes of it; null for nothing */
async function turned(ctx: Ctx, action: AuditAction, id: string, turn: (row: MonitorRow) => Turn | null): Promise<MonitorView> {
  return await change(ctx, action, async (tx): Promise<Changed<MonitorView>> => {
    const row = await monitorHeld(tx, ctx, id)
    requireMatch(ctx, row)
    const after = turn(row)
    if (after === null) return { result: monitorView(ctx.hub, row), target: monitorTarget(row), unchanged: true }
    const { reason, ends, ...columns } = after
    if (columns.status === row.status) columns.statusSince = row.statusSince
    const [changed] = await tx
      .update(monitors)
      .set({ ...columns, stateVersion: row.stateVersion + 1, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(eq(monitors.id, id))
      .returning()
    await writeTransition(tx, row, changed!, reason)
    const { incident: _, ...ended } = ends
      ? await resolveIncident(tx, ctx.hub, { subject: id, at: ctx.hub.clock.now(), reason: ends, text: reason })
      : { incident: null, ...noDrafts() }
    const view = monitorView(ctx.hub, changed!)
    return {
      result: view,
      target: monitorTarget(row),
      before: monitorView(ctx.hub, row),
      after: view,
      ...ended,
      wakes: [...ended.wakes, monitoringTopic],
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

const whoOf = (ctx: Ctx): string => ctx.actor.name ?? ctx.actor.id

function definitionOf(row: MonitorRow) {
  return {
    key: null,
    description: row.description,
    intervalSeconds: row.intervalSeconds,
    timeoutSeconds: row.timeoutSeconds,
    retryIntervalSeconds: row.retryIntervalSeconds,
    confirm: row.confirm,
    recover: row.recover,
    recoverySeconds: row.recoverySeconds,
    quorum: row.quorum,
    downIf: row.downIf,
    degradedIf: row.degradedIf,
    degradedMs: row.degradedMs,
    locations: row.locations,
    tags: row.tags,
    dependsOn: row.dependsOn,
    dependencyGraceSeconds: row.dependencyGraceSeconds,
    severity: row.severity,
  }
}
