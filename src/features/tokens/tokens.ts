import { inArray } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { revocationReason, revokeInvitations } from '../people/invitations/revocation'
import { refuseOverLimit } from '../../access/plans'
import { refuseLostAccess } from '../../access/role-rules'
import { tokenModes, tokens, type TokenMode, users } from '../../access/tables'
import { newApiToken, tokenHint } from '../../access/token-format'
import { type TokenRow, tokenRows, tokenView } from '../../access/token-use'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { isId } from '../../core/ids'
import { listingOf, listPage } from '../../core/list'
import { searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { parseRange } from '../../core/net/address'
import { conflict, invalid, type FieldProblem } from '../../core/problem'
import { type Relations, rowsById } from '../../core/relation'
import { changedRow, findRow, insertRow, lockRow, saveRow } from '../../core/rows'
import type { Page } from '../../core/shapes'
import {
  endsLater,
  callingToken,
  rangesOutside,
  refuseExtraPermissions,
  refuseMorePowerful,
  refuseOperatorPowers,
  restrictionsWithinCaller,
  type Restrictions,
} from './restrictions'
import { prefixesWhere } from '../../registry'
import type { TokenCreator, TokenInput, TokenPatch, TokenView } from './shapes'

export type CreatedToken = TokenView & { token: string }

export const tokenListing = listingOf('tokens', tokens, {
  isSmall: true,
  filters: {
    mode: wordsFilter(tokens.mode, tokenModes, 'Only tokens with these modes.'),
    created_by: textFilter(tokens.createdBy, 'Only tokens created by the user or token with this ID, or by `cli`.', {
      maxLength: 50,
    }),
    q: searchFilter([tokens.name], 'Only tokens whose name contains all words of this text.'),
    ...timeFilters('created_at', tokens.createdAt),
  },
  sorts: ['name', 'created_at'],
})

export const listTokens = (ctx: Ctx, query: Record<string, unknown>): Promise<Page<TokenView>> =>
  listPage(ctx, tokenListing, query, row => tokenView(ctx.hub, row))

/** @throws Problem 404 */
export const getToken = async (ctx: Ctx, id: string): Promise<TokenView> =>
  tokenView(ctx.hub, await findRow(ctx.hub.read, ctx, tokenRows, id))

/**
 * Creates a token. Its value is only in the result. A token can’t create a token with more access than itself.
 * @throws Problem 422, 403 `insufficient_permission` or `plan_limit_reached`
 */
export function createToken(ctx: Ctx, input: TokenInput): Promise<CreatedToken> {
  const mode = input.mode ?? 'scoped'
  checkInput(ctx, input, mode)
  refuseExtraPermissions(ctx, { mode, permissions: input.permissions ?? [] })
  return change(ctx, 'account.token.create', async tx => {
    await refuseLostAccess(tx, ctx)
    await refuseOperatorPowers(tx, ctx, mode)
    await refuseOverLimit(tx, ctx, 'token')
    const { row, token } = await insertToken(tx, ctx, {
      name: input.name,
      mode,
      permissions: input.permissions ?? [],
      resourceIds: input.resource_ids ?? [],
      createdBy: ctx.actor.id,
      ...restrictionsWithinCaller(await callingToken(tx, ctx), input),
    })
    const view = tokenView(ctx.hub, row)
    return { result: { ...view, token }, target: target('token', row), after: view }
  })
}

/**
 * Updates the name and restrictions of a token. A token can’t set a later expiry or more addresses than its own, or loosen a
 * token with more access. Null removes a restriction.
 * @throws Problem 404, 412, 422, 403 `insufficient_permission`, 409 if it has expired
 */
export async function updateToken(ctx: Ctx, id: string, patch: TokenPatch): Promise<TokenView> {
  const errors = restrictionProblems(ctx, patch)
  if (errors.length > 0) throw invalid(errors)
  const view = await change(ctx, 'account.token.update', async tx => {
    const row = await lockRow(tx, ctx, tokenRows, id)
    const columns = { name: patch.name, ...(await patchedRestrictions(tx, ctx, row, patch)) }
    const after = await saveRow(tx, ctx, tokenRows, row, columns)
    return await changedRow(tokenRows, row, after, one => tokenView(ctx.hub, one))
  })
  await forgetCallers(ctx.hub)
  return view
}

async function patchedRestrictions(tx: Tx, ctx: Ctx, row: TokenRow, patch: TokenPatch): Promise<Restrictions> {
  const { expires_at, allowed_cidrs } = patch
  if (expires_at === undefined && allowed_cidrs === undefined) return { expiresAt: row.expiresAt, allowedCidrs: row.allowedCidrs }
  if (row.expiresAt !== null && row.expiresAt <= ctx.hub.clock.now()) throw conflict('This token has expired. Create a new one.')
  const within = restrictionsWithinCaller(await callingToken(tx, ctx), patch)
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
        detail: `must not be after ${instant(row.expiresAt)}: the token was rotated and is being replaced by ${row.rotatedTo}.`,
      },
    ])
  }
  if (later || rangesOutside(row, bounds.allowedCidrs).length > 0) await refuseMorePowerful(tx, ctx, row)
  return bounds
}

