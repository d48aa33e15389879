import { and, eq, inArray, isNull } from 'drizzle-orm'
import { managerRoles, isAtLeast } from '../../../access/role-rules'
import { roles, type Role } from '../../../access/tables'
import type { Tx } from '../../../core/db/transaction'
import { invitations } from './tables'

/**
 * Revokes the pending invitations of people or tokens that may no longer invite, because they know the codes.
 * @param by in all workspaces if none is named; with `beyond`, only those that this role could not have created
 * @returns how many
 */
export async function revokeInvitations(
  tx: Tx,
  by: { invitedBy: string | readonly string[]; workspaceId?: string; beyond?: Role },
): Promise<number> {
  const { beyond } = by
  const keptRoles = beyond && managerRoles.includes(beyond) ? roles.filter(role => isAtLeast(beyond, role)) : []
  const revoked = await tx
    .delete(invitations)
    .where(
      and(
        inArray(invitations.invitedBy, [by.invitedBy].flat()),
        isNull(invitations.acceptedAt),
        by.workspaceId === undefined ? undefined : eq(invitations.workspaceId, by.workspaceId),
        inArray(
          invitations.role,
          roles.filter(role => !keptRoles.includes(role)),
        ),
      ),
    )
    .returning({ id: invitations.id })
  return revoked.length
}

/** Audit log reason for invitations revoked together with the token that created them; null if there were none. */
export const revocationReason = (revoked: number): string | null =>
  revoked > 0 ? `Pending invitations created by this token were revoked (${revoked}).` : null
