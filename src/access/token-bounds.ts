import { eq } from 'drizzle-orm'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import type { Reader } from '../core/db/transaction'
import type { IdPrefix } from '../core/ids'
import { inRanges, parseRange } from '../core/net/address'
import { fullAccess, granted, readOnly, type Permissions } from '../core/permissions'
import { invalid, Problem, type FieldProblem } from '../core/problem'
import { tokens, workspaces, type TokenMode } from './tables'

type TokenRow = typeof tokens.$inferSelect

/** What a token can be narrowed to, by the prefix of its id. */
export const narrowable: readonly IdPrefix[] = ['hb', 'mon', 'whe', 'zone', 'chan']

/** When and from where a token may be used. */
export interface Bounds {
  /** Milliseconds UTC; null is for ever. */
  expiresAt: number | null
  /** Empty is from anywhere. */
  allowedCidrs: string[]
}

/** What a token of this mode may do. */
export const accessOfToken = ({ mode, permissions }: Pick<TokenRow, 'mode' | 'permissions'>): Permissions =>
  mode === 'full' ? fullAccess : mode === 'read_only' ? readOnly : granted(permissions)

/** Nobody makes a token that may do more than they. @throws Problem 403 `insufficient_permission` */
export function refuseMissing(ctx: Ctx, wanted: Pick<TokenRow, 'mode' | 'permissions'>): void {
  for (const one of accessOfToken(wanted)) {
    if (ctx.permissions.has(one)) continue
    throw new Problem(
      'insufficient_permission',
      `A token can only make and change tokens that may do no more than itself; ${one} is missing.`,
      { members: { required_permission: one } },
    )
  }
}

/** A full token of the operator’s workspace has the operator’s powers: only who has them may make one. */
export async function refuseMorePower(read: Reader, ctx: Ctx, mode: TokenMode): Promise<void> {
  if (mode !== 'full' || ctx.operator) return
  const [own] = await read
    .select({ isOperator: workspaces.isOperator })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  if (!own!.isOperator) return
  throw new Problem('insufficient_permission', 'In the operator’s workspace only an operator can make a full token.', {
    members: { required_permission: 'operator' },
  })
}

/** Refuses to loosen a token that may do more than the caller. @throws Problem 403 `insufficient_permission` */
export async function refuseMore(read: Reader, ctx: Ctx, row: TokenRow): Promise<void> {
  refuseMissing(ctx, row)
  await refuseMorePower(read, ctx, row.mode)
  const maker = await makerOf(read, ctx)
  if (!maker || maker.resourceIds.length === 0) return
  if (row.resourceIds.length === 0 || row.resourceIds.some(id => !maker.resourceIds.includes(id)))
    throw beyond('reaches more resources')
}

/**
 * Refuses to hand out the value of a token that may do more than the caller, works longer or may be used from more addresses.
 * @throws Problem 403 `insufficient_permission`
 */
export async function refuseBeyond(read: Reader, ctx: Ctx, row: TokenRow): Promise<void> {
  await refuseMore(read, ctx, row)
  const maker = await makerOf(read, ctx)
  if (!maker) return
  if (endsLater(maker, row)) throw beyond('works longer')
  if (outside(maker, row.allowedCidrs).length > 0) throw beyond('may be used from more addresses')
}

const beyond = (does: string): Problem =>
  new Problem('insufficient_permission', `The token ${does} than the one that asks.`, {
    members: { required_permission: 'account.write' },
  })

/** Whether bounds allow a use after those of the first have ended. */
export const endsLater = (first: Bounds, second: Bounds): boolean =>
  first.expiresAt !== null && (second.expiresAt === null || second.expiresAt > first.expiresAt)

/** The token that asks, or null for a person. */
export async function makerOf(read: Reader, ctx: Ctx): Promise<TokenRow | null> {
  if (ctx.actor.type !== 'token') return null
  const [row] = await read.select().from(tokens).where(eq(tokens.id, ctx.actor.id))
  return row!
}

/**
 * Bounds as asked for; a token gives none that end later or reach from more addresses than its own, which are also what it gives
 * where nothing is asked for.
 * @throws Problem 422 `beyond_maker`
 */
export function withinMaker(
  maker: TokenRow | null,
  asked: { expires_at?: string | null; allowed_cidrs?: string[] | null },
): Bounds {
  const expiresAt = asked.expires_at ? Date.parse(asked.expires_at) : null
  const allowedCidrs = asked.allowed_cidrs ?? []
  if (!maker) return { expiresAt, allowedCidrs }
  const errors: FieldProblem[] = []
  if (maker.expiresAt !== null && asked.expires_at !== undefined && (expiresAt === null || expiresAt > maker.expiresAt)) {
    errors.push({
      pointer: '#/expires_at',
      code: 'beyond_maker',
      detail: `must not lie after ${instant(maker.expiresAt)}, when the token that asks ends.`,
    })
  }
  // What is not asked for is the maker's own; null asks for any.
  for (const place of asked.allowed_cidrs === undefined ? [] : outside(maker, allowedCidrs)) {
    errors.push({
      pointer: allowedCidrs.length > 0 ? `#/allowed_cidrs/${place}` : '#/allowed_cidrs',
      code: 'beyond_maker',
      detail: 'must lie within the addresses of the token that asks.',
    })
  }
  if (errors.length > 0) throw invalid(errors)
  return { expiresAt: expiresAt ?? maker.expiresAt, allowedCidrs: allowedCidrs.length > 0 ? allowedCidrs : maker.allowedCidrs }
}

/** Which ranges, by their places, reach beyond the bounds; no range at all is from anywhere, and is place 0. */
export function outside(within: Pick<Bounds, 'allowedCidrs'>, cidrs: readonly string[]): number[] {
  const bounds = within.allowedCidrs.map(one => parseRange(one)!)
  if (bounds.length === 0) return []
  if (cidrs.length === 0) return [0]
  return cidrs.flatMap((one, place) => {
    const range = parseRange(one)!
    return bounds.some(bound => bound[1] <= range[1] && inRanges(range[0], [bound])) ? [] : [place]
  })
}