/**
 * Revokes a token, effective with the next request. It stays in the list. Pending invitations that it created are revoked.
 * Revoking it again changes nothing.
 * @throws Problem 404, 412
 */
export async function revokeToken(ctx: Ctx, id: string): Promise<void> {
  await change(ctx, 'account.token.revoke', async tx => {
    const row = await lockRow(tx, ctx, tokenRows, id)
    if (row.revokedAt !== null) return { result: undefined, target: target('token', row), reason: 'It was already revoked.' }
    return {
      result: undefined,
      target: target('token', row),
      ...(await markRevoked(tx, ctx.hub, row)),
      reason: revocationReason(await revokeInvitations(tx, { invitedBy: id })),
    }
  })
  await forgetCallers(ctx.hub)
}

/** Revokes a token. @returns the token before and after, for the audit log */
export async function markRevoked(tx: Tx, hub: Hub, row: TokenRow): Promise<{ before: TokenView; after: TokenView }> {
  const after = await saveRow(tx, { hub }, tokenRows, row, { revokedAt: hub.clock.now() })
  return { before: tokenView(hub, row), after: tokenView(hub, after) }
}

function checkInput(ctx: Ctx, input: TokenInput, mode: TokenMode): void {
  const errors: FieldProblem[] = []
  const wrong = (pointer: string, code: string, detail: string) => errors.push({ pointer, code, detail })
  if (mode === 'scoped' && !input.permissions?.length)
    wrong(
      '#/permissions',
      'required',
      'is required for a scoped token. Choose at least one permission, or set the mode to read_only or full.',
    )
  if (mode !== 'scoped' && input.permissions?.length)
    wrong('#/permissions', 'not_allowed', `is not allowed with the mode ${mode}.`)
  input.resource_ids?.forEach((one, place) => {
    if (!prefixesWhere(entry => entry.isRestrictable).some(prefix => isId(one, prefix)))
      wrong(
        `#/resource_ids/${place}`,
        'format',
        `must be the id of a resource: ${prefixesWhere(entry => entry.isRestrictable)
          .map(prefix => `${prefix}_…`)
          .join(' or ')}.`,
      )
  })
  errors.push(...restrictionProblems(ctx, input))
  if (errors.length > 0) throw invalid(errors)
}

function restrictionProblems(ctx: Ctx, input: Pick<TokenPatch, 'expires_at' | 'allowed_cidrs'>): FieldProblem[] {
  const errors: FieldProblem[] = []
  if (input.expires_at && Date.parse(input.expires_at) <= ctx.hub.clock.now())
    errors.push({ pointer: '#/expires_at', code: 'in_the_past', detail: 'must be in the future.' })
  input.allowed_cidrs?.forEach((one, place) => {
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

/** Inserts a new token. Its value is only in the result. */
export async function insertToken(
  tx: Tx,
  ctx: Pick<Ctx, 'hub' | 'workspaceId'>,
  values: Pick<TokenRow, 'name' | 'mode' | 'permissions' | 'createdBy' | 'expiresAt' | 'allowedCidrs'> &
    Partial<Pick<TokenRow, 'resourceIds' | 'rotatedFrom' | 'graceSeconds'>>,
): Promise<{ row: TokenRow; token: string }> {
  const token = newApiToken()
  const secret = { tokenHash: sha256Hex(token), hint: tokenHint(token) }
  return { row: await insertRow(tx, ctx, tokenRows, { resourceIds: [], ...values, ...secret }), token }
}

export const tokenRelations: Relations = {
  created_by: {
    idOf: (token: TokenView) => token.created_by,
    permission: 'account.read',
    async load(ctx, ids) {
      const people = ids.filter(id => id.startsWith('usr_'))
      const [persons, makers] = await Promise.all([
        people.length > 0
          ? ctx.hub.read.select({ id: users.id, name: users.name }).from(users).where(inArray(users.id, people))
          : [],
        rowsById(
          ctx,
          tokenListing,
          ids.filter(id => id.startsWith('tok_')),
        ),
      ])
      const found: TokenCreator[] = [
        ...persons.map(one => ({ type: 'user' as const, ...one, hint: null })),
        ...makers.map(({ id, name, hint }) => ({ type: 'token' as const, id, name, hint })),
      ]
      return new Map(found.map(one => [one.id, one]))
    },
  },
}
