import { count, eq, and, ne, isNull } from 'drizzle-orm'
import { memberships, users, workspaces } from '../../../access/tables'
import type { Reader, Tx } from '../../../core/db/transaction'
import { conflict } from '../../../core/problem'

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
    throw conflict('This is the last owner who can sign in. Make someone else an owner first.')
}

/** Names of the workspaces in which a user is the last owner who can sign in. */
export async function workspacesWithSoleOwner(read: Reader, userId: string): Promise<string[]> {
  const owned = await read
    .select({ id: workspaces.id, name: workspaces.name })
    .from(memberships)
    .innerJoin(workspaces, eq(workspaces.id, memberships.workspaceId))
    .where(and(eq(memberships.userId, userId), eq(memberships.role, 'owner')))
    .orderBy(workspaces.name)
  const alone = await Promise.all(owned.map(one => isLastOwner(read, one.id, userId)))
  return owned.filter((_, place) => alone[place]).map(one => one.name)
}

/** Whether no one else can sign in as operator. False if the user cannot sign in themselves. */
export async function isLastOperator(read: Reader, userId: string): Promise<boolean> {
  // A user without a workspace cannot sign in.
  const able = await read
    .selectDistinct({ id: users.id })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .where(and(eq(users.isOperator, true), isNull(users.disabledAt)))
  return able.length === 1 && able[0]!.id === userId
}

/** Refuses to remove the last operator who can sign in from their only workspace. @throws Problem 409 */
export async function refuseLastOperator(tx: Tx, userId: string): Promise<void> {
  if (!(await isLastOperator(tx, userId))) return
  const [memberOf] = await tx.select({ n: count() }).from(memberships).where(eq(memberships.userId, userId))
  if (memberOf!.n <= 1)
    throw conflict(
      'This is the last operator who can sign in, and this is their only workspace. Make someone else an operator first.',
    )
}
