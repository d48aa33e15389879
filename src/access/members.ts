import { Type } from '@sinclair/typebox'
import { and, count, eq, inArray, isNull, sql } from 'drizzle-orm'
import { target } from '../core/audit'
import { change } from '../core/change'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import type { Reader, Tx } from '../core/db/transaction'
import { requireMatch } from '../core/if-match'
import { listPage, timeFilters, wordsFilter, type Listing } from '../core/list'
import { notFound } from '../core/problem'
import type { Page } from '../core/shapes'
import { forgetCallers } from './callers'
import { withdrawInvitations } from './invitation-rows'
import type { MemberPatch, MemberView } from './member-shapes'
import { holdMembers, refuseAbove, refuseGift, refuseLastOperator, refuseLastOwner } from './ranks'
import { memberships, roles, sessions, tokens, users } from './tables'

// A statement takes only so many parameters.
const mostIdsAtOnce = 500

type Row = typeof memberships.$inferSelect

export const memberListing: Listing<Row> = {
  name: 'members',
  table: memberships as never,
  id: memberships.userId,
  idOf: row => row.userId,
  owner: memberships.workspaceId,
  defaultSort: 'id',
  filters: {
    role: wordsFilter(memberships.role, roles, 'Only members with these roles.'),
    q: {
      schema: Type.String({ minLength: 1, maxLength: 100, description: 'Only members whose name or e-mail holds this text.' }),
      where(value, place) {
        const pattern = `%${(value as string).toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`
        return sql`exists (select 1 from ${users} where ${users.id} = ${memberships.userId}
          and (lower(${users.name}) like ${place(pattern)} escape '\\' or ${users.email} like ${place(pattern)} escape '\\'))`
      },
    },
    ...timeFilters('joined_at', memberships.createdAt),
  },
  sorts: { joined_at: { column: memberships.createdAt, read: row => row.createdAt } },
}

export const listMembers = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<MemberView>> =>
  listPage(ctx, memberListing, query, row => memberView(ctx.hub.read, row))

/** @throws Problem 404 */
export async function getMember(ctx: Ctx, userId: string): Promise<MemberView> {
  const [row] = await ctx.hub.read.select().from(memberships).where(isMember(ctx, userId))
  if (!row) throw notFound('member')
  return await memberView(ctx.hub.read, row)
}

/**
 * Gives a member another role. Invitations they made that their new role could not make are withdrawn.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 for the last owner
 */
export function updateMember(ctx: Ctx, userId: string, patch: MemberPatch): Promise<MemberView> {
  return change(ctx, 'account.member.update', async tx => {
    const row = await memberOf(tx, ctx, userId)
    requireMatch(ctx, row)
    const before = await memberView(tx, row)
    const { role } = patch
    const told = target('user', before)
    if (role === undefined || role === row.role) return { result: before, target: told, unchanged: true }
    await refuseAbove(tx, ctx, row.role)
    await refuseGift(tx, ctx, role)
    if (row.role === 'owner') await refuseLastOwner(tx, ctx.workspaceId, userId)
    const [after] = await tx
      .update(memberships)
      .set({ role, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(isMember(ctx, userId))
      .returning()
    const withdrawn = await withdrawInvitations(tx, { invitedBy: userId, workspaceId: ctx.workspaceId, beyond: role })
    const view = await memberView(tx, after!)
    return { result: view, target: told, before, after: view, reason: withdrawn > 0 ? invitationsOf(withdrawn) : null }
  })
}

/**
 * Takes somebody out of the workspace: what they do next is refused, sessions that were last here end, and invitations they
 * made are withdrawn. API tokens they made belong to the workspace and stay, unless they are to be revoked too, with all that those
 * made in turn.
 * @throws Problem 404, 412, 403 `insufficient_permission` above the caller's own role, 409 for the last owner, and for
 * the last operator
 */
export async function removeMember(ctx: Ctx, userId: string, options: { revokeTokens: boolean }): Promise<void> {
  const { workspaceId } = ctx
  await change(ctx, 'account.member.remove', async tx => {
    const row = await memberOf(tx, ctx, userId)
    requireMatch(ctx, row)
    await refuseAbove(tx, ctx, row.role)
    if (row.role === 'owner') await refuseLastOwner(tx, workspaceId, userId)
    await refuseLastOperator(tx, userId)
    const before = await memberView(tx, row)
    await tx.delete(memberships).where(isMember(ctx, userId))
    await tx.delete(sessions).where(and(eq(sessions.userId, userId), eq(sessions.workspaceId, workspaceId)))
    const behind = options.revokeTokens ? await tokensBehind(tx, workspaceId, userId) : []
    const withdrawn = await withdrawInvitations(tx, { invitedBy: [userId, ...behind], workspaceId })
    const revoked = await revokeTokens(tx, ctx, behind)
    const left =
      revoked > 0
        ? `The API tokens they made, and that those made, were revoked (${revoked}).`
        : before.tokens > 0
          ? `API tokens they made go on working (${before.tokens}).`
          : ''
    return {
      result: undefined,
      target: target('user', before),
      before,
      reason: [left, withdrawn > 0 ? invitationsOf(withdrawn) : ''].filter(Boolean).join(' ') || null,
    }
  })
  forgetCallers(ctx.hub)
}

const invitationsOf = (withdrawn: number) => `Open invitations they made were withdrawn (${withdrawn}).`

/** A member of the workspace, held with all others until the change is done. @throws Problem 404 */
async function memberOf(tx: Tx, ctx: Ctx, userId: string): Promise<Row> {
  await holdMembers(tx, ctx.workspaceId)
  const [row] = await locking(tx.select().from(memberships).where(isMember(ctx, userId)))
  if (!row) throw notFound('member')
  return row
}

/** The tokens that a user made, those that such tokens made, and so on: the user may know the value of each. */
async function tokensBehind(tx: Tx, workspaceId: string, userId: string): Promise<string[]> {
  const made = await tx
    .select({ id: tokens.id, createdBy: tokens.createdBy })
    .from(tokens)
    .where(eq(tokens.workspaceId, workspaceId))
  const byMaker = Map.groupBy(made, one => one.createdBy)
  const behind: string[] = []
  for (let makers = [userId]; makers.length > 0;) {
    makers = makers.flatMap(maker => byMaker.get(maker)?.map(one => one.id) ?? [])
    behind.push(...makers)
  }
  return behind
}

/** Revokes those that are not, and returns how many. */
async function revokeTokens(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<number> {
  let revoked = 0
  for (let from = 0; from < ids.length; from += mostIdsAtOnce) {
    const now = ctx.hub.clock.now()
    const some = ids.slice(from, from + mostIdsAtOnce)
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
  const [made] = await read.select({ n: count() }).from(tokens).where(liveTokensOf(row.workspaceId, row.userId))
  return {
    id: row.userId,
    name: user!.name,
    email: user!.email,
    role: row.role,
    disabled: user!.disabledAt !== null,
    tokens: made!.n,
    joined_at: instant(row.createdAt),
    last_seen_at: instant(row.seenAt),
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}
