import type { Ctx } from './ctx'
import { Problem } from './problem'

/**
 * Checks that the caller edits the current version (RFC 9110 section 13.1.1). Compares only the part of the ETag before the dot,
 * so that changes made by the system, such as a ping, don't make edits fail.
 * @throws Problem 412
 */
export function requireMatch(ctx: Ctx, row: { version: number }): void {
  if (ctx.ifMatch === null || ctx.ifMatch.trim() === '*') return
  const versions = ctx.ifMatch.split(',').map(one => /^\s*"(\d+)(?:\.[^"]*)?"\s*$/.exec(one)?.[1])
  if (!versions.includes(String(row.version))) {
    throw new Problem(
      'precondition_failed',
      `If-Match does not match the current version, ${row.version}. Get the resource again before you update it.`,
    )
  }
}
