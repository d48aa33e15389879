import { eq } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import { EgressRefused, networkPolicy } from '../../core/net/egress'
import { egressOf } from '../../core/net/hub-egress'
import { invalid } from '../../core/problem'

/**
 * Refuses a URL that the workspace may not call. It is looked at again before each try, since names change where they lead.
 * @throws Problem 422 at `#/url`, naming the class of what is wrong and never an address
 */
export async function refuseTarget(ctx: Ctx, url: string): Promise<void> {
  const [row] = await ctx.hub.read
    .select({ stored: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  try {
    await egressOf(ctx.hub).vetUrl(url, networkPolicy(row!.stored, { carriesSecret: true }))
  } catch (error) {
    if (!(error instanceof EgressRefused)) throw error
    throw invalid([{ pointer: '#/url', code: error.errorClass, detail: `is refused (${error.errorClass}). ${error.message}` }])
  }
}
