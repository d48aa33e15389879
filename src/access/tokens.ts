import { and, count, eq, isNull } from 'drizzle-orm'
import { target } from '../core/audit'
import { change, isAlready, record, systemActor } from '../core/change'
import { instant } from '../core/clock'
import { sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import type { Reader, Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { isId, newId } from '../core/ids'
import { requireMatch } from '../core/if-match'
import { listPage, searchFilter, textFilter, timeFilters, wordsFilter, type Listing } from '../core/list'
import { parseRange } from '../core/net/address'
import type { Permission } from '../core/permissions'
import { conflict, invalid, notFound, type FieldProblem } from '../core/problem'
import type { Page } from '../core/shapes'
import { forgetCallers } from './callers'
import { goneWithToken, withdrawInvitations } from './invitation-rows'
import { notedUse } from './last-use'
import { limitNotices, refuseOverLimit } from './plans'
import { refuseOusted } from './ranks'
import type { TokenInput, TokenPatch, TokenView } from './shapes'
import { tokenModes, tokens, type TokenMode } from './tables'
import {
  endsLater,
  makerOf,
  narrowable,
  outside,
  refuseMissing,
  refuseMore,
  refuseMorePower,
  withinMaker,
  type Bounds,
} from './token-bounds'
import { planOf } from './workspaces'
import { newApiToken, tokenHint } from './token-format'

export type TokenRow = typeof tokens.$inferSelect
export type MadeToken = TokenView & { token: string }

export const tokenListing: Listing<TokenRow> = {
  name: 'tokens',
  table: tokens as never,
  id: tokens.id,
  idOf: row => row.id,
  owner: tokens.workspaceId,
  defaultSort: '-id',
  filters: {
    mode: wordsFilter(tokens.mode, tokenModes, 'Only tokens of these modes.'),
    created_by: textFilter(tokens.createdBy, 'Only tokens that this user or token made, or `cli`.', { maxLength: 50 }),
    q: searchFilter([tokens.name], 'Only tokens whose name holds this text.'),
    ...timeFilters('created_at', tokens.createdAt),
  },
  sorts: {
    name: { column: tokens.name, read: row => row.name },
    created_at: { column: tokens.createdAt, read: row => row.createdAt },
  },
}

export const listTokens = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<TokenView>> =>
  listPage(ctx, tokenListing, query, row => tokenView(ctx.hub, row))

/** @throws Problem 404 */
export async function getToken(ctx: Ctx, id: string): Promise<TokenView> {
  const [row] = await ctx.hub.read
    .select()
    .from(tokens)
    .where(and(eq(tokens.id, id), eq(tokens.workspaceId, ctx.workspaceId)))
  if (!row) throw notFound('token')
  return tokenView(ctx.hub, row)
}

/**
 * Makes a token; its value is in the result and nowhere else. A token makes none that may do more than itself.
 * @throws Problem 422, 403 `insufficient_permission` or `plan_limit_reached`
 */
export function createToken(ctx: Ctx, input: TokenInput): Promise<MadeToken> {
  const mode = input.mode ?? 'scoped'
  checkInput(ctx, input, mode)
  refuseMissing(ctx, { mode, permissions: input.permissions ?? [] })
  return change(ctx, 'account.token.create', async tx => {
    await refuseOusted(tx, ctx)
    await refuseMorePower(tx, ctx, mode)
    await refuseOverLimit(tx, ctx, 'tokens', () => countTokens(tx, ctx.workspaceId))
    const { row, token } = await insertToken(tx, ctx.hub, {
      workspaceId: ctx.workspaceId,
      name: input.name,
      mode,
      permissions: input.permissions ?? [],
      resourceIds: input.resource_ids ?? [],
      createdBy: ctx.actor.id,
      ...withinMaker(await makerOf(tx, ctx), input),
    })
    const view = tokenView(ctx.hub, row)
    return { result: { ...view, token }, target: target('token', row), after: view }
  })
}

/** Makes a token from the command line, on behalf of whoever may read the data folder. Returns the value. */
export async function createTokenAsOperator(
  hub: Hub,
  input: { workspaceId: string; name: string; mode: TokenMode; permissions: Permission[]; expiresAt: number | null },
): Promise<string> {
  return await record(hub, async tx => {
    const { row, token } = await insertToken(tx, hub, { ...input, createdBy: 'cli', allowedCidrs: [] })
    const { limits, planId } = await planOf(tx, input.workspaceId)
    const used = (await countTokens(tx, input.workspaceId)) - 1
    return {
      result: token,
      notices:
        limits.tokens === null
          ? []
          : limitNotices({ workspaceId: input.workspaceId, limit: 'tokens', max: limits.tokens, used, planId }),
      audits: [
        {
          workspaceId: input.workspaceId,
          action: 'account.token.create',
          actor: { ...systemActor('command line'), type: 'operator' },
          context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
          targets: [target('token', row)],
          after: tokenView(hub, row),
        },
      ],
    }
  })
}

/**
 * Changes the label and the bounds of a token. A token gives none later ends or more addresses than its own, and loosens none that
 * may do more than itself; null asks for no bound.
 * @throws Problem 404, 412, 422, 403 `insufficient_permission`, 409 for one that has ended
 */
export async function updateToken(ctx: Ctx, id: string, patch: TokenPatch): Promise<TokenView> {
  const errors = boundProblems(ctx, patch)
  if (errors.length > 0) throw invalid(errors)
  const view = await change(ctx, 'account.token.update', async tx => {
    const row = await tokenOf(tx, ctx, id)
    requireMatch(ctx, row)
    const columns = { name: patch.name, ...(await patchedBounds(tx, ctx, row, patch)) }
    if (isAlready(row, columns)) return { result: tokenView(ctx.hub, row), target: target('token', row), unchanged: true }
    const [after] = await tx
      .update(tokens)
      .set({ ...columns, version: row.version + 1, updatedAt: ctx.hub.clock.now() })
      .where(eq(tokens.id, id))
      .returning()
    return {
      result: tokenView(ctx.hub, after!),
      target: target('token', row),
      before: tokenView(ctx.hub, row),
      after: tokenView(ctx.hub, after!),
    }
  })
  forgetCallers(ctx.hub)
  return view
}

async function patchedBounds(tx: Tx, ctx: Ctx, row: TokenRow, patch: TokenPatch): Promise<Bounds> {
  const { expires_at, allowed_cidrs } = patch
  if (expires_at === undefined && allowed_cidrs === undefined) return { expiresAt: row.expiresAt, allowedCidrs: row.allowedCidrs }
  if (row.expiresAt !== null && row.expiresAt <= ctx.hub.clock.now()) throw conflict('The token has ended; make a new one.')
  const within = withinMaker(await makerOf(tx, ctx), patch)
  const bounds = {
    expiresAt: expires_at === undefined ? row.expiresAt : within.expiresAt,
    allowedCidrs: allowed_cidrs === undefined ? row.allowedCidrs : within.allowedCidrs,
  }
  const later = endsLater(row, bounds)
  if (later && row.rotatedTo !== null) {
    throw invalid([
      {
        pointer: '#/expires_at',
        code: 'in_rotation',
        detail: `must not lie after ${instant(row.expiresAt)}: the token was rotated, and ${row.rotatedTo} takes its place.`,
      },
    ])
  }
  if (later || outside(row, bounds.allowedCidrs).length > 0) await refuseMore(tx, ctx, row)
  return bounds
}

/**
 * Revokes a token: it stops working with the next request, and stays in the list. Open invitations it made are withdrawn. Revoking it
 * again changes nothing.
 * @throws Problem 404, 412
 */
export async function revokeToken(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'account.token.revoke', async tx => {
    const row = await tokenOf(tx, ctx, id)
    requireMatch(ctx, row)
    if (row.revokedAt !== null) return { result: undefined, target: target('token', row), reason: 'It was revoked before.' }
    const now = ctx.hub.clock.now()
    const [after] = await tx
      .update(tokens)
      .set({ revokedAt: now, version: row.version + 1, updatedAt: now })
      .where(eq(tokens.id, id))
      .returning()
    return {
      result: undefined,
      target: target('token', row),
      before: tokenView(ctx.hub, row),
      after: tokenView(ctx.hub, after!),
      reason: goneWithToken(await withdrawInvitations(tx, { invitedBy: id })),
    }
  })
  forgetCallers(ctx.hub)
}

function checkInput(ctx: Ctx, input: TokenInput, mode: TokenMode): void {
  const errors: FieldProblem[] = []
  const wrong = (pointer: string, code: string, detail: string) => errors.push({ pointer, code, detail })
  if (mode === 'scoped' && !input.permissions?.length)
    wrong(
      '#/permissions',
      'required',
      'is required for a scoped token: name at least one permission, or choose the mode read_only or full.',
    )
  if (mode !== 'scoped' && input.permissions?.length) wrong('#/permissions', 'not_allowed', `does not go with the mode ${mode}.`)
  input.resource_ids?.forEach((one, place) => {
    if (!narrowable.some(prefix => isId(one, prefix)))
      wrong(
        `#/resource_ids/${place}`,
        'format',
        `must be the id of a resource: ${narrowable.map(prefix => `${prefix}_…`).join(' or ')}.`,
      )
  })
  errors.push(...boundProblems(ctx, input))
  if (errors.length > 0) throw invalid(errors)
}

function boundProblems(ctx: Ctx, asked: Pick<TokenPatch, 'expires_at' | 'allowed_cidrs'>): FieldProblem[] {
  const errors: FieldProblem[] = []
  if (asked.expires_at && Date.parse(asked.expires_at) <= ctx.hub.clock.now())
    errors.push({ pointer: '#/expires_at', code: 'in_the_past', detail: 'must lie in the future.' })
  asked.allowed_cidrs?.forEach((one, place) => {
    if (!parseRange(one)) {
      errors.push({
        pointer: `#/allowed_cidrs/${place}`,
        code: 'format',
        detail: 'must be an IP address or a CIDR range such as 192.0.2.0/24.',
      })
    }
  })
  return errors
}

/** Puts a new token into the list. Its value is in the result and nowhere else. */
export async function insertToken(
  tx: Tx,
  hub: Hub,
  given: Pick<TokenRow, 'workspaceId' | 'name' | 'mode' | 'permissions' | 'createdBy' | 'expiresAt' | 'allowedCidrs'> &
    Partial<Pick<TokenRow, 'resourceIds' | 'rotatedFrom' | 'graceSeconds'>>,
): Promise<{ row: TokenRow; token: string }> {
  const token = newApiToken()
  const now = hub.clock.now()
  const [row] = await tx
    .insert(tokens)
    .values({
      id: newId('tok'),
      resourceIds: [],
      ...given,
      tokenHash: sha256Hex(token),
      hint: tokenHint(token),
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    .returning()
  return { row: row!, token }
}

/** A token of the workspace, held until the change is done. @throws Problem 404 */
export async function tokenOf(tx: Tx, ctx: Ctx, id: string): Promise<TokenRow> {
  const [row] = await locking(
    tx
      .select()
      .from(tokens)
      .where(and(eq(tokens.id, id), eq(tokens.workspaceId, ctx.workspaceId))),
  )
  if (!row) throw notFound('token')
  return row
}

/** Tokens that count against the plan: those neither revoked nor replaced. */
export async function countTokens(read: Reader, workspaceId: string): Promise<number> {
  const [row] = await read
    .select({ n: count() })
    .from(tokens)
    .where(and(eq(tokens.workspaceId, workspaceId), isNull(tokens.revokedAt), isNull(tokens.rotatedTo)))
  return row!.n
}

/** A token as the API shows it, with a last use that may not be written down yet. */
export function tokenView(hub: Hub, row: TokenRow): TokenView {
  const noted = notedUse(hub, row.id)
  return {
    id: row.id,
    name: row.name,
    mode: row.mode,
    permissions: row.permissions,
    hint: row.hint,
    expires_at: instant(row.expiresAt),
    last_used_at: instant(noted?.at ?? row.lastUsedAt),
    last_used_ip: noted?.ip ?? row.lastUsedIp,
    allowed_cidrs: row.allowedCidrs,
    resource_ids: row.resourceIds,
    created_by: row.createdBy,
    rotated_from: row.rotatedFrom,
    rotated_to: row.rotatedTo,
    revoked_at: instant(row.revokedAt),
    version: row.version,
    created_at: instant(row.createdAt),
    updated_at: instant(row.updatedAt),
  }
}
