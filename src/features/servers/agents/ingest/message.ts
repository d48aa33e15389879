import type { Static, TSchema } from '@sinclair/typebox'
import { parseSent, type SentBody } from '../../../../api/compressed-body'
import { unstorable } from '../../../../api/request-body'
import { invalid } from '../../../../core/problem'
import { yieldToEventLoop } from '../../../../core/time-slices'
import { fieldProblems } from '../../../../core/validate'

/**
 * Decompresses, parses, and validates a message of an agent. Large ones take several turns of the event loop.
 * @throws Problem 400, 413 if it has more than `maxBytes` decompressed, 422
 */
export async function readMessage<T extends TSchema>(schema: T, sent: SentBody, maxBytes: number): Promise<Static<T>> {
  const message = await parseSent(sent, maxBytes)
  await yieldToEventLoop()
  const problems = unstorable(message)
  if (problems.length > 0) throw invalid(problems)
  await yieldToEventLoop()
  problems.push(...fieldProblems(schema, message))
  if (problems.length > 0) throw invalid(problems)
  return message as Static<T>
}
