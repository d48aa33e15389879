import { Type } from '@sinclair/typebox'
import { and, count, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { normalizeEmail } from '../../../access/email-address'
import { countRequest } from '../../../access/limiter'
import { invitationsSent } from '../../../access/rate-limits'
import { lockMembers, refuseUngrantableRole } from '../../../access/role-rules'
import { memberships, roles, users, workspaces } from '../../../access/tables'
import { target } from '../../../core/audit'
import { editableView } from '../../../core/members'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import { sha256Hex } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { newId } from '../../../core/ids'
import type { JobDraft } from '../../../core/jobs/draft'
import { listingOf, listPage } from '../../../core/list'
import { searchFilter, timeFilters, wordsFilter } from '../../../core/list-filters'
import { conflict, notFound, Problem } from '../../../core/problem'
import { changedRow, deleteRow, findRow, insertRow, lockRow, pruneRows, saveRow } from '../../../core/rows'
import { Words, type Page } from '../../../core/shapes'
import { rowsOf } from '../../../registry'
import { invitationCode, invitationLink } from './codes'
import { shouldMail, mailInvitation } from './mail'
import { invitationStates, type InvitationInput, type InvitationRenewal, type InvitationView } from './shapes'
import { invitations } from './tables'

export type InvitationRow = typeof invitations.$inferSelect
type CreatedInvitation = InvitationView & { code: string; link: string; note: string | null }

const weekSeconds = 7 * 86_400
/** Maximum number of pending invitations of a workspace. */
const maxOpen = 100
/** Maximum number of members of a workspace, including invited people. */
const maxMembers = 1000
/** How long accepted and expired invitations stay in the list. */
const retentionMs = 90 * 86_400_000

const isPending = (now: unknown) => sql`${invitations.acceptedAt} is null and ${invitations.expiresAt} > ${now}`
const isExpired = (now: unknown) => sql`${invitations.acceptedAt} is null and ${invitations.expiresAt} <= ${now}`

const invitationRows = rowsOf('invitation', invitations, { label: 'email' })

export const invitationListing = listingOf('invitations', invitations, {
  isSmall: true,
  filters: {
    status: {
      schema: Type.Array(Words(invitationStates), {
        minItems: 1,
        maxItems: invitationStates.length,
        description: 'Only invitations with these statuses.',
      }),
      where: (value, place, now) =>
        sql`(${sql.join(
          (value as InvitationView['status'][]).map(word =>
            word === 'accepted'
              ? isNotNull(invitations.acceptedAt)
              : word === 'pending'
                ? isPending(place(now))
                : isExpired(place(now)),
          ),
          sql` or `,
        )})`,
    },
    role: wordsFilter(invitations.role, roles, 'Only invitations for these roles.'),
    q: searchFilter([invitations.email], 'Only invitations whose email address contains all words of this text.'),
    ...timeFilters('created_at', invitations.createdAt),
  },
  sorts: ['created_at', 'expires_at'],
})

export const listInvitations = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<InvitationView>> =>
  listPage(ctx, invitationListing, query, row => invitationView(ctx.hub, row))

/** @throws Problem 404 */
export const getInvitation = async (ctx: Ctx, id: string): Promise<InvitationView> =>
  invitationView(ctx.hub, await findRow(ctx.hub.read, ctx, invitationRows, id))

/**
 * Invites a person to the workspace. The code is returned only here. The result does not reveal whether the email address has an
 * account, and its note, if any, does not depend on it.
 * @throws Problem 403 `insufficient_permission` above the caller's own role; 409 if the person is already a member or invited,
 *   if there are too many, and `mail_not_set_up`; 429
 */
export async function createInvitation(
  ctx: Ctx,
  input: InvitationInput,
  workspaceId: string = ctx.workspaceId,
): Promise<CreatedInvitation> {
  const { hub } = ctx
  const isMailed = shouldMail(hub, input.send)
  // Each invitation sends a message to someone.
  countRequest(hub, [invitationsSent(workspaceId)])
  const email = normalizeEmail(input.email)
  const role = input.role ?? 'member'
  return await change(ctx, 'account.invitation.create', async tx => {
    await lockMembers(tx, workspaceId)
    await refuseUngrantableRole(tx, ctx, role)
    await refuseKnown(tx, hub, workspaceId, email)
    await refuseTooMany(tx, hub, workspaceId)
    // An expired invitation is replaced.
    await tx
      .delete(invitations)
      .where(and(eq(invitations.workspaceId, workspaceId), eq(invitations.email, email), isNull(invitations.acceptedAt)))
    const id = newId('inv')
    const code = invitationCode(hub, id, 1)
    const row = await insertRow(tx, { hub, workspaceId }, invitationRows, {
      id,
      email,
      role,
      codeHash: sha256Hex(code),
      invitedBy: ctx.actor.id,
      byOperator: ctx.operator,
      expiresAt: hub.clock.now() + (input.expires_in_seconds ?? weekSeconds) * 1000,
      acceptedAt: null,
      acceptedBy: null,
      sentTo: isMailed ? email : null,
    })
    return {
      result: withCode(hub, row, code),
      target: targetOf(row),
      after: invitationView(hub, row),
      jobs: mailJobs(ctx, row),
    }
  })
}

/**
 * Invites a person to any workspace, as owner unless another role is given. For the operator.
 * @throws Problem 404, 409, 429
 */
export async function inviteAsOperator(ctx: Ctx, workspaceId: string, input: InvitationInput): Promise<CreatedInvitation> {
  const [workspace] = await ctx.hub.read.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId))
  if (!workspace) throw notFound('workspace')
  return await createInvitation(ctx, { role: 'owner', ...input }, workspaceId)
}

