import { eq } from 'drizzle-orm'
import { tokens, workspaces, type TokenMode } from '../../access/tables'
import type { TokenRow } from '../../access/token-use'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { inRanges, parseRange } from '../../core/net/address'
import { fullAccess, expandPermissions, readOnly, type Permissions } from '../../core/permissions'
import { invalid, Problem, type FieldProblem } from '../../core/problem'

/** When and from where a token may be used. */
export interface Restrictions {
  /** Milliseconds UTC; null for never. */
  expiresAt: number | null
  /** Empty for any address. */
  allowedCidrs: string[]
}

/** The permissions of a token. */
const permissionsOfToken = ({ mode, permissions }: Pick<TokenRow, 'mode' | 'permissions'>): Permissions =>
  mode === 'full' ? fullAccess : mode === 'read_only' ? readOnly : expandPermissions(permissions)

/** Refuses to create a token with permissions that the caller lacks. @throws Problem 403 `insufficient_permission` */
export function refuseExtraPermissions(ctx: Ctx, wanted: Pick<TokenRow, 'mode' | 'permissions'>): void {
  for (const one of permissionsOfToken(wanted)) {
    if (ctx.permissions.has(one)) continue
    throw new Problem(
      'insufficient_permission',
      `You can only create and change tokens with permissions that you have; ${one} is missing.`,
      { fields: { required_permission: one } },
    )
  }
}

/** A full token of the operator’s workspace has operator powers, so only an operator may create one. */
export async function refuseOperatorPowers(read: Reader, ctx: Ctx, mode: TokenMode): Promise<void> {
  if (mode !== 'full' || ctx.operator) return
  const [own] = await read
    .select({ isOperator: workspaces.isOperator })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  if (!own!.isOperator) return
  throw new Problem('insufficient_permission', 'Only an operator can create a full token in the operator’s workspace.', {
    fields: { required_permission: 'operator' },
  })
}

/**
 * Refuses to loosen the restrictions of a token with more access than the caller.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseMorePowerful(read: Reader, ctx: Ctx, row: TokenRow): Promise<void> {
  refuseExtraPermissions(ctx, row)
  await refuseOperatorPowers(read, ctx, row.mode)
  const caller = await callingToken(read, ctx)
  if (!caller || caller.resourceIds.length === 0) return
  if (row.resourceIds.length === 0 || row.resourceIds.some(id => !caller.resourceIds.includes(id)))
    throw exceedsCaller('can access more resources')
}

/**
 * Refuses to return the value of a token that has more access, a later expiry or more allowed addresses than the caller.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseLessRestricted(read: Reader, ctx: Ctx, row: TokenRow): Promise<void> {
  await refuseMorePowerful(read, ctx, row)
  const caller = await callingToken(read, ctx)
  if (!caller) return
  if (endsLater(caller, row)) throw exceedsCaller('expires later')
  if (rangesOutside(caller, row.allowedCidrs).length > 0) throw exceedsCaller('may be used from more addresses')
}

const exceedsCaller = (how: string): Problem =>
  new Problem('insufficient_permission', `The token ${how} than the token used for this request.`, {
    fields: { required_permission: 'account.write' },
  })

/** Whether the second token expires later than the first. */
export const endsLater = (first: Restrictions, second: Restrictions): boolean =>
  first.expiresAt !== null && (second.expiresAt === null || second.expiresAt > first.expiresAt)

/** The token used for the request, or null for a session. */
export async function callingToken(read: Reader, ctx: Ctx): Promise<TokenRow | null> {
  if (ctx.actor.type !== 'token') return null
  const [row] = await read.select().from(tokens).where(eq(tokens.id, ctx.actor.id))
  return row!
}

/**
 * The requested restrictions. A token can’t create tokens that expire later or allow more addresses than itself; its own
 * restrictions are the default.
 * @throws Problem 422 `exceeds_caller`
 */
export function restrictionsWithinCaller(
  caller: TokenRow | null,
  requested: { expires_at?: string | null; allowed_cidrs?: string[] | null },
): Restrictions {
  const expiresAt = requested.expires_at ? Date.parse(requested.expires_at) : null
  const allowedCidrs = requested.allowed_cidrs ?? []
  if (!caller) return { expiresAt, allowedCidrs }
  const errors: FieldProblem[] = []
  if (caller.expiresAt !== null && requested.expires_at !== undefined && (expiresAt === null || expiresAt > caller.expiresAt)) {
    errors.push({
      pointer: '#/expires_at',
      code: 'exceeds_caller',
      detail: `must not be after ${instant(caller.expiresAt)}, when the token used for this request expires.`,
    })
  }
  // If absent, the caller's own addresses apply; null requests any address.
  for (const place of requested.allowed_cidrs === undefined ? [] : rangesOutside(caller, allowedCidrs)) {
    errors.push({
      pointer: allowedCidrs.length > 0 ? `#/allowed_cidrs/${place}` : '#/allowed_cidrs',
      code: 'exceeds_caller',
      detail: 'must be within the allowed addresses of the token used for this request.',
    })
  }
  if (errors.length > 0) throw invalid(errors)
  return { expiresAt: expiresAt ?? caller.expiresAt, allowedCidrs: allowedCidrs.length > 0 ? allowedCidrs : caller.allowedCidrs }
}

/** Indexes of the ranges outside the restrictions. An empty list allows any address and counts as index 0. */
export function rangesOutside(within: Pick<Restrictions, 'allowedCidrs'>, cidrs: readonly string[]): number[] {
  const bounds = within.allowedCidrs.map(one => parseRange(one)!)
  if (bounds.length === 0) return []
  if (cidrs.length === 0) return [0]
  return cidrs.flatMap((one, place) => {
    const range = parseRange(one)!
    return bounds.some(bound => bound[1] <= range[1] && inRanges(range[0], [bound])) ? [] : [place]
  })
}
