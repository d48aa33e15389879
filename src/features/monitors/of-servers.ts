import { and, asc, eq, inArray } from 'drizzle-orm'
import { auditDrafts, jobContext, systemActor } from '../../core/change'
import type { ChangeResult, Consequences } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { Problem } from '../../core/problem'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { definitionFrom } from './definition/definition'
import { validatedOptions } from './definition/options'
import { monitorTypeOf } from './definition/types'
import { insertMonitor, removeMonitor } from './monitors'
import { monitors } from './tables'

/** What a monitor of a new server watches in addition to its health. */
const degradedIf = [
  '[DISK_PERCENT] > 90',
  '[SMART_FAILING] == true',
  '[ARRAYS_DEGRADED] > 0',
  '[FAILED_UNITS] > 0',
  '[CERTIFICATES_NOT_SERVED] > 0',
]
const serversAtOnce = 500

/**
 * Creates the monitor of a new server, within the change that creates the server. Callers who can’t create monitors get none. If the
 * plan doesn’t allow another monitor, the workspace gets a notice instead.
 */
export async function monitorNewServer(tx: Tx, ctx: Ctx, { id, name }: { id: string; name: string }): Promise<Consequences> {
  if (!ctx.permissions.has('monitoring.write')) return {}
  const type = monitorTypeOf('server')
  const definition = definitionFrom(ctx, type, { degraded_if: degradedIf }, null)
  try {
    const created = await insertMonitor(tx, ctx, { type, name, definition, next: validatedOptions(type, id, {}) })
    return effectsOf(ctx, 'monitor.create', created)
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== 'plan_limit_reached') throw error
    return {
      notices: [
        {
          workspaceId: ctx.workspaceId,
          kind: 'server.not_monitored',
          resource: { type: 'server', id, name },
          text: `The server ${name} has no monitor, because the plan doesn’t allow more monitors.`,
          details: { server_id: id },
          dedupKey: id,
        },
      ],
    }
  }
}

/**
 * Deletes the monitors that follow some servers, within the change that deletes the servers.
 * @param ids of servers of the workspace, which the change has locked
 */
export async function removeMonitorsOf(tx: Tx, hub: Hub, workspaceId: string, ids: readonly string[]): Promise<Consequences> {
  const by = { hub, workspaceId, actor: systemActor('servers'), context: jobContext }
  const all: Consequences[] = []
  for (let at = 0; at < ids.length; at += serversAtOnce) {
    const targets = ids.slice(at, at + serversAtOnce)
    const rows = await forUpdate(
      tx
        .select()
        .from(monitors)
        .where(and(eq(monitors.workspaceId, workspaceId), eq(monitors.type, 'server'), inArray(monitors.target, targets)))
        .orderBy(asc(monitors.id)),
    )
    for (const row of rows) {
      all.push(effectsOf(by, 'monitor.delete', { ...(await removeMonitor(tx, by, row)), reason: 'Its server was deleted.' }))
      if (isTurnOver()) await yieldToEventLoop()
    }
  }
  return {
    audits: all.flatMap(one => one.audits ?? []),
    events: all.flatMap(one => one.events ?? []),
    jobs: all.flatMap(one => one.jobs ?? []),
    notices: all.flatMap(one => one.notices ?? []),
    wakeTopics: all.flatMap(one => one.wakeTopics ?? []),
  }
}

const effectsOf = (
  by: Pick<Ctx, 'workspaceId' | 'actor' | 'context'>,
  action: 'monitor.create' | 'monitor.delete',
  done: ChangeResult<unknown>,
): Consequences => ({
  audits: auditDrafts(by, action, done),
  events: done.events ?? [],
  jobs: done.jobs ?? [],
  notices: done.notices ?? [],
  wakeTopics: done.wakeTopics ?? [],
})
