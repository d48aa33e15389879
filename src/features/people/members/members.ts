import { Type } from '@sinclair/typebox'
import { and, count, eq, inArray, isNull, sql } from 'drizzle-orm'
import { forgetCallers } from '../../../access/callers'
import { lockMembers, refuseHigherRole, refuseUngrantableRole } from '../../../access/role-rules'
import { memberships, roles, sessions, tokens, users } from '../../../access/tables'
import { target } from '../../../core/audit'
import { editableView } from '../../../core/members'
import { change } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader, Tx } from '../../../core/db/transaction'
import { requireMatch } from '../../../core/if-match'
import { listingOf, listPage } from '../../../core/list'
import { containsWords, searchVariant, timeFilters, wordsFilter } from '../../../core/list-filters'
import { notFound } from '../../../core/problem'
import type { Page } from '../../../core/shapes'
import { revokeInvitations } from '../invitations/revocation'
import { refuseLastOperator, refuseLastOwner } from './last-owner'
import type { MemberPatch, MemberView } from './shapes'

// A statement can take only a limited number of parameters.
const idBatchSize = 500

type Row = typeof memberships.$inferSelect

export const memberListing = listingOf('members', memberships, {
  isSmall: true,
  id: memberships.userId,
  idOf: row => row.userId,
  defaultSort: 'id',
  filters: {
    role: wordsFilter(memberships.role, roles, 'Only members with these roles.'),
    q: {
      schema: Type.String({
        minLength: 1,
        maxLength: 100,
        description: 'Only members whose name or email address contains all words of this text.',
      }),
      where: (value, place) =>
        sql`exists (select 1 from ${users} where ${users.id} = ${memberships.userId}
          and ${containsWords([users.name, users.email], value as string, place)})`,
      variant: value => searchVariant(value as string),
    },
    ...timeFilters('joined_at', memberships.createdAt),
  },
  sorts: { joined_at: memberships.createdAt },
})

export const listMembers = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<MemberView>> =>
  listPage(ctx, memberListing, query, row => memberView(ctx.hub.read, row))

/** @throws Problem 404 */
export async function getMember(ctx: Ctx, userId: string): Promise<MemberView> {
  const [row] = await ctx.hub.read.select().from(memberships).where(isMember(ctx, userId))
  if (!row) throw notFound('member')
  return await memberView(ctx.hub.read, row)
}

/**
 * Changes the role of a member. Invitations they created that their new role could not create are revoked.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 for the last owner
 */
export function updateMember(ctx: Ctx, userId: string, patch: MemberPatch): Promise<MemberView> {
  return change(ctx, 'account.member.update', async tx => {
    const row = await memberOf(tx, ctx, userId)
    requireMatch(ctx, row)
    const before = await memberView(tx, row)
    const { role } = patch
    const auditTarget = target('user', before)
    if (role === undefined || role === row.role) return { result: before, target: auditTarget, unchanged: true }
    await refuseHigherRole(tx, ctx, row.role)
    await refuseUngrantableRole(tx, ctx, role)
    if (row.role === 'owner') await refuseLastOwner(tx, ctx.workspaceId, userId)
    const [after] = await tx
      .update(memberships)
      .set({ role, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(isMember(ctx, userId))
      .returning()
    const revokedInvitations = await revokeInvitations(tx, { invitedBy: userId, workspaceId: ctx.workspaceId, beyond: role })
    const view = await memberView(tx, after!)
    return {
      result: view,
      target: auditTarget,
      before,
      after: view,
      reason: revokedInvitations > 0 ? invitationsRevoked(revokedInvitations) : null,
    }
  })
}

/**
 * Removes a member from the workspace. Their sessions that last used it end, and invitations they created are revoked. API
 * tokens they created belong to the workspace and stay, unless `revokeTokens` is set, which also revokes tokens created by those.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 for the last owner and for the last
 *   operator
 */
export async function removeMember(ctx: Ctx, userId: string, options: { revokeTokens: boolean }): Promise<void> {
  const { workspaceId } = ctx
  await change(ctx, 'account.member.remove', async tx => {
    const row = await memberOf(tx, ctx, userId)
    requireMatch(ctx, row)
    await refuseHigherRole(tx, ctx, row.role)
    if (row.role === 'owner') await refuseLastOwner(tx, workspaceId, userId)
    await refuseLastOperator(tx, userId)
    const before = await memberView(tx, row)
    await tx.delete(memberships).where(isMember(ctx, userId))
    await tx.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.workspaceId, workspaceId)))
    const descendants = options.revokeTokens ? await tokensDescendingFrom(tx, workspaceId, userId) : []
    const revokedInvitations = await revokeInvitations(tx, { invitedBy: [userId, ...descendants], workspaceId })
    const revoked = await revokeTokens(tx, ctx, descendants)
    const tokensNote =
      revoked > 0
        ? `API tokens created by the member, and tokens created by those, were revoked (${revoked}).`
        : before.tokens > 0
          ? `API tokens created by the member keep working (${before.tokens}).`
          : ''
    return {
      result: undefined,
      target: target('user', before),
      before,
      reason:
        [tokensNote, revokedInvitations > 0 ? invitationsRevoked(revokedInvitations) : ''].filter(Boolean).join(' ') || null,
    }
  })
  await forgetCallers(ctx.hub)
}

