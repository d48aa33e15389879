import { Type } from '@sinclair/typebox'
import { sql } from 'drizzle-orm'
import { codeOf } from '../audit-actions'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { auditEntries } from '../../core/db/tables'
import { listingOf, listPage } from '../../core/list'
import { textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { invalidParameter } from '../../core/query'
import { findRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import { rowsOf } from '../../registry'
import { unknownActions, unknownActionDetail } from './actions-filter'
import { actionPattern, type AuditEventView } from './shapes'

type Entry = typeof auditEntries.$inferSelect

const isPrefix = (value: unknown) => (value as string).endsWith('*')

const auditRows = rowsOf('audit_event', auditEntries, { accessTo: row => row.targetId })

export const auditListing = listingOf('audit-events', auditEntries, {
  // Ids of events that are recorded at the same time on several hubs aren't in the order of the chain.
  order: { column: auditEntries.seq, read: row => row.seq },
  defaultSort: '-seq',
  accessColumn: auditEntries.targetId,
  filters: {
    action: {
      schema: Type.String({
        ...actionPattern,
        description: 'Only this action, or all actions with a prefix, such as `heartbeat.*`.',
      }),
      where: (value, bind) =>
        isPrefix(value)
          ? sql`${auditEntries.action} like ${bind(`${(value as string).slice(0, -1).replaceAll('_', '\\_')}%`)} escape '\\'`
          : sql`${auditEntries.action} = ${bind(value)}`,
      variant: value => (isPrefix(value) ? 'prefix' : 'exact'),
      finds: value => (isPrefix(value) ? undefined : { equal: auditEntries.action, values: [value] }),
    },
    outcome: wordsFilter(auditEntries.outcome, ['success', 'failure', 'denied'], 'Only events with these outcomes.'),
    actor_id: textFilter(
      auditEntries.actorId,
      'Only events of this actor: the ID of a user, token, heartbeat, or notification channel, or the name of a job.',
    ),
    actor_type: wordsFilter(
      auditEntries.actorType,
      ['user', 'token', 'ingest', 'system', 'operator', 'anonymous'],
      'Only events of actors of these types.',
    ),
    target_id: textFilter(auditEntries.targetId, 'Only events that affected the resource with this ID.'),
    ...timeFilters('occurred_at', auditEntries.occurredAt),
  },
  sorts: ['seq', 'occurred_at'],
})

/** @throws Problem 400 for an unknown action */
export async function listAuditEvents(ctx: Ctx, query: Record<string, unknown>): Promise<Page<AuditEventView>> {
  const action = query.action as string | undefined
  if (action !== undefined && (await unknownActions(ctx, [action])).length > 0)
    throw invalidParameter('action', unknownActionDetail)
  return await listPage(ctx, auditListing, query, auditView)
}

/** @throws Problem 404 */
export const getAuditEvent = async (ctx: Ctx, id: string): Promise<AuditEventView> =>
  auditView(await findRow(ctx.hub.read, ctx, auditRows, id))

function auditView(row: Entry): AuditEventView {
  return {
    id: row.id,
    seq: row.seq,
    occurred_at: instant(row.occurredAt),
    action: row.action,
    code: codeOf(row.action, row.outcome),
    outcome: row.outcome,
    actor: row.actor,
    targets: row.targets,
    context: { ...row.context, client_request_id: row.context.client_request_id ?? null },
    changes: row.changes,
    reason: row.reason,
  }
}
