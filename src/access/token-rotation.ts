import { eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { change, record, type AuditDraft } from '../core/change'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import type { AuditContext } from '../core/db/tables'
import type { Tx } from '../core/db/transaction'
import type { Hub } from '../core/hub'
import { requireMatch } from '../core/if-match'
import { conflict } from '../core/problem'
import { forgetCallers, type Caller } from './callers'
import { refuseOverLimit } from './plans'
import { refuseOusted } from './ranks'
import type { TokenRotation } from './shapes'
import { tokens } from './tables'
import { refuseBeyond } from './token-bounds'
import { countTokens, insertToken, tokenOf, tokenView, type MadeToken, type TokenRow } from './tokens'

const defaultGraceSeconds = 86_400
/** How long an old value works when the new one is never used. */
const longestOverlapMs = 30 * 86_400_000

/**
 * Makes a token that takes the place of another: alike in everything but id and value. The old value stops the grace after the new
 * one's first use, or after 30 days; without grace it is revoked here.
 * @throws Problem 404, 409 for one that works no more or was replaced before, 412, 403 for one that may do more than the caller
 */
export async function rotateToken(ctx: Ctx, id: string, input: TokenRotation): Promise<MadeToken> {
  const grace = input.grace_seconds ?? defaultGraceSeconds
  const made = await change(ctx, 'account.token.rotate', async tx => {
    await refuseOusted(tx, ctx)
    const old = await tokenOf(tx, ctx, id)
    requireMatch(ctx, old)
    const now = ctx.hub.clock.now()
    await refuseBeyond(tx, ctx, old)
    if (!works(old, now)) throw conflict('The token works no more; make a new one.')
    if (await hasSuccessor(tx, old))
      throw conflict(`The token was rotated before; rotate ${old.rotatedTo}, which took its place.`)
    // Its place in the plan's count went to the one that was revoked since.
    if (old.rotatedTo !== null) await refuseOverLimit(tx, ctx, 'tokens', () => countTokens(tx, ctx.workspaceId))
    const { row, token } = await insertToken(tx, ctx.hub, {
      workspaceId: old.workspaceId,
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
    await tx
      .update(tokens)
      .set({
        rotatedTo: row.id,
        ...(grace === 0 ? { revokedAt: now } : { expiresAt: earlier(old.expiresAt, now + longestOverlapMs) }),
        version: old.version + 1,
        updatedAt: now,
      })
      .where(eq(tokens.id, old.id))
    // What came before the old one may be waiting for a first use of it, which will now not come.
    const ended = grace === 0 ? (await endBefore(tx, ctx.hub, old, now)).map(([, one]) => one) : []
    const view = tokenView(ctx.hub, row)
    return { result: { ...view, token }, target: [old, row, ...ended].map(one => target('token', one)), after: view }
  })
  forgetCallers(ctx.hub)
  return made
}

/**
 * Notes the first use of a token that took another's place: the grace of the other begins. Later uses change nothing. Where it cannot
 * be written, such as on a full disk, the request goes on, and the next use is the first.
 */
export async function startGrace(hub: Hub, caller: Caller, context: AuditContext): Promise<void> {
  try {
    await beginGrace(hub, caller, context)
  } catch (error) {
    hub.log.warn({ err: error }, 'the first use of a rotated token was not noted')
    return
  }
  forgetCallers(hub)
}

async function beginGrace(hub: Hub, caller: Caller, context: AuditContext): Promise<void> {
  await record(hub, async tx => {
    const [row] = await locking(tx.select().from(tokens).where(eq(tokens.id, caller.token!.id)))
    if (!row || row.graceSeconds === null) return { result: undefined }
    await tx.update(tokens).set({ graceSeconds: null }).where(eq(tokens.id, row.id))
    const ended = await endBefore(tx, hub, row, hub.clock.now() + row.graceSeconds * 1000)
    const audits = ended.map(([before, after]): AuditDraft => ({
      workspaceId: row.workspaceId,
      action: 'account.token.update',
      actor: caller.actor,
      context,
      targets: [target('token', before)],
      before: tokenView(hub, before),
      after: tokenView(hub, after),
      reason: 'The token that took its place was used for the first time.',
    }))
    return { result: undefined, audits }
  })
}

/** Lets the tokens before this one, back to the first that works no more, end at the time or before. */
async function endBefore(tx: Tx, hub: Hub, newest: TokenRow, endsAt: number): Promise<[TokenRow, TokenRow][]> {
  const now = hub.clock.now()
  const ended: [TokenRow, TokenRow][] = []
  let from = newest.rotatedFrom
  while (from !== null) {
    const [row] = await locking(tx.select().from(tokens).where(eq(tokens.id, from)))
    if (!row || !works(row, now)) break
    if (row.expiresAt === null || row.expiresAt > endsAt) {
      const [after] = await tx
        .update(tokens)
        .set({ expiresAt: endsAt, version: row.version + 1, updatedAt: now })
        .where(eq(tokens.id, row.id))
        .returning()
      ended.push([row, after!])
    }
    from = row.rotatedFrom
  }
  return ended
}

/** Whether a token took its place that was not revoked since. */
async function hasSuccessor(tx: Tx, row: TokenRow): Promise<boolean> {
  if (row.rotatedTo === null) return false
  const [next] = await tx.select({ revokedAt: tokens.revokedAt }).from(tokens).where(eq(tokens.id, row.rotatedTo))
  return next !== undefined && next.revokedAt === null
}

const works = (row: TokenRow, now: number): boolean => row.revokedAt === null && (row.expiresAt === null || row.expiresAt > now)

const earlier = (a: number | null, b: number): number => (a === null ? b : Math.min(a, b))
