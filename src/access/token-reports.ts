import { eq } from 'drizzle-orm'
import { target } from '../core/audit'
import { record } from '../core/change'
import { instant } from '../core/clock'
import { sha256Hex } from '../core/crypto'
import type { Ctx } from '../core/ctx'
import { locking } from '../core/db/dialect'
import { tryAgain } from '../core/problem'
import { forgetCallers } from './callers'
import { goneWithToken, withdrawInvitations } from './invitation-rows'
import { limiterOf } from './limiter'
import { tokenReports } from './rate-limits'
import { tokens } from './tables'
import { looksLikeApiToken } from './token-format'
import { tokenView } from './tokens'

/**
 * Revokes the token that somebody found. Says nothing of whether there is one: who asks may be guessing.
 * @throws Problem 429
 */
export async function reportToken(ctx: Ctx, token: string): Promise<void> {
  const { hub } = ctx
  const verdict = limiterOf(hub).take([tokenReports(ctx.context.ip ?? '')], hub.clock.now())
  if (!verdict.allowed) throw tryAgain(verdict.retryAfterSeconds, { 'violated-policies': verdict.violated })
  if (!looksLikeApiToken(token)) return
  await record(hub, async tx => {
    const [row] = await locking(
      tx
        .select()
        .from(tokens)
        .where(eq(tokens.tokenHash, sha256Hex(token))),
    )
    if (!row || row.revokedAt !== null) return { result: undefined }
    const now = hub.clock.now()
    const [after] = await tx
      .update(tokens)
      .set({ revokedAt: now, version: row.version + 1, updatedAt: now })
      .where(eq(tokens.id, row.id))
      .returning()
    const withdrawn = goneWithToken(await withdrawInvitations(tx, { invitedBy: row.id }))
    return {
      result: undefined,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'account.token.report',
          actor: ctx.actor,
          context: ctx.context,
          targets: [target('token', row)],
          before: tokenView(hub, row),
          after: tokenView(hub, after!),
          reason: ['Its value was reported as found where others can read it.', withdrawn].filter(Boolean).join(' '),
        },
      ],
      notices: [
        {
          workspaceId: row.workspaceId,
          kind: 'token.leaked',
          resource: target('token', row),
          text:
            `The token “${row.name}” (${row.hint}) was reported as found where others can read it, and revoked at once. ` +
            'Whatever used it needs a new one; the audit log tells what was done with it.',
          details: {
            revoked_at: instant(now),
            last_used_at: tokenView(hub, row).last_used_at,
            expires_at: instant(row.expiresAt),
          },
          matter: row.id,
        },
      ],
    }
  })
  forgetCallers(hub)
}
