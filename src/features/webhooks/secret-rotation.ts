import { eq } from 'drizzle-orm'
import { change, jobContext, systemActor } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { requireMatch } from '../../core/if-match'
import type { JobKind } from '../../core/jobs/job'
import type { JobDraft } from '../../core/jobs/queue'
import { conflict, notFound } from '../../core/problem'
import { untilDone } from './delivery-jobs'
import { endpointView } from './endpoint-view'
import { endpointOf, endpointTarget, secretFrom, type Endpoint } from './endpoints'
import { hintOf, overlaps, refuseLive, sealedIn } from './live-secrets'
import type { WebhookEndpointView, WebhookSecretRotation } from './shapes'
import { heldStill } from './standing'
import { webhookEndpoints } from './tables'

const defaultOverlapSeconds = 86_400

/**
 * Gives an endpoint a new secret, which is in the result and nowhere else. For the time of the overlap messages are signed with the
 * old one and the new; with an overlap of 0 the old one is gone at once.
 * @throws Problem 404, 409 while an earlier rotation overlaps, 412, 422
 */
export async function rotateSecret(
  ctx: Ctx,
  id: string,
  input: WebhookSecretRotation,
): Promise<WebhookEndpointView & { secret: string }> {
  const secret = secretFrom(input)
  const overlapMs = (input.overlap_seconds ?? defaultOverlapSeconds) * 1_000
  return await change(ctx, 'webhooks.secret.rotate', async tx => {
    const row = await toRotate(tx, ctx, id)
    const now = ctx.hub.clock.now()
    if (overlaps(row, now)) {
      throw conflict(`Two secrets are live until ${instant(row.rotatesAt)}. Promote the new one first: POST …/secret/promote.`)
    }
    await refuseLive(tx, ctx.hub, row, input.secret, now)
    const seal = (column: 'secret_sealed' | 'next_secret_sealed') => ctx.hub.keys.seal(tx, sealedIn(row, column), secret)
    const changed = await write(
      tx,
      row,
      overlapMs === 0
        ? { secretSealed: await seal('secret_sealed'), secretHint: hintOf(secret), ...noNext }
        : {
            ...(await onlyNext(tx, ctx.hub, row)),
            nextSecretSealed: await seal('next_secret_sealed'),
            nextSecretHint: hintOf(secret),
            rotatesAt: now + overlapMs,
          },
      now,
    )
    const view = endpointView(changed, now)
    return {
      result: { ...view, secret },
      target: endpointTarget(row),
      before: endpointView(row, now),
      after: view,
      jobs: overlapMs === 0 ? [] : [promoteJobFor(row, now + overlapMs)],
    }
  })
}

/**
 * Ends the overlap of a rotation before its time: from now on the new secret alone signs.
 * @throws Problem 404, 409 when no rotation overlaps, 412
 */
export async function promoteSecret(ctx: Ctx, id: string): Promise<WebhookEndpointView> {
  return await change(ctx, 'webhooks.secret.promote', async tx => {
    const row = await toRotate(tx, ctx, id)
    if (row.nextSecretSealed === null) throw conflict('There is one secret only: no rotation is under way.')
    const now = ctx.hub.clock.now()
    const changed = await write(tx, row, await onlyNext(tx, ctx.hub, row), now)
    const view = endpointView(changed, now)
    return { result: view, target: endpointTarget(row), before: endpointView(row, now), after: view }
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

/** Drops the old secret when the overlap is over. Signing does not wait for it. */
export const promoteJob: JobKind<{ endpoint_id: string }> = {
  kind: promoteKind,
  concurrency: 4,
  leaseMs: 60_000,
  retryAfter: untilDone,
  run: async (hub, job) => async tx => {
    const row = await heldStill(tx, job.payload.endpoint_id)
    const now = hub.clock.now()
    // Promoted by hand meanwhile, and perhaps rotated again: that one has a job of its own.
    if (!row || row.nextSecretSealed === null || overlaps(row, now)) return { result: undefined }
    const changed = await write(tx, row, await onlyNext(tx, hub, row), now)
    return {
      result: undefined,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'webhooks.secret.promote',
          actor: systemActor(promoteKind),
          context: jobContext,
          targets: [endpointTarget(row)],
          // As it was in the overlap's last moment.
          before: endpointView(row, row.rotatesAt! - 1),
          after: endpointView(changed, now),
          reason: 'The overlap of the rotation was over.',
        },
      ],
    }
  },
}

type SecretColumns = Pick<Endpoint, 'secretSealed' | 'secretHint' | 'nextSecretSealed' | 'nextSecretHint' | 'rotatesAt'>

const noNext = { nextSecretSealed: null, nextSecretHint: null, rotatesAt: null }

/** The next secret in the place of the old one; what stands when there is no next. */
async function onlyNext(tx: Tx, hub: Hub, row: Endpoint): Promise<SecretColumns> {
  const { secretSealed, secretHint, nextSecretSealed, nextSecretHint } = row
  if (nextSecretSealed === null || nextSecretHint === null) return { secretSealed, secretHint, ...noNext }
  // A sealed value is bound to its column.
  const next = await hub.keys.open(sealedIn(row, 'next_secret_sealed'), nextSecretSealed, tx)
  return { secretSealed: await hub.keys.seal(tx, sealedIn(row, 'secret_sealed'), next), secretHint: nextSecretHint, ...noNext }
}

async function toRotate(tx: Tx, ctx: Ctx, id: string): Promise<Endpoint> {
  await endpointOf(tx, ctx, id)
  const row = await heldStill(tx, id)
  if (!row) throw notFound('webhook endpoint')
  requireMatch(ctx, row)
  return row
}

async function write(tx: Tx, row: Endpoint, columns: SecretColumns, now: number): Promise<Endpoint> {
  const [changed] = await tx
    .update(webhookEndpoints)
    .set({ ...columns, version: row.version + 1, updatedAt: now })
    .where(eq(webhookEndpoints.id, row.id))
    .returning()
  return changed!
}
