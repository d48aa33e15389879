import { and, count, eq, ne } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { normalizeEmail } from '../../access/email-address'
import { sessionRequired } from '../../access/sessions'
import { memberships, sessions, users, type Role } from '../../access/tables'
import type { AuditAction } from '../../core/audit-actions'
import { record } from '../../core/change'
import type { AuditDraft, ChangeResult, RecordResult } from '../../core/change-result'
import type { Ctx } from '../../core/ctx'
import type { AuditActor, AuditContext, AuditTarget } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { findRow, refuseDuplicate, saveRow } from '../../core/rows'
import { rowsOf } from '../../registry'
import { revokeInvitations } from './invitations/revocation'
import { passwordResets } from './password-resets/tables'
import { hashPassword, refuseWeakPassword } from './passwords'

export type User = typeof users.$inferSelect

export const userRows = rowsOf('user', users, { owner: null })

/** A user to create, by the command line or the setup page. */
interface UserInput {
  email: string
  name: string
  password: string
  role: Role
  workspaceId: string
  isOperator: boolean
}
/** Who changes a user, and in which context. */
export interface AuditSource {
  actor: AuditActor
  context: AuditContext
}

export async function hasUsers(read: Reader): Promise<boolean> {
  const [row] = await read.select({ n: count() }).from(users)
  return row!.n > 0
}

/**
 * Creates a user and adds them to a workspace.
 * @param by null if users create their own account
 * @throws Problem 409 `already_exists`, 422
 */
export async function addUser(
  hub: Hub,
  action: AuditAction,
  input: UserInput,
  by: AuditSource | null,
  before?: (tx: Tx) => Promise<void>,
  context?: AuditContext,
): Promise<User> {
  const email = normalizeEmail(input.email)
  await refuseWeakPassword(email, input.password)
  const passwordHash = await hashPassword(input.password)
  const now = hub.clock.now()
  const row = { ...newUser({ email, name: input.name, passwordHash }, now), isOperator: input.isOperator }
  await refuseDuplicate(`A user with the email address ${email} already exists.`, () =>
    record(hub, async (tx): Promise<RecordResult<void>> => {
      await before?.(tx)
      await tx.insert(users).values(row)
      await tx.insert(memberships).values(newMembership(input.workspaceId, row.id, input.role, now))
      return {
        result: undefined,
        audits: [
          {
            workspaceId: input.workspaceId,
            action,
            actor: by?.actor ?? actorOf(row),
            context: by?.context ?? context!,
            targets: [{ type: 'user', id: row.id, name: row.name }],
            after: { email, name: row.name, role: input.role, operator: input.isOperator },
          },
        ],
      }
    }),
  )
  return row
}

/** The row of a user who is created at `now` (ms UTC). */
export const newUser = (input: Pick<User, 'email' | 'name' | 'passwordHash'>, now: number): User => ({
  ...input,
  id: newId('usr'),
  isOperator: false,
  disabledAt: null,
  preferences: null,
  version: 1,
  createdAt: now,
  updatedAt: now,
})

/** The membership of a user who joins a workspace at `now` (ms UTC). */
export const newMembership = (workspaceId: string, userId: string, role: Role, now: number): typeof memberships.$inferInsert => ({
  workspaceId,
  userId,
  role,
  version: 1,
  createdAt: now,
  updatedAt: now,
})

/**
 * Sets a new password. Ends the sessions of the user and deletes their password reset links.
 * @param options id of a session to keep, a step to run first in the same transaction, and a reason for the audit log
 */
export async function setPassword(
  hub: Hub,
  user: User,
  password: string,
  by: AuditSource,
  { keepSessionId, before, reason }: { keepSessionId?: string; before?(tx: Tx): Promise<void>; reason?: string } = {},
): Promise<void> {
  await refuseWeakPassword(user.email, password)
  const passwordHash = await hashPassword(password)
  await record(hub, async tx => {
    await before?.(tx)
    await saveRow(tx, { hub }, userRows, user, { passwordHash })
    await tx.delete(passwordResets).where(eq(passwordResets.userId, user.id))
    await tx
      .delete(sessions)
      .where(and(eq(sessions.userId, user.id), keepSessionId === undefined ? undefined : ne(sessions.id, keepSessionId)))
    return { result: undefined, audits: await userAudits(tx, user, 'account.user.set_password', by, { reason }) }
  })
  await forgetCallers(hub)
}

/** Disables or enables a user. Disabling ends all their sessions and revokes their pending invitations. */
export async function setDisabled(hub: Hub, user: User, disabled: boolean, by: AuditSource): Promise<void> {
  await record(hub, async tx => {
    const now = hub.clock.now()
    await tx
      .update(users)
      .set({ disabledAt: disabled ? now : null, updatedAt: now, version: user.version + 1 })
      .where(eq(users.id, user.id))
    if (disabled) {
      await tx.delete(sessions).where(eq(sessions.userId, user.id))
      await revokeInvitations(tx, { invitedBy: user.id })
    }
    return {
      result: undefined,
      audits: await userAudits(tx, user, disabled ? 'account.user.disable' : 'account.user.enable', by),
    }
  })
}

export async function findUser(read: Reader, email: string): Promise<User | null> {
  const [row] = await read
    .select()
    .from(users)
    .where(eq(users.email, normalizeEmail(email)))
  return row ?? null
}

/**
 * Changes how a user signs in, and audits it in each of their workspaces.
 * @param fn makes the change; returns the result, and additions to the audit events
 */
export const changeUser = <T>(
  { hub, actor, context }: Ctx,
  user: User,
  action: AuditAction,
  fn: (
    tx: Tx,
  ) => Promise<Pick<ChangeResult<T>, 'result' | 'before' | 'after' | 'unchanged'> & { target?: AuditTarget | AuditTarget[] }>,
): Promise<T> =>
  record(hub, async tx => {
    const { result, target, unchanged, before, after } = await fn(tx)
    if (unchanged) return { result }
    const targets = target && { targets: [target].flat() }
    return { result, audits: await userAudits(tx, user, action, { actor, context }, { before, after, ...targets }) }
  })

/** One audit event for each workspace of the user. */
export async function userAudits(
  tx: Tx,
  user: User,
  action: AuditAction,
  { actor, context }: AuditSource,
  details: Partial<Pick<AuditDraft, 'outcome' | 'reason' | 'before' | 'after' | 'targets'>> = {},
): Promise<AuditDraft[]> {
  const of = await tx.select({ id: memberships.workspaceId }).from(memberships).where(eq(memberships.userId, user.id))
  return of.map(workspace => ({
    workspaceId: workspace.id,
    action,
    actor,
    context,
    targets: [{ type: 'user', id: user.id, name: user.name }],
    ...details,
  }))
}

/** The signed-in user. @throws Problem 403 `session_required` */
export async function signedInUser(ctx: Ctx): Promise<User> {
  if (ctx.sessionId === null) throw sessionRequired(ctx.hub)
  return await findRow(ctx.hub.read, ctx, userRows, ctx.actor.id)
}

/** A user as the actor of an audit event. */
export const actorOf = (user: Pick<User, 'id' | 'name'>): AuditActor => ({
  type: 'user',
  id: user.id,
  name: user.name,
  hint: null,
})
