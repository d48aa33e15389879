import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { noRotation, promotedSecret, refuseDuringRotation, rotatedSecret, rotationOf } from '../../core/outgoing/secret-rotation'
import { changedRow, lockRow, saveRow } from '../../core/rows'
import { isRotating, type SecretColumns } from '../../core/outgoing/signing-secrets'
import type { AuditStreamSecretRotation, AuditStreamView } from './stream-shapes'
import type { StreamRow } from './stream-view'
import { streamRows, viewOf } from './streams'
import { auditStreams } from './tables'

/**
 * Rotates the secret of a stream. The new secret is only in the result. During the overlap, messages are signed with both
 * secrets; with an overlap of 0, all other secrets are dropped immediately, also during another rotation.
 * @throws Problem 404, 409 while an earlier rotation is in progress, 412, 422
 */
export async function rotateStreamSecret(
  ctx: Ctx,
  id: string,
  input: AuditStreamSecretRotation,
): Promise<AuditStreamView & { secret: string }> {
  const rotation = rotationOf(input)
  return await change(ctx, 'account.audit_stream.rotate_secret', async tx => {
    const row = await lockRow(tx, ctx, streamRows, id)
    const now = ctx.hub.clock.now()
    if (rotation.overlapMs > 0) refuseDuringRotation(row, now)
    const updated = await save(tx, ctx, row, await rotatedSecret(tx, ctx.hub, auditStreams, row, rotation, now))
    return { ...updated, result: { ...updated.result, secret: rotation.secret } }
  })
}

/**
 * Ends a rotation early. From now on, only the new secret signs messages.
 * @throws Problem 404, 409 if no rotation is in progress, 412
 */
export async function promoteStreamSecret(ctx: Ctx, id: string): Promise<AuditStreamView> {
  return await change(ctx, 'account.audit_stream.promote_secret', async tx => {
    const row = await lockRow(tx, ctx, streamRows, id)
    const now = ctx.hub.clock.now()
    if (!isRotating(row, now)) throw noRotation()
    return await save(tx, ctx, row, await promotedSecret(tx, ctx.hub, auditStreams, row))
  })
}

const save = async (tx: Tx, ctx: Ctx, row: StreamRow, columns: SecretColumns) =>
  changedRow(streamRows, row, await saveRow(tx, ctx, streamRows, row, columns), one => viewOf(tx, ctx, one))
