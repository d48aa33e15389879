import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Tx } from '../core/db/transaction'
import { managing, reaches } from './ranks'
import { invitations, roles, type Role } from './tables'

/**
 * Withdraws the open invitations of people or tokens that may invite no longer: they know the codes.
 * @param by in all workspaces when none is named; with `beyond`, only those that this role could not make
 * @returns how many
 */
export async function withdrawInvitations(
  tx: Tx,
  by: { invitedBy: string | readonly string[]; workspaceId?: string; beyond?: Role },
): Promise<number> {
  const { beyond } = by
  const kept = beyond && managing.includes(beyond) ? roles.filter(role => reaches(beyond, role)) : []
  const gone = await tx
    .delete(invitations)
    .where(
      and(
        inArray(invitations.invitedBy, [by.invitedBy].flat()),
        isNull(invitations.acceptedAt),
        by.workspaceId === undefined ? undefined : eq(invitations.workspaceId, by.workspaceId),
        inArray(
          invitations.role,
          roles.filter(role => !kept.includes(role)),
        ),
      ),
    )
    .returning({ id: invitations.id })
  return gone.length
}

/** What the audit log is told of invitations that went with the token that made them; null when there were none. */
export const goneWithToken = (withdrawn: number): string | null =>
  withdrawn > 0 ? `Open invitations it made were withdrawn (${withdrawn}).` : null
