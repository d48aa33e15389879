import type { Ctx } from './ctx'
import { Problem } from './problem'

/**
 * Holds an edit to the version its caller saw (RFC 9110 section 13.1.1). Only the part of the ETag before the dot is compared:
 * what moves by itself, such as a ping, must not make edits fail.
 * @throws Problem 412
 */
export function requireMatch(ctx: Ctx, row: { version: number }): void {
  if (ctx.ifMatch === null || ctx.ifMatch.trim() === '*') return
  const named = ctx.ifMatch.split(',').map(one => /^\s*"(\d+)(?:\.[^"]*)?"\s*$/.exec(one)?.[1])
  if (!named.includes(String(row.version))) {
    throw new Problem(
      'precondition_failed',
      `If-Match names another version; the current one is ${row.version}. Read the resource again before editing it.`,
    )
  }
}
