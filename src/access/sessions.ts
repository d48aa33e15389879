import { and, asc, count, desc, eq, inArray, lt } from 'drizzle-orm'
import { record, type AuditDraft } from '../core/change'
import { instant } from '../core/clock'
import { encodeBase64url, sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import type { AuditActor } from '../core/db/tables'
import type { Reader, Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { notFound, Problem } from '../core/problem'
import { readSessionCookie } from './cookies'
import { oneTimeCodesOf } from './one-time-codes'
import { pruneChallenges } from './passkey-challenges'
import { pruneResets } from './password-resets'
import { accessOfRole } from './ranks'
import type { SessionView } from './session-shapes'
import { memberships, passkeys, sessions, users, workspaces } from './tables'
import { firstPreferences, type UserView } from './user-shapes'
import type { User } from './users'

/** A session ends after this long without a request; each request starts the time anew. */
export const sessionSeconds = 30 * 24 * 3600

// Browsers that are thrown away leave theirs behind: the one that was not used for longest makes way.
const mostSessions = 100

/** A session that was just begun, with the value its cookie gets. */
export interface BegunSession {
  cookie: string
  view: SessionView
}

/**
 * Begins a session for somebody who proved who they are. It gets a new cookie, and the session whose cookie the browser had
 * before ends: nobody goes on with a value that was known before the sign-in.
 * @param request of the sign-in
 * @param how where it begins, in one of their workspaces, that they joined first when absent; and what the audit log is told beside
 */
export async function beginSession(
  ctx: Ctx,
  user: User,
  request: Request,
  { workspaceId, reason }: { workspaceId?: string; reason?: string } = {},
): Promise<BegunSession> {
  const { hub } = ctx
  const [home] = await hub.read
    .select({ id: memberships.workspaceId })
    .from(memberships)
    .where(and(eq(memberships.userId, user.id), workspaceId === undefined ? undefined : eq(memberships.workspaceId, workspaceId)))
    .orderBy(asc(memberships.createdAt), asc(memberships.workspaceId))
    .limit(1)
  if (!home) throw new Problem('invalid_login', 'This user belongs to no workspace.')
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
    await noteSeen(tx, user.id, home.id, now)
    return { result: undefined, audits: [{ ...signInEntry(ctx, user, home.id, 'success'), reason }] }
  })
  return { cookie, view: await sessionView(hub, row, user, home.id) }
}

/** The session of the request. @throws Problem 404 for a token */
export async function currentSession(ctx: Ctx): Promise<SessionView> {
  const [row] = await ctx.hub.read
    .select()
    .from(sessions)
    .where(eq(sessions.id, ctx.sessionId ?? ''))
  if (!row) throw notFound('session')
  return await sessionView(ctx.hub, row, await signedInUser(ctx), ctx.workspaceId)
}

/**
 * Makes a workspace the one that requests of the session mean when they name none.
 * @throws Problem 404 for a token, and where the user is no member
 */
export async function switchWorkspace(ctx: Ctx, workspaceId: string): Promise<SessionView> {
  if (ctx.sessionId === null) throw notFound('session')
  await record(ctx.hub, async tx => {
    const [own] = await tx
      .select({ name: workspaces.name })
      .from(memberships)
      .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
      .where(and(eq(memberships.userId, ctx.actor.id), eq(memberships.workspaceId, workspaceId)))
    if (!own) throw notFound('workspace')
    await tx.update(sessions).set({ workspaceId }).where(eq(sessions.id, ctx.sessionId!))
    await noteSeen(tx, ctx.actor.id, workspaceId, ctx.hub.clock.now())
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

/** Ends the session of the request. */
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

/** Notes that a session is in use, which also moves its end; called at most once a minute a session. */
export async function touchSession(hub: Hub, session: { id: string; userId: string }, workspaceId: string): Promise<void> {
  const now = hub.clock.now()
  await record(hub, async tx => {
    await tx
      .update(sessions)
      .set({ seenAt: now, expiresAt: now + sessionSeconds * 1000, workspaceId })
      .where(eq(sessions.id, session.id))
    await noteSeen(tx, session.userId, workspaceId, now)
    return { result: undefined }
  })
}

async function noteSeen(tx: Tx, userId: string, workspaceId: string, now: number): Promise<void> {
  await tx
    .update(memberships)
    .set({ seenAt: now })
    .where(and(eq(memberships.userId, userId), eq(memberships.workspaceId, workspaceId)))
}

/** Deletes the sessions that have ended, and what signing in left behind. */
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
    .limit(mostSessions)
    .offset(mostSessions)
  if (old.length === 0) return
  await tx.delete(sessions).where(
    inArray(
      sessions.id,
      old.map(one => one.id),
    ),
  )
}

/** @param workspaceId the one that the request means */
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
      permissions: [...accessOfRole[role]],
      operator: workspace.isOperator,
      plan: workspace.planId,
      suspended_at: instant(workspace.suspendedAt),
      suspension_reason: workspace.suspensionReason,
    },
    expires_at: instant(row.expiresAt),
  }
}

/** A user as the API shows them, with the workspaces they belong to. */
export async function userView(hub: Hub, user: User, read: Reader = hub.read): Promise<UserView> {
  const of = await read
    .select({ id: workspaces.id, name: workspaces.name, role: memberships.role })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(eq(memberships.userId, user.id))
    .orderBy(asc(memberships.createdAt), asc(workspaces.id))
  const { on, left } = await oneTimeCodesOf(read, user.id)
  const [passkeyCount] = await read.select({ n: count() }).from(passkeys).where(eq(passkeys.userId, user.id))
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    operator: user.isOperator,
    second_factor: { one_time_codes: on, recovery_codes_left: left, passkeys: passkeyCount!.n },
    preferences: { ...firstPreferences, ...user.preferences },
    workspaces: of,
    version: user.version,
    created_at: instant(user.createdAt),
    updated_at: instant(user.updatedAt),
  }
}

/** The user of the session, for what a token cannot do. @throws Problem 404 for a token */
export async function sessionUser(ctx: Ctx): Promise<User> {
  if (ctx.sessionId === null) throw notFound('session')
  return await signedInUser(ctx)
}

/** The user behind a session's request. */
export async function signedInUser(ctx: Ctx): Promise<User> {
  if (ctx.actor.type !== 'user') throw new Problem('not_found', 'The credential is a token, and belongs to no user.')
  const [row] = await ctx.hub.read
    .select()
    .from(users)
    .where(and(eq(users.id, ctx.actor.id)))
  return row!
}

/** How the audit log tells of a sign-in. */
export function signInEntry(ctx: Ctx, user: User, workspaceId: string, outcome: 'success' | 'failure'): AuditDraft {
  const actor: AuditActor = { type: 'user', id: user.id, name: user.name, hint: null }
  return {
    workspaceId,
    action: 'account.session.create',
    outcome,
    actor,
    context: ctx.context,
    targets: [{ type: 'user', id: user.id, name: user.name }],
  }
}