const invitationsRevoked = (revokedInvitations: number) =>
  `Pending invitations created by the member were revoked (${revokedInvitations}).`

/** A member of the workspace. Locks all members until the transaction ends. @throws Problem 404 */
async function memberOf(tx: Tx, ctx: Ctx, userId: string): Promise<Row> {
  await lockMembers(tx, ctx.workspaceId)
  const [row] = await forUpdate(tx.select().from(memberships).where(isMember(ctx, userId)))
  if (!row) throw notFound('member')
  return row
}

/** The tokens that a user created, those that such tokens created, and so on: the user may know the value of each. */
async function tokensDescendingFrom(tx: Tx, workspaceId: string, userId: string): Promise<string[]> {
  const created = await tx
    .select({ id: tokens.id, createdBy: tokens.createdBy })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  const byCreator = Map.groupBy(created, one => one.createdBy)
  const descendants: string[] = []
  for (let creators = [userId]; creators.length > 0;) {
    creators = creators.flatMap(maker => byCreator.get(maker)?.map(one => one.id) ?? [])
    descendants.push(...creators)
  }
  return descendants
}

/** Revokes the tokens that are not revoked yet. @returns how many */
async function revokeTokens(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<number> {
  let revoked = 0
  for (let from = 0; from < ids.length; from += idBatchSize) {
    const now = ctx.hub.clock.now()
    const some = ids.slice(from, from + idBatchSize)
    const rows = await tx
      .update(tokens)
      .set({ revokedAt: now, version: sql`${tokens.version} + 1`, updatedAt: now })
      .where(and(inArray(tokens.id, some), isNull(tokens.revokedAt)))
      .returning({ id: tokens.id })
    revoked += rows.length
  }
  return revoked
}

const isMember = (ctx: Ctx, userId: string) => and(eq(memberships.workspaceId, ctx.workspaceId), eq(memberships.userId, userId))

const liveTokensOf = (workspaceId: string, userId: string) =>
  and(eq(tokens.workspaceId, workspaceId), eq(tokens.createdBy, userId), isNull(tokens.revokedAt))

async function memberView(read: Reader, row: Row): Promise<MemberView> {
  const [user] = await read.select().from(users).where(eq(users.id, row.userId))
  const [created] = await read.select({ n: count() }).from(tokens).where(liveTokensOf(row.workspaceId, row.userId))
  return {
    id: row.userId,
    name: user!.name,
    email: user!.email,
    role: row.role,
    disabled: user!.disabledAt !== null,
    tokens: created!.n,
    joined_at: instant(row.createdAt),
    last_seen_at: instant(row.seenAt),
    ...editableView(row),
  }
}
