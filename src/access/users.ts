import { and, count, eq, ne } from 'drizzle-orm'
import type { AuditAction } from '../core/audit-actions'
import { record, type AuditDraft, type Recorded } from '../core/change'
import { constantTimeEqual, encodeBase64url, hmacSha256 } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import type { AuditActor, AuditContext, AuditTarget } from '../core/db/tables'
import { instanceFacts } from '../core/db/tables'
import { violation } from '../core/db/errors'
import type { Reader, Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { Problem } from '../core/problem'
import { forgetCallers } from './callers'
import { withdrawInvitations } from './invitation-rows'
import { unlessGuessing } from './limiter'
import { loginOf } from './logins'
import { hashPassword, refuseLoginAsPassword } from './passwords'
import { failedCredentials } from './rate-limits'
import { memberships, passwordResets, sessions, users, workspaces, type Role } from './tables'
import { operatorWorkspace } from './workspaces'

export type User = typeof users.$inferSelect

/** A new person, as the command line and the setup page give them. */
export interface NewUser {
  email: string
  name: string
  password: string
  role: Role
  workspaceId: string
  isOperator: boolean
}
/** Who does something to a user, and how that came about. */
export interface By {
  actor: AuditActor
  context: AuditContext
}

export async function hasUsers(read: Reader): Promise<boolean> {
  const [row] = await read.select({ n: count() }).from(users)
  return row!.n > 0
}

/**
 * The token of the setup link. It follows from the installation's key, so that every hub of one database prints the same, and it opens
 * nothing once a user exists.
 */
export async function setupToken(hub: Hub): Promise<string> {
  const [row] = await hub.read.select().from(instanceFacts).where(eq(instanceFacts.name, 'instance_id'))
  return encodeBase64url(hmacSha256(hub.keys.derive('setup'), row!.value).slice(0, 24))
}

/**
 * Makes the first person: owner of the operator's workspace, and operator.
 * @throws Problem 403 `setup_closed` when the token is wrong or somebody was first; 429 after too many wrong ones from one address
 */
export async function completeSetup(
  ctx: Ctx,
  input: { token: string; email: string; password: string; name: string },
): Promise<User> {
  const { hub } = ctx
  const buckets = [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)]
  await unlessGuessing(hub, buckets, async () => {
    if (!constantTimeEqual(input.token, await setupToken(hub))) {
      throw new Problem('setup_closed', 'The setup token is wrong; use the link the hub printed when it started.')
    }
  })
  if (await hasUsers(hub.read)) throw new Problem('setup_closed', 'The first user exists already; sign in instead.')
  const workspace = await operatorWorkspace(hub.read)
  return await addUser(
    hub,
    'account.setup.complete',
    { ...input, role: 'owner', workspaceId: workspace.id, isOperator: true },
    null,
    async tx => {
      // Two browsers with the same link: the row of the workspace makes them take turns.
      await tx.update(workspaces).set({ updatedAt: hub.clock.now() }).where(eq(workspaces.id, workspace.id))
      const [row] = await tx.select({ n: count() }).from(users)
      if (row!.n > 0) throw new Problem('setup_closed', 'The first user exists already; sign in instead.')
    },
    ctx.context,
  )
}

/**
 * Adds a person to a workspace; their e-mail is their login.
 * @param by null when the person makes themself
 * @throws Problem 409 `already_exists`, 422
 */
