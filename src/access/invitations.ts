import { and, count, eq, gt, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { Type } from '@sinclair/typebox'
import { target } from '../core/audit'
import { change, record } from '../core/change'
import { instant } from '../core/clock'
import { sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { requireMatch } from '../core/if-match'
import type { JobDraft } from '../core/jobs/queue'
import { listPage, searchFilter, timeFilters, wordsFilter, type Listing } from '../core/list'
import { conflict, notFound, Problem, tryAgain } from '../core/problem'
import { Words, type Page } from '../core/shapes'
import { invitationCode, invitationLink } from './invitation-codes'
import { invitationStates, type InvitationInput, type InvitationRenewal, type InvitationView } from './invitation-shapes'
import { limiterOf } from './limiter'
import { loginOf } from './logins'
import { isToBeMailed, mailInvitation } from './mail-invitation'
import { holdMembers, refuseGift } from './ranks'
import { invitationsMade } from './rate-limits'
import { invitations, memberships, roles, users, workspaces } from './tables'

export type InvitationRow = typeof invitations.$inferSelect
export type MadeInvitation = InvitationView & { code: string; link: string; note: string | null }

const weekSeconds = 7 * 86_400
/** Most open invitations of a workspace. */
const mostOpen = 100
/** Most people of a workspace, those invited included. */
const mostMembers = 1000
/** How long invitations that are accepted or expired stay in the list. */
const keptMs = 90 * 86_400_000

const isPending = (now: unknown) => sql`${invitations.acceptedAt} is null and ${invitations.expiresAt} > ${now}`
const isExpired = (now: unknown) => sql`${invitations.acceptedAt} is null and ${invitations.expiresAt} <= ${now}`

export const invitationListing: Listing<InvitationRow> = {
  name: 'invitations',
  table: invitations as never,
  id: invitations.id,
  idOf: row => row.id,
  owner: invitations.workspaceId,
  defaultSort: '-id',
  filters: {
    status: {
      schema: Type.Array(Words(invitationStates), {
        minItems: 1,
        maxItems: invitationStates.length,
        description: 'Only invitations that stand so.',
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
    role: wordsFilter(invitations.role, roles, 'Only invitations to these roles.'),
    q: searchFilter([invitations.email], 'Only invitations whose e-mail holds this text.'),
    ...timeFilters('created_at', invitations.createdAt),
  },
  sorts: {
    created_at: { column: invitations.createdAt, read: row => row.createdAt },
    expires_at: { column: invitations.expiresAt, read: row => row.expiresAt },
  },
}

export const listInvitations = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<InvitationView>> =>
  listPage(ctx, invitationListing, query, row => invitationView(ctx.hub, row))

/** @throws Problem 404 */
export async function getInvitation(ctx: Ctx, id: string): Promise<InvitationView> {
  const [row] = await ctx.hub.read.select().from(invitations).where(isOwn(ctx, id))
  if (!row) throw notFound('invitation')
  return invitationView(ctx.hub, row)
}

/**
 * Invites a person to the workspace. The code is in the result and nowhere else. Whether there is a login with this e-mail is
 * not told, nor does it make a difference; that one is needed to accept it is told, where it is.
 * @throws Problem 403 `insufficient_permission` above the caller's own role; 409 for a member, for somebody invited already,
 *   when there are too many, and `mail_not_set_up`; 429
 */
export async function createInvitation(
  ctx: Ctx,
  input: InvitationInput,
  workspaceId: string = ctx.workspaceId,
): Promise<MadeInvitation> {
  const { hub } = ctx
  const isMailed = isToBeMailed(hub, input.send)
  countOne(hub, workspaceId)
  const email = loginOf(input.email)
  const role = input.role ?? 'member'
  return await change(ctx, 'account.invitation.create', async tx => {
    await holdMembers(tx, workspaceId)
    await refuseGift(tx, ctx, role)
    await refuseKnown(tx, hub, workspaceId, email)
    await refuseTooMany(tx, hub, workspaceId)
    // One that has expired makes way.
    await tx
      .delete(invitations)
      .where(and(eq(invitations.workspaceId, workspaceId), eq(invitations.email, email), isNull(invitations.acceptedAt)))
    const id = newId('inv')
    const code = invitationCode(hub, id, 1)
    const now = hub.clock.now()
    const [row] = await tx
      .insert(invitations)
      .values({
        id,
        workspaceId,
        email,
        role,
        codeHash: sha256Hex(code),
        invitedBy: ctx.actor.id,
        byOperator: ctx.operator,
        expiresAt: now + (input.expires_in_seconds ?? weekSeconds) * 1000,
        acceptedAt: null,
        acceptedBy: null,
        sentTo: isMailed ? email : null,
        version: 1,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    return {
      result: withCode(hub, row!, code),
      target: targetOf(row!),
      after: invitationView(hub, row!),
      jobs: mailJobs(ctx, row!),
    }
  })
}

/**
 * Invites a person to a workspace that the operator made: as its owner, unless another role is named.
 * @throws Problem 404, 409, 429
 */
export async function inviteAsOperator(ctx: Ctx, workspaceId: string, input: InvitationInput): Promise<MadeInvitation> {
  const [workspace] = await ctx.hub.read.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.id, workspaceId))
  if (!workspace) throw notFound('workspace')
  return await createInvitation(ctx, { role: 'owner', ...input }, workspaceId)
}

/**
 * Gives an invitation a new code and a new end; the code before stops working.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 for one that was accepted, 429
 */
export async function renewInvitation(ctx: Ctx, id: string, input: InvitationRenewal): Promise<MadeInvitation> {
  const { hub } = ctx
  const isMailed = isToBeMailed(hub, input.send)
  countOne(hub, ctx.workspaceId)
  return await change(ctx, 'account.invitation.renew', async tx => {
    await holdMembers(tx, ctx.workspaceId)
    const row = await invitationOf(tx, ctx, id)
    requireMatch(ctx, row)
    await refuseGift(tx, ctx, row.role)
    if (row.acceptedAt !== null) throw conflict('The invitation was accepted.')
    const code = invitationCode(hub, id, row.version + 1)
    const now = hub.clock.now()
    const [after] = await tx
      .update(invitations)
      .set({
        codeHash: sha256Hex(code),
        invitedBy: ctx.actor.id,
        byOperator: ctx.operator,
        expiresAt: now + (input.expires_in_seconds ?? weekSeconds) * 1000,
        sentTo: isMailed ? row.email : null,
        mailedAt: null,
        mailError: null,
        version: row.version + 1,
        updatedAt: now,
      })
      .where(eq(invitations.id, id))
      .returning()
    return {
      result: withCode(hub, after!, code),
      target: targetOf(row),
      before: invitationView(hub, row),
      after: invitationView(hub, after!),
      jobs: mailJobs(ctx, after!),
    }
  })
}

/** Withdraws an invitation, or takes one that is over out of the list. @throws Problem 404, 412 */
export async function deleteInvitation(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'account.invitation.delete', async tx => {
    const row = await invitationOf(tx, ctx, id)
    requireMatch(ctx, row)
    await tx.delete(invitations).where(eq(invitations.id, id))
    return { result: undefined, target: targetOf(row), before: invitationView(ctx.hub, row) }
  })
}

/** Deletes invitations that were over long ago. */
export async function pruneInvitations(hub: Hub): Promise<void> {
  const before = hub.clock.now() - keptMs
  await record(hub, async tx => {
    await tx.delete(invitations).where(or(lt(invitations.expiresAt, before), lt(invitations.acceptedAt, before)))
    return { result: undefined }
  })
}

/** Each is a message to somebody, and a workspace must not send them by the thousand. @throws Problem 429 */
function countOne(hub: Hub, workspaceId: string): void {
  const verdict = limiterOf(hub).take([invitationsMade(workspaceId)], hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
}

async function refuseKnown(tx: Tx, hub: Hub, workspaceId: string, email: string): Promise<void> {
  const [member] = await tx
    .select({ id: users.id })
    .from(users)
    .innerJoin(memberships, eq(memberships.userId, users.id))
    .where(and(eq(users.email, email), eq(memberships.workspaceId, workspaceId)))
  if (member) throw new Problem('already_exists', `${email} is a member of this workspace already.`)
  const [open] = await tx
    .select({ id: invitations.id })
    .from(invitations)
    .where(and(eq(invitations.email, email), isOpen(hub, workspaceId)))
  if (open) throw new Problem('already_exists', `${email} is invited already; renew ${open.id} for a new code.`)
}

async function refuseTooMany(tx: Tx, hub: Hub, workspaceId: string): Promise<void> {
  const [open] = await tx.select({ n: count() }).from(invitations).where(isOpen(hub, workspaceId))
  const [members] = await tx.select({ n: count() }).from(memberships).where(eq(memberships.workspaceId, workspaceId))
  if (open!.n >= mostOpen) throw conflict(`There are ${mostOpen} open invitations, which is the most; withdraw some first.`)
  if (open!.n + members!.n >= mostMembers)
    throw conflict(`A workspace has ${mostMembers} members at most, those who are invited included.`)
}

const isOpen = (hub: Hub, workspaceId: string) =>
  and(eq(invitations.workspaceId, workspaceId), isNull(invitations.acceptedAt), gt(invitations.expiresAt, hub.clock.now()))

const isOwn = (ctx: Ctx, id: string) => and(eq(invitations.id, id), eq(invitations.workspaceId, ctx.workspaceId))

/** An invitation of the workspace, held until the change is done. @throws Problem 404 */
async function invitationOf(tx: Tx, ctx: Ctx, id: string): Promise<InvitationRow> {
  const [row] = await locking(tx.select().from(invitations).where(isOwn(ctx, id)))
  if (!row) throw notFound('invitation')
  return row
}

/** A person is named to who is invited; a token has no name that they know. */
const mailJobs = ({ actor }: Ctx, row: InvitationRow): JobDraft[] =>
  row.sentTo === null ? [] : [mailInvitation(row, actor.type === 'user' ? actor.name : null)]

/** The invitation as the audit log names it. */
export const targetOf = (row: InvitationRow) => target('invitation', { id: row.id, name: row.email })

const withCode = (hub: Hub, row: InvitationRow, code: string): MadeInvitation => ({
  ...invitationView(hub, row),
  code,
  link: invitationLink(hub, code),
  // Told whether or not there is a login with the e-mail, so that it tells nothing of that.
  note: makesLogin(hub, row) ? null : loginNeeded,
})

const loginNeeded =
  'Only somebody who has a login here already can accept it: BAILIWICK_SIGN_UP is closed, so that only invitations by the operator make logins. Ask the operator to invite who has none.'

/** Whether an invitation makes a login for somebody who has none. */
export const makesLogin = ({ config }: Hub, row: Pick<InvitationRow, 'byOperator'>): boolean =>
  config.signUp !== 'closed' || row.byOperator

function invitationView(hub: Hub, row: InvitationRow): InvitationView {
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    status: row.acceptedAt !== null ? 'accepted' : row.expiresAt > hub.clock.now() ? 'pending' : 'expired',
    invited_by: row.invitedBy,
    makes_login: makesLogin(hub, row),
    expires_at: instant(row.expiresAt),
    accepted_at: instant(row.acceptedAt),
    accepted_by: row.acceptedBy,
    sent_to: row.sentTo,
    mailed_at: instant(row.mailedAt),
    mail_error: row.mailError,
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}
