import { change, jobContext, systemActor } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import type { JobDraft } from '../../../core/jobs/draft'
import { unlimitedBackoff } from '../../../core/outgoing/retry-schedule'
import {
  noRotation,
  promotedSecret,
  refuseDuringRotation,
  rotatedSecret,
  rotationOf,
} from '../../../core/outgoing/secret-rotation'
import { isRotating, type SecretColumns } from '../../../core/outgoing/signing-secrets'
import { lockRow, saveRow } from '../../../core/rows'
import { endpointRows, endpointTarget, endpointView } from './view'
import type { Endpoint } from './endpoints'
import type { WebhookEndpointView, WebhookSecretRotation } from './shapes'
import { lockEndpoint } from '../sending/holds'
import { webhookEndpoints } from './tables'

/**
 * Rotates the secret of an endpoint. The new secret is only in the result. During the overlap, messages are signed with both
 * secrets; with an overlap of 0, the old one is dropped immediately.
 * @throws Problem 404, 409 while an earlier rotation is in progress, 412, 422
 */
export async function rotateSecret(
  ctx: Ctx,
  id: string,
  input: WebhookSecretRotation,
): Promise<WebhookEndpointView & { secret: string }> {
  const rotation = rotationOf(input)
  return await change(ctx, 'webhooks.secret.rotate', async tx => {
    const row = await lockRow(tx, ctx, endpointRows, id)
    const now = ctx.hub.clock.now()
    refuseDuringRotation(row, now)
    const updated = await write(tx, ctx.hub, row, await rotatedSecret(tx, ctx.hub, webhookEndpoints, row, rotation, now))
    const jobs = rotation.overlapMs === 0 ? [] : [promoteJobFor(row, now + rotation.overlapMs)]
    return { ...updated, result: { ...updated.after, secret: rotation.secret }, jobs }
  })
}

/**
 * Ends a rotation early. From now on, only the new secret signs messages.
 * @throws Problem 404, 409 if no rotation is in progress, 412
 */
export async function promoteSecret(ctx: Ctx, id: string): Promise<WebhookEndpointView> {
  return await change(ctx, 'webhooks.secret.promote', async tx => {
    const row = await lockRow(tx, ctx, endpointRows, id)
    if (row.nextSecretSealed === null) throw noRotation()
    const updated = await write(tx, ctx.hub, row, await promotedSecret(tx, ctx.hub, webhookEndpoints, row))
    return { ...updated, result: updated.after }
  })
}

const promoteKind = 'webhooks.promote'

const promoteJobFor = (endpoint: Pick<Endpoint, 'id'>, at: number): JobDraft => ({
  kind: promoteKind,
  payload: { endpoint_id: endpoint.id },
  runAt: at,
  uniqueKey: endpoint.id,
  replaces: true,
})

/** Drops the old secret when the overlap has ended. Signing doesn't depend on this job. */
export const promoteJob: JobKind<{ endpoint_id: string }> = {
  kind: promoteKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: unlimitedBackoff,
  run: async (hub, job) => async tx => {
    const row = await lockEndpoint(tx, job.payload.endpoint_id)
    // The secret was promoted manually, and maybe rotated again, which has its own job.
    if (!row || row.nextSecretSealed === null || isRotating(row, hub.clock.now())) return { result: undefined }
    const { target, after } = await write(tx, hub, row, await promotedSecret(tx, hub, webhookEndpoints, row))
    return {
      result: undefined,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'webhooks.secret.promote',
          actor: systemActor(promoteKind),
          context: jobContext,
          targets: [target],
          // As it was just before the overlap ended.
          before: endpointView(row, row.rotatesAt! - 1),
          after,
          reason: 'The overlap of the rotation has ended.',
        },
      ],
    }
  },
}

/** Writes the columns, and returns what to record of it. */
async function write(tx: Tx, hub: Hub, row: Endpoint, columns: SecretColumns) {
  const now = hub.clock.now()
  const changed = await saveRow(tx, { hub }, endpointRows, row, columns)
  return { target: endpointTarget(row), before: endpointView(row, now), after: endpointView(changed, now) }
}
