import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { limitGuessing } from '../../../access/limiter'
import { failedCredentials } from '../../../access/rate-limits'
import { lockMembers } from '../../../access/role-rules'
import { workspaceSuspended } from '../../../access/suspension'
import { memberships, users, workspaces } from '../../../access/tables'
import { record } from '../../../core/change'
import type { RecordResult } from '../../../core/change-result'
import { instant } from '../../../core/clock'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { violation } from '../../../core/db/errors'
import type { Reader } from '../../../core/db/transaction'
import { conflict, invalid, Problem } from '../../../core/problem'
import { hashPassword, refuseWeakPassword } from '../passwords'
import { createSession, switchWorkspace, withCookie } from '../sign-in/sessions'
import type { SessionView } from '../sign-in/shapes'
import { authenticateUser } from '../sign-in/sign-in'
import { findUser, newMembership, newUser, type User, signedInUser, actorOf } from '../users'
import { allowsSignUp, targetOf, type InvitationRow } from './invitations'
import type { InvitationAcceptance, InvitationPreview } from './shapes'
import { invitations } from './tables'

interface OpenInvitation {
  row: InvitationRow
  workspace: typeof workspaces.$inferSelect
}

/** What an invitation is for, as shown on the page that accepts it. @throws Problem 404, 429 */
export async function previewInvitation(ctx: Ctx, code: string): Promise<InvitationPreview> {
  const { row, workspace } = await openInvitation(ctx, code)
  return {
    workspace: workspace.name,
    email: row.email,
    role: row.role,
    expires_at: instant(row.expiresAt),
    allows_sign_up: allowsSignUp(ctx.hub, row),
  }
}

/**
 * Accepts an invitation for the signed-in user or, without a session, for the user with the invited email address, who confirms
 * their password. If no such user exists and the invitation allows sign-up, the user is created. Starts a session in the
 * workspace.
 * @throws Problem 404 if the code does not work, whatever the reason; 401 `invalid_login`, `second_factor_required`,
 *   `invalid_code`; 409; 422; 429
 */
export async function acceptInvitation(ctx: Ctx, input: InvitationAcceptance, request: Request): Promise<SessionView> {
  if (ctx.sessionId === null) refuseIncomplete(input)
  const { row, workspace } = await openInvitation(ctx, input.code)
  if (workspace.suspendedAt !== null) throw workspaceSuspended(workspace)
  if (ctx.sessionId !== null) {
    const user = await signedInUser(ctx)
    if (user.email !== row.email)
      throw conflict(`This invitation is for ${row.email}, but you are signed in as ${user.email}. Sign out first.`)
    await join(ctx, row, user, null)
    return await switchWorkspace(ctx, row.workspaceId)
  }
  const existing = await findUser(ctx.hub.read, row.email)
  const user =
    existing || !allowsSignUp(ctx.hub, row)
      ? await authenticateUser(
          ctx,
          {
            email: row.email,
            password: input.password!,
            code: input.second_factor_code,
            passkey: input.second_factor_passkey,
          },
          request,
        )
      : await userOf(ctx, row, input as Required<InvitationAcceptance>)
  await join(ctx, row, user, existing ? null : user)
  return withCookie(await createSession(ctx, user, request, { workspaceId: row.workspaceId }))
}

function refuseIncomplete(input: InvitationAcceptance): void {
  const missing = (['name', 'password'] as const).filter(field => input[field] === undefined)
  if (missing.length > 0)
    throw invalid(
      missing.map(field => ({ pointer: `#/${field}`, code: 'required', detail: 'is required if you are not signed in.' })),
    )
}

/**
 * The pending invitation with this code. Unknown, expired, used, and revoked codes get the same response.
 * @throws Problem 404, 429
 */
async function openInvitation(ctx: Ctx, code: string): Promise<OpenInvitation> {
  const { hub } = ctx
  return await limitGuessing(hub, [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)], async () => {
    const found = await findOpen(hub.read, code, hub.clock.now())
    if (!found) throw invalidInvitation()
    return found
  })
}

async function findOpen(read: Reader, code: string, now: number): Promise<OpenInvitation | null> {
  const [found] = await read
    .select({ row: invitations, workspace: workspaces })
    .from(invitations)
    .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
    .where(isOpenBy(code, now))
  return found ?? null
}

const isOpenBy = (code: string, now: number) =>
  and(eq(invitations.codeHash, sha256Hex(code)), isNull(invitations.acceptedAt), gt(invitations.expiresAt, now))

const invalidInvitation = () =>
  new Problem(
    'not_found',
    'This invitation is invalid: it was used or revoked, it has expired, or the link is incomplete. Ask for a new invitation.',
  )

async function userOf(ctx: Ctx, { email }: InvitationRow, { name, password }: Required<InvitationAcceptance>): Promise<User> {
  await refuseWeakPassword(email, password)
  return newUser({ email, name, passwordHash: await hashPassword(password) }, ctx.hub.clock.now())
}

/**
 * Marks the invitation as accepted and adds the user to the workspace, in one transaction.
 * @param newAccount the user, if they are created here
 */
async function join(ctx: Ctx, { id, codeHash, workspaceId }: InvitationRow, user: User, newAccount: User | null): Promise<void> {
  const { hub } = ctx
  const now = hub.clock.now()
  try {
    await record(hub, async (tx): Promise<RecordResult<void>> => {
      await lockMembers(tx, workspaceId)
      // Of two concurrent requests only one finds it pending. If it was renewed in the meantime, its code has changed.
      const [used] = await tx
        .update(invitations)
        .set({ acceptedAt: now, acceptedBy: user.id, version: sql`${invitations.version} + 1`, updatedAt: now })
        .where(
          and(
            eq(invitations.id, id),
            eq(invitations.codeHash, codeHash),
            isNull(invitations.acceptedAt),
            gt(invitations.expiresAt, now),
          ),
        )
        .returning()
      if (!used) throw invalidInvitation()
      const { role } = used
      if (newAccount) await tx.insert(users).values(newAccount)
      const joined = await tx
        .insert(memberships)
        .values(newMembership(workspaceId, user.id, role, now))
        .onConflictDoNothing()
        .returning({ role: memberships.role })
      if (joined.length === 0) throw new Problem('already_exists', 'You are already a member of this workspace.')
      return {
        result: undefined,
        audits: [
          {
            workspaceId,
            action: 'account.invitation.accept',
            actor: actorOf(user),
            context: ctx.context,
            targets: [targetOf(used), { type: 'user', id: user.id, name: user.name }],
            after: { email: user.email, name: user.name, role },
            reason: newAccount ? 'The user was created.' : null,
          },
        ],
      }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw conflict('A user with this email address was just created. Try again.')
    throw error
  }
}
