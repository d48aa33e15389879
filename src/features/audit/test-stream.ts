import { refuseTooManyRequests } from '../../access/limiter'
import { change } from '../../core/change'
import { findRow } from '../../core/rows'
import type { Ctx } from '../../core/ctx'
import { testBody } from './stream-batch'
import { postBatch } from './stream-post'
import type { AuditStreamTestResult } from './stream-shapes'
import { streamTarget } from './stream-target'
import { streamRows } from './streams'

/**
 * Sends a message without entries to a stream once, even if it is paused, and returns the result. The message has the header
 * X-Service-Test: 1. The result has no effect on the stream.
 * @throws Problem 404, 429
 */
export async function testStream(ctx: Ctx, id: string): Promise<AuditStreamTestResult> {
  const stream = await findRow(ctx.hub.read, ctx, streamRows, id)
  refuseTooManyRequests(ctx, 'stream-tests', id, 5)
  const body = await testBody(ctx.hub.read, stream)
  const posted = await postBatch(ctx.hub, stream, body, { attempt: 1, test: true })
  const result = {
    delivered: posted.reason === null,
    status_code: posted.statusCode,
    error_class: posted.errorClass,
    error_message: posted.errorMessage,
    duration_ms: posted.durationMs,
  }
  return await change(ctx, 'account.audit_stream.test', async () => ({
    result,
    target: streamTarget(stream),
    reason: posted.reason ?? 'delivered',
  }))
}
