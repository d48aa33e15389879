import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../core/ctx'
import { forUpdate } from '../core/db/dialect'
import type { Tx } from '../core/db/transaction'
import { fullAccess, memberAccess, viewerAccess, type Permissions } from '../core/permissions'
import { Problem, permissionMissing } from '../core/problem'
import { memberships, roles, tokens, workspaces, type Role } from './tables'

/** The permissions of each role. */
export const permissionsOfRole: Record<Role, Permissions> = {
  owner: fullAccess,
  admin: fullAccess,
  member: memberAccess,
  viewer: viewerAccess,
}

/** Whether a role has at least the powers of another. */
export const isAtLeast = (role: Role, other: Role): boolean => roles.indexOf(role) <= roles.indexOf(other)

/** Roles that can invite and remove people. */
export const managerRoles: readonly Role[] = ['owner', 'admin']

/**
 * The role whose powers the caller has. A token acts as an admin, because an admin can create any token. The operator acts as an
 * owner.
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
 * Refuses to assign, remove or change a role above the caller's own. Call with the members locked, so that a caller who lost
 * their role since authentication is refused.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseHigherRole(tx: Tx, ctx: Ctx, ...touched: Role[]): Promise<void> {
  const own = await roleOf(tx, ctx)
  if (!managerRoles.includes(own)) throw permissionMissing('account.write')
  const above = touched.find(role => !isAtLeast(own, role))
  if (!above) return
  const who = ctx.actor.type === 'user' ? `Your role is ${own}` : 'A token acts as an admin'
  throw new Problem('insufficient_permission', `${who}. Only an ${above} can assign, remove, or change the role ${above}.`, {
    fields: { required_role: above },
  })
}

/**
 * Refuses to assign a role above the caller's own or, for a token, a role with permissions that the token lacks: the invited
 * person could create a token that has them.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseUngrantableRole(tx: Tx, ctx: Ctx, role: Role): Promise<void> {
  await refuseHigherRole(tx, ctx, role)
  // The operator may make anyone an owner of any workspace, regardless of their own role in the current one.
  if (ctx.operator) return
  const lacking = [...permissionsOfRole[role]].find(one => !ctx.permissions.has(one))
  if (lacking) throw permissionMissing(lacking)
}

/**
 * Locks the members and refuses a caller who was removed, demoted or revoked since authentication, because what they create would
 * outlive their access.
 * @throws Problem 403 `insufficient_permission`, 401 `token_revoked`
 */
export async function refuseLostAccess(tx: Tx, ctx: Ctx): Promise<void> {
  await lockMembers(tx, ctx.workspaceId)
  if (ctx.actor.type !== 'token') return await refuseHigherRole(tx, ctx)
  const [row] = await tx.select({ revokedAt: tokens.revokedAt }).from(tokens).where(eq(tokens.id, ctx.actor.id))
  if (row?.revokedAt !== null) throw new Problem('token_revoked', 'This token was revoked.')
}

/** Locks the members of a workspace until the transaction ends, so that two owners cannot remove each other at the same time. */
export async function lockMembers(tx: Tx, workspaceId: string): Promise<void> {
  await forUpdate(tx.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId)))
}
