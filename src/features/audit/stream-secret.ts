import { eq } from 'drizzle-orm'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { requireMatch } from '../../core/if-match'
import { conflict } from '../../core/problem'
import { secretFrom } from '../webhooks/endpoints'
import { hintOf, overlaps, refuseLive, sealedIn } from '../webhooks/live-secrets'
import type { AuditStreamSecretRotation, AuditStreamView } from './stream-shapes'
import { streamTarget } from './stream-target'
import type { StreamRow } from './stream-view'
import { held, viewOf } from './streams'
import { auditStreams } from './tables'

/**
 * Gives a stream a new secret, which is in the result and nowhere else. For the time of the overlap messages are signed with the old
 * one and the new; with an overlap of 0 the old one is gone at once, also that of a rotation under way.
 * @throws Problem 404, 409 while an earlier rotation overlaps, 412, 422
 */
export async function rotateStreamSecret(
  ctx: Ctx,
  id: string,
  input: AuditStreamSecretRotation,
): Promise<AuditStreamView & { secret: string }> {
  const secret = secretFrom(input)
  const overlapMs = (input.overlap_seconds ?? 86_400) * 1_000
  return await change(ctx, 'account.audit_stream.rotate_secret', async tx => {
    const row = await held(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    if (overlapMs > 0 && overlaps(row, now)) {
      throw conflict(`Two secrets are live until ${instant(row.rotatesAt)}. Promote the new one first: POST …/secret/promote.`)
    }
    await refuseLive(tx, ctx.hub, row, input.secret, now, 'audit_streams')
    const seal = (column: 'secret_sealed' | 'next_secret_sealed') =>
      ctx.hub.keys.seal(tx, sealedIn(row, column, 'audit_streams'), secret)
    const columns =
      overlapMs === 0
        ? {
            secretSealed: await seal('secret_sealed'),
            secretHint: hintOf(secret),
            nextSecretSealed: null,
            nextSecretHint: null,
            rotatesAt: null,
          }
        : {
            ...(await onlyOne(tx, ctx, row)),
            nextSecretSealed: await seal('next_secret_sealed'),
            nextSecretHint: hintOf(secret),
            rotatesAt: now + overlapMs,
          }
    const [changed] = await tx
      .update(auditStreams)
      .set({ ...columns, version: row.version + 1, updatedAt: now })
      .where(eq(auditStreams.id, id))
      .returning()
    const view = await viewOf(tx, ctx, changed!)
    return { result: { ...view, secret }, target: streamTarget(row), before: await viewOf(tx, ctx, row), after: view }
  })
}

/**
 * Ends the overlap of a rotation before its time: from now on the new secret alone signs.
 * @throws Problem 404, 409 when no rotation overlaps, 412
 */
export async function promoteStreamSecret(ctx: Ctx, id: string): Promise<AuditStreamView> {
  return await change(ctx, 'account.audit_stream.promote_secret', async tx => {
    const row = await held(tx, ctx, id)
    requireMatch(ctx, row)
    const now = ctx.hub.clock.now()
    if (!overlaps(row, now)) throw conflict('There is one secret only: no rotation is under way.')
    const [changed] = await tx
      .update(auditStreams)
      .set({
        ...(await onlyOne(tx, ctx, row)),
        nextSecretSealed: null,
        nextSecretHint: null,
        rotatesAt: null,
        version: row.version + 1,
        updatedAt: now,
      })
      .where(eq(auditStreams.id, id))
      .returning()
    const view = await viewOf(tx, ctx, changed!)
    return { result: view, target: streamTarget(row), before: await viewOf(tx, ctx, row), after: view }
  })
}

/** The secret that is left of an earlier rotation in the place of the old one. */
async function onlyOne(tx: Tx, ctx: Ctx, row: StreamRow): Promise<Pick<StreamRow, 'secretSealed' | 'secretHint'>> {
  const { secretSealed, secretHint, nextSecretSealed, nextSecretHint } = row
  if (nextSecretSealed === null || nextSecretHint === null) return { secretSealed, secretHint }
  // A sealed value is bound to its column.
  const left = await ctx.hub.keys.open(sealedIn(row, 'next_secret_sealed', 'audit_streams'), nextSecretSealed, tx)
  return {
    secretSealed: await ctx.hub.keys.seal(tx, sealedIn(row, 'secret_sealed', 'audit_streams'), left),
    secretHint: nextSecretHint,
  }
}
