import { and, asc, desc, eq, inArray, lt } from 'drizzle-orm'
import { permissionsOfRole } from '../../../access/role-rules'
import { readSessionCookie, sessionIdOf, sessionSeconds, recordSeen, sessionCookieHeader } from '../../../access/sessions'
import { memberships, sessions, workspaces } from '../../../access/tables'
import { record } from '../../../core/change'
import type { AuditDraft } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import { encodeBase64url, sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import { notFound, Problem } from '../../../core/problem'
import { pruneChallenges } from '../passkeys/challenges'
import { pruneResets } from '../password-resets/password-resets'
import { userView } from '../user-view'
import { type User, signedInUser, actorOf } from '../users'
import { deviceCookieHeader } from './known-devices'
import type { SessionView } from './shapes'

// Abandoned browsers leave their sessions behind. Above this number, the least recently used sessions end.
const maxSessions = 100

/** A new session with its cookie value, and the Set-Cookie value that makes the browser known. */
export interface CreatedSession {
  cookie: string
  deviceCookie: string
  view: SessionView
}

/**
 * Creates a session for an authenticated user. Always sets a new cookie and ends the browser's previous session, which prevents
 * session fixation.
 * @param request the sign-in request
 * @param options initial workspace, by default the one that the user joined first, and a reason for the audit log
 */
export async function createSession(
  ctx: Ctx,
  user: User,
  request: Request,
  { workspaceId, reason }: { workspaceId?: string; reason?: string } = {},
): Promise<CreatedSession> {
  const { hub } = ctx
  const [home] = await hub.read
    .select({ id: memberships.workspaceId })
    .from(memberships)
    .where(and(eq(memberships.userId, user.id), workspaceId === undefined ? undefined : eq(memberships.workspaceId, workspaceId)))
    .orderBy(asc(memberships.createdAt), asc(memberships.workspaceId))
    .limit(1)
  if (!home) throw new Problem('invalid_login', 'This user is not a member of any workspace.')
  const before = readSessionCookie(hub, request.headers.get('cookie'))
  const cookie = encodeBase64url(crypto.getRandomValues(new Uint8Array(32)))
  const now = hub.clock.now()
  const row = {
    id: newId('ses'),
    tokenHash: sha256Hex(cookie),
    userId: user.id,
    workspaceId: home.id,
    ip: ctx.context.ip ?? '',
    userAgent: ctx.context.user_agent ?? '',
    createdAt: now,
    seenAt: now,
    expiresAt: now + sessionSeconds * 1000,
  }
  await record(hub, async tx => {
    if (before !== null) await tx.delete(sessions).where(eq(sessions.tokenHash, sha256Hex(before)))
    await tx.insert(sessions).values(row)
    await endOldest(tx, user.id)
    await recordSeen(tx, user.id, home.id, now)
    return { result: undefined, audits: [{ ...signInAudit(ctx, user, home.id, 'success'), reason }] }
  })
  const deviceCookie = await deviceCookieHeader(hub, request, user)
  return { cookie, deviceCookie, view: await sessionView(hub, row, user, home.id) }
}

/** The current session. @throws Problem 404 if it has just ended */
export async function currentSession(ctx: Ctx): Promise<SessionView> {
  const [row] = await ctx.hub.read
    .select()
    .from(sessions)
    .where(eq(sessions.id, sessionIdOf(ctx)))
  if (!row) throw notFound('session')
  return await sessionView(ctx.hub, row, await signedInUser(ctx), ctx.workspaceId)
}

/**
 * Changes the workspace used by requests of the session that name none.
 * @throws Problem 404 if the user is not a member
 */
export async function switchWorkspace(ctx: Ctx, workspaceId: string): Promise<SessionView> {
  const sessionId = sessionIdOf(ctx)
  await record(ctx.hub, async tx => {
    const [own] = await tx
      .select({ name: workspaces.name })
      .from(memberships)
      .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
      .where(and(eq(memberships.userId, ctx.actor.id), eq(memberships.workspaceId, workspaceId)))
    if (!own) throw notFound('workspace')
    await tx.update(sessions).set({ workspaceId }).where(eq(sessions.id, sessionId))
    await recordSeen(tx, ctx.actor.id, workspaceId, ctx.hub.clock.now())
    return {
      result: undefined,
      audits: [
        {
          workspaceId,
          action: 'account.session.switch',
          actor: ctx.actor,
          context: ctx.context,
          targets: [{ type: 'workspace', id: workspaceId, name: own.name }],
        },
      ],
    }
  })
  return await currentSession({ ...ctx, workspaceId })
}

/** Ends the current session. */
export async function signOut(ctx: Ctx, sessionId: string): Promise<void> {
  await record(ctx.hub, async tx => {
    await tx.delete(sessions).where(eq(sessions.id, sessionId))
    return {
      result: undefined,
      audits: [
        {
          workspaceId: ctx.workspaceId,
          action: 'account.session.delete',
          actor: ctx.actor,
          context: ctx.context,
          targets: [{ type: 'session', id: sessionId, name: null }],
        },
      ],
    }
  })
}

/** Deletes expired sessions, passkey challenges and password reset links. */
export async function pruneSessions(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    const now = hub.clock.now()
    await tx.delete(sessions).where(lt(sessions.expiresAt, now))
    await pruneChallenges(tx, now)
    await pruneResets(tx, now)
    return { result: undefined }
  })
}

