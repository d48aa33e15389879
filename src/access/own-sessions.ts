import { and, eq, ne } from 'drizzle-orm'
import { record, type AuditDraft } from '../core/change'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import { listPage, timeFilters, type Listing } from '../core/list'
import { notFound } from '../core/problem'
import type { Page } from '../core/shapes'
import type { OwnSessionView } from './session-shapes'
import { sessions } from './tables'
import { clientOf } from './user-agent'

type Row = typeof sessions.$inferSelect

export const ownSessionListing: Listing<Row> = {
  name: 'own-sessions',
  table: sessions as never,
  id: sessions.id,
  idOf: row => row.id,
  owner: sessions.userId,
  defaultSort: '-last_used_at',
  filters: { ...timeFilters('created_at', sessions.createdAt) },
  sorts: {
    created_at: { column: sessions.createdAt, read: row => row.createdAt },
    last_used_at: { column: sessions.seenAt, read: row => row.seenAt },
  },
}

/** Where the user of the session is signed in; nowhere, of a token. */
export const listOwnSessions = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<OwnSessionView>> =>
  listPage(ctx, ownSessionListing, query, row => sessionView(ctx, row), ctx.actor.id)

/** @throws Problem 404, for a session of somebody else too */
export async function getOwnSession(ctx: Ctx, id: string): Promise<OwnSessionView> {
  const [row] = await ctx.hub.read.select().from(sessions).where(isOwn(ctx, id))
  if (!row) throw notFound('session')
  return sessionView(ctx, row)
}

/** Ends a session of the user, the one that asks too. @throws Problem 404 */
export async function endSession(ctx: Ctx, id: string): Promise<void> {
  await record(ctx.hub, async tx => {
    const [row] = await tx.delete(sessions).where(isOwn(ctx, id)).returning()
    if (!row) throw notFound('session')
    return { result: undefined, audits: [endEntry(ctx, row)] }
  })
}

/** Ends every session of the user but the one that asks. @throws Problem 404 for a token */
export async function endOtherSessions(ctx: Ctx): Promise<void> {
  const { sessionId } = ctx
  if (sessionId === null) throw notFound('session')
  await record(ctx.hub, async tx => {
    const ended = await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, ctx.actor.id), ne(sessions.id, sessionId)))
      .returning()
    return { result: undefined, audits: ended.map(row => endEntry(ctx, row)) }
  })
}

const isOwn = (ctx: Ctx, id: string) => and(eq(sessions.id, id), eq(sessions.userId, ctx.actor.id))

const endEntry = (ctx: Ctx, row: Row): AuditDraft => ({
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
