import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { record, type Recorded } from '../core/change'
import { instant } from '../core/clock'
import { sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import { violation } from '../core/db/errors'
import type { Reader } from '../core/db/transaction'
import { newId } from '../core/ids'
import { conflict, invalid, Problem } from '../core/problem'
import type { Acceptance, InvitationPreview } from './invitation-shapes'
import { makesLogin, targetOf, type InvitationRow } from './invitations'
import { unlessGuessing } from './limiter'
import { hashPassword, refuseLoginAsPassword } from './passwords'
import { holdMembers } from './ranks'
import { failedCredentials } from './rate-limits'
import { suspended } from './suspension'
import { withCookie } from './session-cookie'
import { provenUser } from './sign-in'
import type { SessionView } from './session-shapes'
import { beginSession, signedInUser, switchWorkspace } from './sessions'
import { invitations, memberships, users, workspaces } from './tables'
import { findUser, membershipOf, type User } from './users'

interface Open {
  row: InvitationRow
  workspace: typeof workspaces.$inferSelect
}

/** What an invitation is to, for the page that accepts it. @throws Problem 404, 429 */
export async function previewInvitation(ctx: Ctx, code: string): Promise<InvitationPreview> {
  const { row, workspace } = await openedBy(ctx, code)
  return {
    workspace: workspace.name,
    email: row.email,
    role: row.role,
    expires_at: instant(row.expiresAt),
    makes_login: makesLogin(ctx.hub, row),
  }
}

/**
 * Accepts an invitation: for the user of the session, or without one for the user who has its e-mail, by their password, who is
 * made if there is none and the invitation makes logins. They are signed in to the workspace.
 * @throws Problem 404 for a code that does not work, whatever the reason; 401 `invalid_login`, `second_factor_required`,
 *   `invalid_code`; 409; 422; 429
 */
export async function acceptInvitation(ctx: Ctx, input: Acceptance, request: Request): Promise<SessionView> {
  if (ctx.sessionId === null) refuseIncomplete(input)
  const { row, workspace } = await openedBy(ctx, input.code)
  if (workspace.suspendedAt !== null) throw suspended(workspace)
  if (ctx.sessionId !== null) {
    const user = await signedInUser(ctx)
    if (user.email !== row.email)
      throw conflict(`The invitation is for ${row.email}, and you are signed in as ${user.email}: sign out first.`)
    await join(ctx, row, user, null)
    return await switchWorkspace(ctx, row.workspaceId)
  }
  const known = await findUser(ctx.hub.read, row.email)
  const user =
    known || !makesLogin(ctx.hub, row)
      ? await provenUser(ctx, {
          email: row.email,
          password: input.password!,
          code: input.second_factor_code,
          passkey: input.second_factor_passkey,
        })
      : await newUser(ctx, row, input as Required<Acceptance>)
  await join(ctx, row, user, known ? null : user)
  return withCookie(await beginSession(ctx, user, request, { workspaceId: row.workspaceId }))
}

function refuseIncomplete(input: Acceptance): void {
  const missing = (['name', 'password'] as const).filter(member => input[member] === undefined)
  if (missing.length > 0)
    throw invalid(missing.map(member => ({ pointer: `#/${member}`, code: 'required', detail: 'is required without a session.' })))
}

/** The open invitation of a code. One that is unknown, over, used or withdrawn is answered alike. @throws Problem 404, 429 */
async function openedBy(ctx: Ctx, code: string): Promise<Open> {
  const { hub } = ctx
  return await unlessGuessing(hub, [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)], async () => {
    const found = await findOpen(hub.read, code, hub.clock.now())
    if (!found) throw notOpen()
    return found
  })
}

async function findOpen(read: Reader, code: string, now: number): Promise<Open | null> {
  const [found] = await read
    .select({ row: invitations, workspace: workspaces })
    .from(invitations)
    .innerJoin(workspaces, eq(workspaces.id, invitations.workspaceId))
    .where(isOpenBy(code, now))
  return found ?? null
}

const isOpenBy = (code: string, now: number) =>
  and(eq(invitations.codeHash, sha256Hex(code)), isNull(invitations.acceptedAt), gt(invitations.expiresAt, now))

const notOpen = () =>
  new Problem(
    'not_found',
    'This invitation does not work: it was used or withdrawn, has expired, or its code was cut. Ask whoever invited you for a new one.',
  )

async function newUser(ctx: Ctx, row: InvitationRow, input: Required<Acceptance>): Promise<User> {
  refuseLoginAsPassword(row.email, input.password)
  const now = ctx.hub.clock.now()
  return {
    id: newId('usr'),
    email: row.email,
    name: input.name,
    passwordHash: await hashPassword(input.password),
    isOperator: false,
    disabledAt: null,
    preferences: null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  }
}

/**
 * Uses the invitation up and makes the user a member, in one transaction.
 * @param made the user, where they are to be made
 */
async function join(ctx: Ctx, { id, codeHash, workspaceId }: InvitationRow, user: User, made: User | null): Promise<void> {
  const { hub } = ctx
  const now = hub.clock.now()
  try {
    await record(hub, async (tx): Promise<Recorded<void>> => {
      await holdMembers(tx, workspaceId)
      // Of two that come together one alone finds it open, and a renewal meanwhile has changed the code.
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
      if (!used) throw notOpen()
      const { role } = used
      if (made) await tx.insert(users).values(made)
      const joined = await tx
        .insert(memberships)
        .values(membershipOf(workspaceId, user.id, role, now))
        .onConflictDoNothing()
        .returning({ role: memberships.role })
      if (joined.length === 0) throw new Problem('already_exists', 'You belong to this workspace already.')
      return {
        result: undefined,
        audits: [
          {
            workspaceId,
            action: 'account.invitation.accept',
            actor: { type: 'user', id: user.id, name: user.name, hint: null },
            context: ctx.context,
            targets: [targetOf(used), { type: 'user', id: user.id, name: user.name }],
            after: { email: user.email, name: user.name, role },
            reason: made ? 'The user was made.' : null,
          },
        ],
      }
    })
  } catch (error) {
    if (violation(error) === 'unique') throw conflict('There is a user with this e-mail since a moment ago: try again.')
    throw error
  }
}
