import { and, count, eq, isNull, ne } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import type { Reader, Tx } from '../core/db/transaction'
import { fullAccess, memberAccess, viewerAccess, type Permissions } from '../core/permissions'
import { conflict, Problem } from '../core/problem'
import { memberships, roles, tokens, users, workspaces, type Role } from './tables'

/** What people of a role may do. */
export const accessOfRole: Record<Role, Permissions> = {
  owner: fullAccess,
  admin: fullAccess,
  member: memberAccess,
  viewer: viewerAccess,
}

/** Whether a role reaches as far as another. */
export const reaches = (role: Role, other: Role): boolean => roles.indexOf(role) <= roles.indexOf(other)

/** Roles that may invite and remove people. */
export const managing: readonly Role[] = ['owner', 'admin']

/**
 * The role whose powers the caller has. A token acts as an admin at most, since an admin can make any token; the operator's
 * powers reach as far as an owner's.
 */
async function roleOf(tx: Tx, ctx: Ctx): Promise<Role> {
  if (ctx.operator) return 'owner'
  if (ctx.actor.type !== 'user') return 'admin'
  const [row] = await tx
    .select({ role: memberships.role })
    .from(memberships)
    .where(and(eq(memberships.workspaceId, ctx.workspaceId), eq(memberships.userId, ctx.actor.id)))
  return row?.role ?? 'viewer'
}

/**
 * Nobody gives, takes or touches a role above their own. To be called with the members held: who lost their role since the request
 * was let in gives nothing any more.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseAbove(tx: Tx, ctx: Ctx, ...touched: Role[]): Promise<void> {
  const own = await roleOf(tx, ctx)
  if (!managing.includes(own)) throw missing('account.write')
  const above = touched.find(role => !reaches(own, role))
  if (!above) return
  const who = ctx.actor.type === 'user' ? `Your role is ${own}` : 'A token acts as an admin at most'
  throw new Problem('insufficient_permission', `${who}: only an ${above} gives, takes or changes the role ${above}.`, {
    members: { required_role: above },
  })
}

/**
 * Nobody gives a role above their own, and a token none that may do more than itself: whom it invites could make a token that does.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseGift(tx: Tx, ctx: Ctx, role: Role): Promise<void> {
  await refuseAbove(tx, ctx, role)
  // The operator may make anybody an owner anywhere, whatever they are in the workspace that they look at.
  if (ctx.operator) return
  const lacking = [...accessOfRole[role]].find(one => !ctx.permissions.has(one))
  if (lacking) throw missing(lacking)
}

/**
 * Holds who belongs to the workspace, and refuses who was removed, demoted or revoked since the request was let in: what they make
 * now would outlive them.
 * @throws Problem 403 `insufficient_permission`, 401 `token_revoked`
 */
export async function refuseOusted(tx: Tx, ctx: Ctx): Promise<void> {
  await holdMembers(tx, ctx.workspaceId)
  if (ctx.actor.type !== 'token') return await refuseAbove(tx, ctx)
  const [row] = await tx.select({ revokedAt: tokens.revokedAt }).from(tokens).where(eq(tokens.id, ctx.actor.id))
  if (row?.revokedAt !== null) throw new Problem('token_revoked', 'The token was revoked.')
}

const missing = (permission: string) =>
  new Problem('insufficient_permission', `This needs the permission ${permission}.`, {
    members: { required_permission: permission },
  })

/** Holds who belongs to a workspace until the transaction ends, so that of two owners who remove each other one stays. */
export async function holdMembers(tx: Tx, workspaceId: string): Promise<void> {
  await locking(tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)))
}

/** Whether no other owner of the workspace can sign in. */
async function isLastOwner(read: Reader, workspaceId: string, userId: string): Promise<boolean> {
  const [row] = await read
    .select({ n: count() })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(
      and(
        eq(memberships.workspaceId, workspaceId),
        eq(memberships.role, 'owner'),
        ne(memberships.userId, userId),
        isNull(users.disabledAt),
      ),
    )
  return row!.n === 0
}

/** @throws Problem 409 */
export async function refuseLastOwner(tx: Tx, workspaceId: string, userId: string): Promise<void> {
  if (await isLastOwner(tx, workspaceId, userId))
    throw conflict('This is the last owner who can sign in; make somebody else an owner first.')
}

/** Names of the workspaces of which a user is the last owner who can sign in. */
export async function ownedAlone(read: Reader, userId: string): Promise<string[]> {
  const owned = await read
    .select({ id: workspaces.id, name: workspaces.name })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')))
    .orderBy(workspaces.name)
  const alone = await Promise.all(owned.map(one => isLastOwner(read, one.id, userId)))
  return owned.filter((_, place) => alone[place]).map(one => one.name)
}

/** Whether nobody else can sign in as operator of the installation. False of somebody who cannot themself. */
export async function isLastOperator(read: Reader, userId: string): Promise<boolean> {
  // Whoever belongs to no workspace signs in to nothing.
  const able = await read
    .selectDistinct({ id: users.id })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .where(and(eq(users.isOperator, true), isNull(users.disabledAt)))
  return able.length === 1 && able[0]!.id === userId
}

/** Holds a removal from a workspace to what it leaves. @throws Problem 409 for the only membership of the last operator who can sign in */
export async function refuseLastOperator(tx: Tx, userId: string): Promise<void> {
  if (!(await isLastOperator(tx, userId))) return
  const [left] = await tx.select({ n: count() }).from(memberships).where(eq(memberships.userId, userId))
  if (left!.n <= 1)
    throw conflict(
      'This is the last operator who can sign in, and belongs to no other workspace; make somebody else an operator first.',
    )
}
