import { eq } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { refuseOverLimit } from '../../access/plans'
import { refuseLostAccess } from '../../access/role-rules'
import { tokens } from '../../access/tables'
import { tokenRows, tokenView, type TokenRow, isTokenActive, endPredecessors } from '../../access/token-use'
import { target } from '../../core/audit'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { conflict } from '../../core/problem'
import { lockRow, saveRow } from '../../core/rows'
import { refuseLessRestricted } from './restrictions'
import type { TokenRotation } from './shapes'
import { insertToken, type CreatedToken } from './tokens'

const defaultGraceSeconds = 86_400
/** How long the old token works if the new one is never used. */
const maxOverlapMs = 30 * 86_400_000

/**
 * Creates a token that replaces another, with the same properties except id and value. The old token expires after the grace
 * period, which starts with the first use of the new one, or after 30 days. Without a grace period it is revoked here.
 * @throws Problem 404, 409 if it is no longer active or was already rotated, 412, 403 if it has more access than the caller
 */
export async function rotateToken(ctx: Ctx, id: string, input: TokenRotation): Promise<CreatedToken> {
  const grace = input.grace_seconds ?? defaultGraceSeconds
  const created = await change(ctx, 'account.token.rotate', async tx => {
    await refuseLostAccess(tx, ctx)
    const old = await lockRow(tx, ctx, tokenRows, id)
    const now = ctx.hub.clock.now()
    await refuseLessRestricted(tx, ctx, old)
    if (!isTokenActive(old, now)) throw conflict('This token is no longer active. Create a new one.')
    if (await hasSuccessor(tx, old)) throw conflict(`This token was already rotated. Rotate its replacement, ${old.rotatedTo}.`)
    // Its slot in the plan limit was freed when its replacement was revoked.
    if (old.rotatedTo !== null) await refuseOverLimit(tx, ctx, 'token')
    const { row, token } = await insertToken(tx, ctx, {
      name: old.name,
      mode: old.mode,
      permissions: old.permissions,
      allowedCidrs: old.allowedCidrs,
      resourceIds: old.resourceIds,
      expiresAt: old.expiresAt,
      createdBy: ctx.actor.id,
      rotatedFrom: old.id,
      graceSeconds: grace === 0 ? null : grace,
    })
    await saveRow(tx, ctx, tokenRows, old, {
      rotatedTo: row.id,
      ...(grace === 0 ? { revokedAt: now } : { expiresAt: earlier(old.expiresAt, now + maxOverlapMs) }),
    })
    // Predecessors of the old token may be waiting for its first use, which can no longer happen.
    const ended = grace === 0 ? (await endPredecessors(tx, ctx.hub, old, now)).map(([, one]) => one) : []
    const view = tokenView(ctx.hub, row)
    return { result: { ...view, token }, target: [old, row, ...ended].map(one => target('token', one)), after: view }
  })
  await forgetCallers(ctx.hub)
  return created
}

/** Whether the token has a replacement that was not revoked. */
async function hasSuccessor(tx: Tx, row: TokenRow): Promise<boolean> {
  if (row.rotatedTo === null) return false
  const [next] = await tx.select({ revokedAt: tokens.revokedAt }).from(tokens).where(eq(tokens.id, row.rotatedTo))
  return next !== undefined && next.revokedAt === null
}

const earlier = (a: number | null, b: number): number => (a === null ? b : Math.min(a, b))
