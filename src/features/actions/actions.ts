import { and, eq, sql } from 'drizzle-orm'
import { waitFor, type Waiting } from '../../api/long-poll'
import { change, record } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Reader } from '../../core/db/transaction'
import { isByIdOnly, listPage } from '../../core/list'
import type { Listing } from '../../core/listing'
import { textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { canAccess } from '../../core/resource-access'
import { areas } from '../../core/permissions'
import { conflict, notFound, Problem } from '../../core/problem'
import { onePage, type Page } from '../../core/shapes'
import { actionView, isFinished, type ActionRow } from './action-view'
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
  accessColumn: actions.resourceId,
  defaultSort: '-id',
  filters: {
    status: wordsFilter(actions.status, actionStates, 'Only actions with these statuses.'),
    type: textFilter(actions.type, 'Only actions of this type.'),
    area: wordsFilter(actions.area, areas, 'Only actions in these areas.'),
    resource_id: {
      ...textFilter(actions.resourceId, 'Only actions that work on the resource with this ID.'),
      where: (value, place) =>
        sql`exists (select 1 from ${actionResources} where ${actionResources.actionId} = ${actions.id} and ${actionResources.resourceId} = ${place(value)})`,
    },
    resource_type: textFilter(actions.resourceType, 'Only actions whose main resource has this type.'),
    ...timeFilters('created_at', actions.createdAt),
  },
  sorts: { created_at: { column: actions.createdAt, read: row => row.createdAt } },
}

/** Scans the actions of a resource instead of all. */
const resourceActionListing: Listing<ActionRow> = {
  ...actionListing,
  name: 'actions-of-resource',
  through: { table: actionResources, on: eq(actions.id, actionResources.actionId) },
  id: actionResources.actionId,
  filters: {
    ...actionListing.filters,
    resource_id: {
      ...actionListing.filters.resource_id!,
      where: (value, place) => sql`${actionResources.resourceId} = ${place(value)}`,
      finds: () => 'scanned',
    },
  },
}

/** Lists the actions in the areas that the caller has read permission for. */
export async function listActions(ctx: Ctx, query: Record<string, unknown>): Promise<Page<ActionView>> {
  const readable = areas.filter(one => ctx.permissions.has(`${one}.read`))
  const listing = query.resource_id !== undefined && isByIdOnly(query) ? resourceActionListing : actionListing
  if (query.area === undefined && readable.length === areas.length) return await listPage(ctx, listing, query, actionView)
  const area = readable.filter(one => (query.area as string[] | undefined)?.includes(one) ?? true)
  if (area.length === 0) return onePage([])
  return await listPage(ctx, listing, { ...query, area }, actionView)
}

/**
 * Returns an action. If the caller wants to wait, returns when the action has finished or the time is up.
 * @throws Problem 404, 429
 */
export async function getAction(ctx: Ctx, id: string, waiting: Waiting | null): Promise<ActionView> {
  let row = await actionOf(ctx.hub.read, ctx, id)
  await waitFor(ctx, waiting, actionTopic(id), async () => {
    row = await actionOf(ctx.hub.read, ctx, id)
    return isFinished(row) ? row : null
  })
  return actionView(row)
}

/**
 * Cancels an action: immediately if it has not started, otherwise after the chunk in progress.
 * @throws Problem 403 without write permission on its area, 404, 409 if it has finished or is not cancelable
 */
export async function cancelAction(ctx: Ctx, id: string): Promise<ActionView> {
  await requireWrite(ctx, await actionOf(ctx.hub.read, ctx, id))
  return await change(ctx, cancelAudit, async tx => {
    const [row] = await forUpdate(tx.select().from(actions).where(eq(actions.id, id)))
    if (!row) throw notFound('action')
    if (isFinished(row)) throw conflict('The action has already finished.')
    if (!row.cancelable) throw conflict(`Actions of the type ${row.type} can’t be canceled.`)
    const now = ctx.hub.clock.now()
    const [requested] = await tx
      .update(actions)
      .set({ cancelRequestedAt: row.cancelRequestedAt ?? now })
      .where(eq(actions.id, id))
      .returning()
    const after = row.status === 'pending' ? await endAction(tx, requested!, { status: 'canceled' }, now) : requested
    const result = actionView(after!)
    return {
      result,
      target: { type: 'action', id, name: row.type },
      before: { status: row.status },
      after: { status: result.status },
      wakeTopics: [actionTopic(id)],
    }
  })
}

async function actionOf(read: Reader, ctx: Ctx, id: string): Promise<ActionRow> {
  const [row] = await read
    .select()
    .from(actions)
    .where(and(eq(actions.id, id), eq(actions.workspaceId, ctx.workspaceId)))
  if (!row || !canAccess(ctx, row.resourceId) || !ctx.permissions.has(`${row.area}.read`)) throw notFound('action')
  return row
}

/** The required permission depends on the action, so the guard of the route can't check it. */
async function requireWrite(ctx: Ctx, row: ActionRow): Promise<void> {
  const permission = `${row.area}.write` as const
  if (ctx.permissions.has(permission)) return
  const detail = `This requires the \`${permission}\` permission.`
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
  throw new Problem('insufficient_permission', detail, { fields: { required_permission: permission } })
}
