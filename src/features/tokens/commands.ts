import { and, asc, eq, gt } from 'drizzle-orm'
import { forgetCallers } from '../../access/callers'
import { countOf, limitNotices } from '../../access/plans'
import { tokens, workspaces, type TokenMode } from '../../access/tables'
import { tokenView, type TokenRow } from '../../access/token-use'
import { planOf } from '../../access/workspaces'
import { target } from '../../core/audit'
import { record, systemActor } from '../../core/change'
import { forUpdate } from '../../core/db/dialect'
import type { AuditActor, AuditContext } from '../../core/db/tables'
import type { Hub } from '../../core/hub'
import type { Permission } from '../../core/permissions'
import { insertToken, markRevoked } from './tokens'

/** Creates a token from the command line. Returns its value. */
export async function createTokenAsOperator(
  hub: Hub,
  input: { workspaceId: string; name: string; mode: TokenMode; permissions: Permission[]; expiresAt: number | null },
): Promise<string> {
  return await record(hub, async tx => {
    const { row, token } = await insertToken(
      tx,
      { hub, workspaceId: input.workspaceId },
      { ...input, createdBy: 'cli', allowedCidrs: [] },
    )
    const { limits, planId } = await planOf(tx, input.workspaceId)
    const used = (await countOf(tx, 'token', input.workspaceId)) - 1
    return {
      result: token,
      notices:
        limits.tokens === null
          ? []
          : limitNotices({ workspaceId: input.workspaceId, limit: 'tokens', max: limits.tokens, used, planId }),
      audits: [
        {
          workspaceId: input.workspaceId,
          action: 'account.token.create',
          actor: { ...systemActor('command line'), type: 'operator' },
          context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'cli' },
          targets: [target('token', row)],
          after: tokenView(hub, row),
        },
      ],
    }
  })
}

/** A token with the name of its workspace. */
interface FoundToken extends TokenRow {
  workspace: string
}

const pageSize = 500

/** Every token of the installation or of one workspace, oldest first, including expired and revoked ones. */
export async function* allTokens(hub: Hub, workspaceId?: string): AsyncGenerator<FoundToken> {
  for (let last = ''; ;) {
    const page = await hub.read
      .select({ token: tokens, workspace: workspaces.name })
      .from(tokens)
      .innerJoin(workspaces, eq(workspaces.id, tokens.workspaceId))
      .where(and(gt(tokens.id, last), workspaceId === undefined ? undefined : eq(tokens.workspaceId, workspaceId)))
      .orderBy(asc(tokens.id))
      .limit(pageSize)
    for (const { token, workspace } of page) yield { ...token, workspace }
    if (page.length < pageSize) return
    last = page.at(-1)!.token.id
  }
}

/**
 * Revokes a token of any workspace from the command line. Running hubs apply it within a second.
 * @returns the token before the change; null if there is none with this id
 */
export async function revokeTokenAsOperator(
  hub: Hub,
  id: string,
  by: { actor: AuditActor; context: AuditContext },
): Promise<TokenRow | null> {
  const before = await record(hub, async tx => {
    const [row] = await forUpdate(tx.select().from(tokens).where(eq(tokens.id, id)))
    if (!row || row.revokedAt !== null) return { result: row ?? null }
    const { workspaceId } = row
    const changed = await markRevoked(tx, hub, row)
    const audit = { workspaceId, action: 'account.token.revoke' as const, ...by, targets: [target('token', row)], ...changed }
    return { result: row, audits: [audit] }
  })
  await forgetCallers(hub)
  return before
}
