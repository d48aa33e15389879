import { and, asc, eq, gt, isNull, lte } from 'drizzle-orm'
import { instant } from '../core/clock'
import type { Ctx } from '../core/ctx'
import { tokens } from './tables'

/** A token that soon stops working. */
export interface EndingToken {
  id: string
  name: string
  hint: string
  expires_at: string
  /** The token that took its place. */
  rotated_to: string | null
}

/** The tokens of a workspace that work, and stop before a time (ms UTC): the first ones, and how many they are. */
export async function endingTokens(
  { hub, workspaceId }: Ctx,
  before: number,
  most: number,
): Promise<{ total: number; data: EndingToken[] }> {
  const { id, name, hint, expiresAt, rotatedTo } = tokens
  const rows = await hub.read
    .select({ id, name, hint, expiresAt, rotatedTo })
    .from(tokens)
    .where(
      and(eq(tokens.workspaceId, workspaceId), isNull(tokens.revokedAt), gt(expiresAt, hub.clock.now()), lte(expiresAt, before)),
    )
    .orderBy(asc(expiresAt), asc(id))
  return {
    total: rows.length,
    data: rows.slice(0, most).map(row => ({
      id: row.id,
      name: row.name,
      hint: row.hint,
      expires_at: instant(row.expiresAt!),
      rotated_to: row.rotatedTo,
    })),
  }
}
