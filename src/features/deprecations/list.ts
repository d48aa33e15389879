import { desc, eq } from 'drizzle-orm'
import { tokens } from '../../access/tables'
import { deprecatedParts, flushDeprecatedUse } from '../../api/deprecated-use'
import { deprecationUses } from '../../api/tables'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { onePage, type Page } from '../../core/shapes'
import { maxTokens, type DeprecatedPartView } from './shapes'

/** Lists all deprecated parts, with their uses by tokens of the workspace. */
export async function listDeprecations(ctx: Ctx): Promise<Page<DeprecatedPartView>> {
  // Write the pending uses of this process first, so that the list is up to date.
  await flushDeprecatedUse(ctx.hub)
  const rows = await ctx.hub.read
    .select({ use: deprecationUses, name: tokens.name })
    .from(deprecationUses)
    .innerJoin(tokens, eq(tokens.id, deprecationUses.tokenId))
    .where(eq(deprecationUses.workspaceId, ctx.workspaceId))
    .orderBy(desc(deprecationUses.lastUsedAt), desc(deprecationUses.tokenId))
  const bySubject = Map.groupBy(rows, row => row.use.subject)
  const data = deprecatedParts(ctx.hub).map(({ id, kind, spec, name, notice }): DeprecatedPartView => {
    const own = bySubject.get(id) ?? []
    return {
      id,
      kind,
      operation_id: spec.operationId,
      method: spec.method,
      path: spec.path.replaceAll(/:(\w+)/g, '{$1}'),
      name,
      ...notice,
      uses: own.reduce((sum, row) => sum + row.use.uses, 0),
      last_used_at: instant(own[0]?.use.lastUsedAt ?? null),
      tokens: own.slice(0, maxTokens).map(row => ({
        id: row.use.tokenId,
        name: row.name,
        uses: row.use.uses,
        last_used_at: instant(row.use.lastUsedAt),
      })),
    }
  })
  return onePage(data)
}