async function endOldest(tx: Tx, userId: string): Promise<void> {
  const old = await tx
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.seenAt), desc(sessions.id))
    .limit(maxSessions)
    .offset(maxSessions)
  if (old.length === 0) return
  await tx.delete(sessions).where(
    inArray(
      sessions.id,
      old.map(one => one.id),
    ),
  )
}

/** @param workspaceId the workspace of the request */
async function sessionView(
  hub: Hub,
  row: Pick<typeof sessions.$inferSelect, 'id' | 'workspaceId' | 'expiresAt'>,
  user: User,
  workspaceId: string,
): Promise<SessionView> {
  const [here] = await hub.read
    .select({ workspace: workspaces, role: memberships.role })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(and(eq(memberships.userId, user.id), eq(memberships.workspaceId, workspaceId)))
  if (!here) throw notFound('workspace')
  const { workspace, role } = here
  return {
    id: row.id,
    user: await userView(hub, user),
    workspace_id: row.workspaceId,
    workspace: {
      id: workspace.id,
      name: workspace.name,
      role,
      permissions: [...permissionsOfRole[role]],
      operator: workspace.isOperator,
      plan: workspace.planId,
      suspended_at: instant(workspace.suspendedAt),
      suspension_reason: workspace.suspensionReason,
    },
    expires_at: instant(row.expiresAt),
  }
}

/** The audit event for a sign-in. */
export function signInAudit(ctx: Ctx, user: User, workspaceId: string, outcome: 'success' | 'failure'): AuditDraft {
  return {
    workspaceId,
    action: 'account.session.create',
    outcome,
    actor: actorOf(user),
    context: ctx.context,
    targets: [{ type: 'user', id: user.id, name: user.name }],
  }
}

// Cookies are response headers and not part of the body, so they are passed separately.
const created = new WeakMap<object, CreatedSession>()

/** The session for the response body; remembers its cookies for `setCookie`. */
export const withCookie = (session: CreatedSession): SessionView => {
  created.set(session.view, session)
  return session.view
}

/** For routes that return a session: sets the cookies of a session that was just created. */
export const setCookie = {
  headers(hub: Hub, result: unknown): Record<string, string> {
    const session = created.get(result as object)
    if (!session) return {}
    // Two header fields: names are case-insensitive, and cookies can't share a field (RFC 6265 section 3).
    return { 'Set-Cookie': sessionCookieHeader(hub, session.cookie, sessionSeconds), 'set-cookie': session.deviceCookie }
  },
}