export async function addUser(
  hub: Hub,
  action: AuditAction,
  input: NewUser,
  by: By | null,
  before?: (tx: Tx) => Promise<void>,
  context?: AuditContext,
): Promise<User> {
  const email = loginOf(input.email)
  refuseLoginAsPassword(email, input.password)
  const passwordHash = await hashPassword(input.password)
  const now = hub.clock.now()
  const row: User = {
    id: newId('usr'),
    email,
    name: input.name,
    passwordHash,
    isOperator: input.isOperator,
    disabledAt: null,
    preferences: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
  try {
    await record(hub, async (tx): Promise<Recorded<void>> => {
      await before?.(tx)
      await tx.insert(users).values(row)
      await tx.insert(memberships).values(membershipOf(input.workspaceId, row.id, input.role, now))
      return {
        result: undefined,
        audits: [
          {
            workspaceId: input.workspaceId,
            action,
            actor: by?.actor ?? { type: 'user', id: row.id, name: row.name, hint: null },
            context: by?.context ?? context!,
            targets: [{ type: 'user', id: row.id, name: row.name }],
            after: { email, name: row.name, role: input.role, operator: input.isOperator },
          },
        ],
      }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw new Problem('already_exists', `There is a user with the e-mail ${email} already.`)
    throw error
  }
  return row
}

/** The row of somebody who joins a workspace at `now` (ms UTC). */
export const membershipOf = (workspaceId: string, userId: string, role: Role, now: number): typeof memberships.$inferInsert => ({
  workspaceId,
  userId,
  role,
  version: 1,
  createdAt: now,
  updatedAt: now,
})

/**
 * Sets a new password, ends every session of the user, and withdraws every link to another one.
 * @param with the id of the one session that goes on; what is done first in the same transaction; what the audit log is told beside
 */
export async function setPassword(
  hub: Hub,
  user: User,
  password: string,
  by: By,
  { kept, before, reason }: { kept?: string; before?(tx: Tx): Promise<void>; reason?: string } = {},
): Promise<void> {
  refuseLoginAsPassword(user.email, password)
  const passwordHash = await hashPassword(password)
  await record(hub, async tx => {
    await before?.(tx)
    await tx
      .update(users)
      .set({ passwordHash, updatedAt: hub.clock.now(), version: user.version + 1 })
      .where(eq(users.id, user.id))
    await tx.delete(passwordResets).where(eq(passwordResets.userId, user.id))
    await tx.delete(sessions).where(and(eq(sessions.userId, user.id), kept === undefined ? undefined : ne(sessions.id, kept)))
    const audits = await auditOfUser(tx, user, 'account.user.set_password', by)
    return { result: undefined, audits: audits.map(one => ({ ...one, reason })) }
  })
  forgetCallers(hub)
}

/** Disables a user, or lets them in again; sessions end at once, and so do open invitations they made. */
export async function setDisabled(hub: Hub, user: User, disabled: boolean, by: By): Promise<void> {
  await record(hub, async tx => {
    const now = hub.clock.now()
    await tx
      .update(users)
      .set({ disabledAt: disabled ? now : null, updatedAt: now, version: user.version + 1 })
      .where(eq(users.id, user.id))
    if (disabled) {
      await tx.delete(sessions).where(eq(sessions.userId, user.id))
      await withdrawInvitations(tx, { invitedBy: user.id })
    }
    return {
      result: undefined,
      audits: await auditOfUser(tx, user, disabled ? 'account.user.disable' : 'account.user.enable', by),
    }
  })
}

export async function findUser(read: Reader, email: string): Promise<User | null> {
  const [row] = await read
    .select()
    .from(users)
    .where(eq(users.email, loginOf(email)))
  return row ?? null
}

/**
 * A change of how somebody signs in, of which each workspace of theirs is told.
 * @param fn what it does; it returns the result, and what is told beside the user
 */
export const changeOfUser = <T>(
  { hub, actor, context }: Ctx,
  user: User,
  action: AuditAction,
  fn: (tx: Tx) => Promise<{ result: T } & Pick<AuditDraft, 'before' | 'after'> & { target?: AuditTarget; unchanged?: boolean }>,
): Promise<T> =>
  record(hub, async tx => {
    const { result, target, unchanged, ...told } = await fn(tx)
    if (unchanged) return { result }
    const audits = await auditOfUser(tx, user, action, { actor, context })
    return { result, audits: audits.map(one => ({ ...one, ...told, targets: target ? [target] : one.targets })) }
  })

/** One entry in the log of each workspace the user belongs to. */
export async function auditOfUser(tx: Tx, user: User, action: AuditAction, { actor, context }: By) {
  const of = await tx.select({ id: memberships.workspaceId }).from(memberships).where(eq(memberships.userId, user.id))
  return of.map(workspace => ({
    workspaceId: workspace.id,
    action,
    actor,
    context,
    targets: [{ type: 'user', id: user.id, name: user.name }],
  }))
}