/**
 * Gives an invitation a new code and a new expiry. The old code stops working.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 if it was accepted, 429
 */
export async function renewInvitation(ctx: Ctx, id: string, input: InvitationRenewal): Promise<CreatedInvitation> {
  const { hub } = ctx
  const isMailed = shouldMail(hub, input.send)
  countRequest(hub, [invitationsSent(ctx.workspaceId)])
  return await change(ctx, 'account.invitation.renew', async tx => {
    await lockMembers(tx, ctx.workspaceId)
    const row = await lockRow(tx, ctx, invitationRows, id)
    await refuseUngrantableRole(tx, ctx, row.role)
    if (row.acceptedAt !== null) throw conflict('This invitation was already accepted.')
    const code = invitationCode(hub, id, row.version + 1)
    const after = await saveRow(tx, ctx, invitationRows, row, {
      codeHash: sha256Hex(code),
      invitedBy: ctx.actor.id,
      byOperator: ctx.operator,
      expiresAt: hub.clock.now() + (input.expires_in_seconds ?? weekSeconds) * 1000,
      sentTo: isMailed ? row.email : null,
      mailedAt: null,
      mailError: null,
    })
    return {
      ...(await changedRow(invitationRows, row, after, one => invitationView(hub, one))),
      result: withCode(hub, after, code),
      jobs: mailJobs(ctx, after),
    }
  })
}

/** Revokes an invitation, or removes an accepted or expired one from the list. @throws Problem 404, 412 */
export const deleteInvitation = (ctx: Ctx, id: string): Promise<void> =>
  deleteRow(ctx, 'account.invitation.delete', invitationRows, id, row => invitationView(ctx.hub, row))

/** Deletes invitations that were accepted or expired long ago. */
export async function pruneInvitations(hub: Hub): Promise<void> {
  const before = hub.clock.now() - retentionMs
  await pruneRows(hub, invitations, or(lt(invitations.expiresAt, before), lt(invitations.acceptedAt, before)), invitations.id)
}

async function refuseKnown(tx: Tx, hub: Hub, workspaceId: string, email: string): Promise<void> {
  const [member] = await tx
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .where(and(eq(users.email, email), eq(memberships.workspaceId, workspaceId)))
  if (member) throw new Problem('already_exists', `${email} is already a member of this workspace.`)
  const [open] = await tx
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(eq(invitations.email, email), isOpen(hub, workspaceId)))
  if (open) throw new Problem('already_exists', `${email} is already invited. Renew ${open.id} to get a new code.`)
}

async function refuseTooMany(tx: Tx, hub: Hub, workspaceId: string): Promise<void> {
  const [open] = await tx.select({ n: count() }).from(invitations).where(isOpen(hub, workspaceId))
  const [members] = await tx.select({ n: count() }).from(memberships).where(eq(memberships.workspaceId, workspaceId))
  if (open!.n >= maxOpen) throw conflict(`A workspace can have at most ${maxOpen} pending invitations. Revoke some first.`)
  if (open!.n + members!.n >= maxMembers)
    throw conflict(`A workspace can have at most ${maxMembers} members, including invited people.`)
}

const isOpen = (hub: Hub, workspaceId: string) =>
  and(eq(invitations.workspaceId, workspaceId), isNull(invitations.acceptedAt), gt(invitations.expiresAt, hub.clock.now()))

// The email names the inviting person, but not a token: its name means nothing to the recipient.
const mailJobs = ({ actor }: Ctx, row: InvitationRow): JobDraft[] =>
  row.sentTo === null ? [] : [mailInvitation(row, actor.type === 'user' ? actor.name : null)]

/** The invitation as an audit log target. */
export const targetOf = (row: InvitationRow) => target('invitation', { id: row.id, name: row.email })

const withCode = (hub: Hub, row: InvitationRow, code: string): CreatedInvitation => ({
  ...invitationView(hub, row),
  code,
  link: invitationLink(hub, code),
  // Does not depend on whether the email address has an account, so it does not reveal that.
  note: allowsSignUp(hub, row) ? null : accountNeeded,
})

const accountNeeded =
  'Only a person who already has an account can accept this invitation: BAILIWICK_SIGN_UP is closed, so only invitations by ' +
  'the operator allow sign-up. Ask the operator to invite people without an account.'

/** Whether a person without an account can accept the invitation. */
export const allowsSignUp = ({ config }: Hub, row: Pick<InvitationRow, 'byOperator'>): boolean =>
  config.signUp !== 'closed' || row.byOperator

function invitationView(hub: Hub, row: InvitationRow): InvitationView {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: row.acceptedAt !== null ? 'accepted' : row.expiresAt > hub.clock.now() ? 'pending' : 'expired',
    invited_by: row.invitedBy,
    allows_sign_up: allowsSignUp(hub, row),
    expires_at: instant(row.expiresAt),
    accepted_at: instant(row.acceptedAt),
    accepted_by: row.acceptedBy,
    sent_to: row.sentTo,
    mailed_at: instant(row.mailedAt),
    mail_error: row.mailError,
    ...editableView(row),
  }
}
