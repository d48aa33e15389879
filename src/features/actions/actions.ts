import { and, eq, sql } from 'drizzle-orm'
import { waitFor, type Waiting } from '../../access/long-poll'
import { change, record } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { locking } from '../../core/db/dialect'
import type { Reader } from '../../core/db/transaction'
import { listPage, textFilter, timeFilters, wordsFilter, type Listing } from '../../core/list'
import { reaches } from '../../core/narrowing'
import { areas } from '../../core/permissions'
import { conflict, notFound, Problem } from '../../core/problem'
import type { Page } from '../../core/shapes'
import { actionView, isOver, type ActionRow } from './action-view'
import { endAction } from './end'
import { actionTopic } from './kind'
import type { ActionView } from './shapes'
import { actionResources, actions, actionStates } from './tables'

export const cancelAudit = 'account.action.cancel'

export const actionListing: Listing<ActionRow> = {
  name: 'actions',
  table: actions as never,
  id: actions.id,
  idOf: row => row.id,
  owner: actions.workspaceId,
  narrowedBy: actions.resourceId,
  defaultSort: '-id',
  filters: {
    status: wordsFilter(actions.status, actionStates, 'Only those of these states.'),
    type: textFilter(actions.type, 'Only those of this type.'),
    area: wordsFilter(actions.area, areas, 'Only those of these areas.'),
    resource_id: {
      ...textFilter(actions.resourceId, 'Only those that work on this resource.'),
      where: (value, place) =>
        sql`exists (select 1 from ${actionResources} where ${actionResources.actionId} = ${actions.id} and ${actionResources.resourceId} = ${place(value)})`,
    },
    resource_type: textFilter(actions.resourceType, 'Only those whose main resource is of this type.'),
    ...timeFilters('created_at', actions.createdAt),
  },
  sorts: { created_at: { column: actions.createdAt, read: row => row.createdAt } },
}

/** Actions of the areas that the caller may read. */
export async function listActions(ctx: Ctx, query: Record<string, unknown>): Promise<Page<ActionView>> {
  const open = areas.filter(one => ctx.permissions.has(`${one}.read`))
  if (query.area === undefined && open.length === areas.length) return await listPage(ctx, actionListing, query, actionView)
  const area = open.filter(one => (query.area as string[] | undefined)?.includes(one) ?? true)
  if (area.length === 0) return { data: [], pagination: { has_more: false, next_cursor: null } }
  return await listPage(ctx, actionListing, { ...query, area }, actionView)
}

/**
 * The action; to a caller who would rather wait, once it has ended.
 * @throws Problem 404, 429
 */
export async function getAction(ctx: Ctx, id: string, waiting: Waiting | null): Promise<ActionView> {
  let row = await actionOf(ctx.hub.read, ctx, id)
  await waitFor(ctx, waiting, actionTopic(id), async () => {
    row = await actionOf(ctx.hub.read, ctx, id)
    return isOver(row) ? row : null
  })
  return actionView(row)
}

/**
 * Calls an action off: at once when it was not begun, else after the piece under way.
 * @throws Problem 403 without the write permission on its area, 404, 409 when it is over or cannot be called off
 */
export async function cancelAction(ctx: Ctx, id: string): Promise<ActionView> {
  const seen = await actionOf(ctx.hub.read, ctx, id)
  await requireWrite(ctx, seen)
  return await change(ctx, cancelAudit, async tx => {
    const [row] = await locking(tx.select().from(actions).where(eq(actions.id, id)))
    if (!row) throw notFound('action')
    if (isOver(row)) throw conflict('The action has ended.')
    if (!row.cancellable) throw conflict(`An action of the type ${row.type} cannot be called off.`)
    const now = ctx.hub.clock.now()
    const [asked] = await tx
      .update(actions)
      .set({ cancelRequestedAt: row.cancelRequestedAt ?? now })
      .where(eq(actions.id, id))
      .returning()
    const after = row.status === 'pending' ? await endAction(tx, asked!, { status: 'cancelled' }, now) : asked
    const result = actionView(after!)
    return {
      result,
      target: { type: 'action', id, name: row.type },
      before: { status: row.status },
      after: { status: result.status },
      wakes: [actionTopic(id)],
    }
  })
}

async function actionOf(read: Reader, ctx: Ctx, id: string): Promise<ActionRow> {
  const [row] = await read
    .select()
    .from(actions)
    .where(and(eq(actions.id, id), eq(actions.workspaceId, ctx.workspaceId)))
  if (!row || !reaches(ctx, row.resourceId) || !ctx.permissions.has(`${row.area}.read`)) throw notFound('action')
  return row
}

/** Which permission it is, only the action tells: the door cannot look. */
async function requireWrite(ctx: Ctx, row: ActionRow): Promise<void> {
  const permission = `${row.area}.write` as const
  if (ctx.permissions.has(permission)) return
  const detail = `This needs the permission ${permission}.`
  await record(ctx.hub, async () => ({
    result: undefined,
    audits: [
      {
        workspaceId: ctx.workspaceId,
        action: cancelAudit,
        outcome: 'denied' as const,
        actor: ctx.actor,
        context: ctx.context,
        targets: [{ type: 'action', id: row.id, name: row.type }],
        reason: detail,
      },
    ],
  }))
  throw new Problem('insufficient_permission', detail, { members: { required_permission: permission } })
}
