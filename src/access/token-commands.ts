import { and, asc, eq, gt } from 'drizzle-orm'
import { target } from '../core/audit'
import { record } from '../core/change'
import { locking } from '../core/db/dialect'
import type { AuditActor, AuditContext } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { forgetCallers } from './callers'
import { tokens, workspaces } from './tables'
import { tokenView, type TokenRow } from './tokens'

/** A token of any workspace, and the name of that. */
export interface FoundToken extends TokenRow {
  workspace: string
}

const pageSize = 500

/** Every token of the installation, or of one workspace, oldest first: also those that have ended. */
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
 * Revokes a token of whichever workspace, on behalf of whoever may read the data folder. A hub that knows it forgets it within a second.
 * @returns the token as it was before; null when there is none with this id
 */
export async function revokeTokenAsOperator(
  hub: Hub,
  id: string,
  by: { actor: AuditActor; context: AuditContext },
): Promise<TokenRow | null> {
  const before = await record(hub, async tx => {
    const [row] = await locking(tx.select().from(tokens).where(eq(tokens.id, id)))
    if (!row || row.revokedAt !== null) return { result: row ?? null }
    const now = hub.clock.now()
    const [after] = await tx
      .update(tokens)
      .set({ revokedAt: now, version: row.version + 1, updatedAt: now })
      .where(eq(tokens.id, id))
      .returning()
    return {
      result: row,
      audits: [
        {
          workspaceId: row.workspaceId,
          action: 'account.token.revoke',
          ...by,
          targets: [target('token', row)],
          before: tokenView(hub, row),
          after: tokenView(hub, after!),
        },
      ],
    }
  })
  forgetCallers(hub)
  return before
}
