import { and, eq, ne } from 'drizzle-orm'
import { sessionIdOf } from '../../../access/sessions'
import { sessions } from '../../../access/tables'
import { record } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { listingOf, listPage } from '../../../core/list'
import { timeFilters } from '../../../core/list-filters'
import { findRow, lockRow, removeRow } from '../../../core/rows'
import type { Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import type { OwnSessionView } from './shapes'
import { clientOf } from './user-agent'

type Row = typeof sessions.$inferSelect

const rows = rowsOf('session', sessions, { owner: sessions.userId })

export const ownSessionListing = listingOf('own-sessions', sessions, {
  isSmall: true,
  owner: sessions.userId,
  defaultSort: '-last_used_at',
  filters: timeFilters('created_at', sessions.createdAt),
  sorts: { created_at: sessions.createdAt, last_used_at: sessions.seenAt },
})

/** Sessions of the signed-in user. */
export const listOwnSessions = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<OwnSessionView>> =>
  listPage(ctx, ownSessionListing, query, row => sessionView(ctx, row), ctx.actor.id)

/** @throws Problem 404, also for a session of another user */
export const getOwnSession = async (ctx: Ctx, id: string): Promise<OwnSessionView> =>
  sessionView(ctx, await findRow(ctx.hub.read, ctx, rows, id, ctx.actor.id))

/** Revokes a session of the user, possibly the current one. @throws Problem 404 */
export async function revokeSession(ctx: Ctx, id: string): Promise<void> {
  await record(ctx.hub, async tx => {
    const row = await lockRow(tx, ctx, rows, id, ctx.actor.id)
    await removeRow(tx, rows, row)
    return { result: undefined, audits: [revocationAudit(ctx, row)] }
  })
}

/** Revokes all sessions of the user except the current one. */
export async function revokeOtherSessions(ctx: Ctx): Promise<void> {
  const sessionId = sessionIdOf(ctx)
  await record(ctx.hub, async tx => {
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, ctx.actor.id), ne(sessions.id, sessionId)))
      .returning()
    return { result: undefined, audits: ended.map(row => revocationAudit(ctx, row)) }
  })
}

const revocationAudit = (ctx: Ctx, row: Row): AuditDraft => ({
  workspaceId: ctx.workspaceId,
  action: 'account.session.delete',
  actor: ctx.actor,
  context: ctx.context,
  targets: [{ type: 'session', id: row.id, name: clientOf(row.userAgent) }],
})

const sessionView = (ctx: Ctx, row: Row): OwnSessionView => ({
  id: row.id,
  current: row.id === ctx.sessionId,
  client: clientOf(row.userAgent),
  user_agent: row.userAgent,
  ip: row.ip,
  workspace_id: row.workspaceId,
  created_at: instant(row.createdAt),
  last_used_at: instant(row.seenAt),
  expires_at: instant(row.expiresAt),
})
