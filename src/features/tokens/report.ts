import { eq } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { countRequest } from '../../access/limiter'
import { tokenReports } from '../../access/rate-limits'
import { tokens } from '../../access/tables'
import { looksLikeApiToken } from '../../access/token-format'
import { target } from '../../core/audit'
import { record } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import { revocationReason, revokeInvitations } from '../people/invitations/revocation'
import { markRevoked } from './tokens'

/**
 * Revokes a reported token. Does not reveal whether the token exists, because the report may be a guess.
 * @throws Problem 429
 */
export async function reportToken(ctx: Ctx, token: string): Promise<void> {
  const { hub } = ctx
  countRequest(hub, [tokenReports(ctx.context.ip ?? '')])
  if (!looksLikeApiToken(token)) return
  await record(hub, async tx => {
    const [row] = await forUpdate(
      tx
        .select()
        .from(tokens)
        .where(eq(tokens.tokenHash, sha256Hex(token))),
    )
    if (!row || row.revokedAt !== null) return { result: undefined }
    const { before, after } = await markRevoked(tx, hub, row)
    const reason = revocationReason(await revokeInvitations(tx, { invitedBy: row.id }))
    return {
      result: undefined,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'account.token.report',
          actor: ctx.actor,
          context: ctx.context,
          targets: [target('token', row)],
          before,
          after,
          reason: ['It was reported as leaked.', reason].filter(Boolean).join(' '),
        },
      ],
      notices: [
        {
          workspaceId: row.workspaceId,
          kind: 'token.leaked',
          resource: target('token', row),
          text:
            `The token “${row.name}” (${row.hint}) was reported as leaked and revoked immediately. ` +
            'Replace it wherever it was used, and check the audit log for what was done with it.',
          details: {
            revoked_at: after.revoked_at,
            last_used_at: before.last_used_at,
            expires_at: before.expires_at,
          },
          dedupKey: row.id,
        },
      ],
    }
  })
  await forgetCallers(hub)
}
