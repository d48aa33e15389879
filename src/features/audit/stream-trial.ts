import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { refuseTooOften } from '../webhooks/too-often'
import { testBody } from './stream-batch'
import { postBatch } from './stream-post'
import type { AuditStreamTest } from './stream-shapes'
import { streamTarget } from './stream-target'
import { streamOf } from './streams'

/**
 * Sends a stream a message without entries, once and at once, also while it is switched off, and tells what came of it. The receiver
 * sees X-Service-Test: 1; how it answers has no effect on the stream.
 * @throws Problem 404, 429
 */
export async function tryStream(ctx: Ctx, id: string): Promise<AuditStreamTest> {
  const stream = await streamOf(ctx.hub.read, ctx, id)
  refuseTooOften(ctx, 'stream-tests', id)
  const body = await testBody(ctx.hub.read, stream)
  const posted = await postBatch(ctx.hub, stream, body, { attempt: 1, test: true })
  const result = {
    delivered: posted.reason === null,
    status_code: posted.answer?.status ?? null,
    error_class: posted.errorClass,
    error_message: posted.errorMessage,
    duration_ms: Math.round(posted.timings.total_ms),
  }
  return await change(ctx, 'account.audit_stream.test', async () => ({
    result,
    target: streamTarget(stream),
    reason: posted.reason ?? 'delivered',
  }))
}
