import { eq, count } from 'drizzle-orm'
import { limitGuessing } from '../../../access/limiter'
import { failedCredentials } from '../../../access/rate-limits'
import { workspaces, users } from '../../../access/tables'
import { operatorWorkspace } from '../../../access/workspaces'
import { encodeBase64url, hmacSha256, constantTimeEqual } from '../../../core/crypto'
import type { Ctx } from '../../../core/ctx'
import { instanceFacts } from '../../../core/db/tables'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import { addUser, hasUsers, type User } from '../users'

/**
 * The token of the setup link. It is derived from the installation's key, so that all hubs on one database print the same link.
 * It stops working once a user exists.
 */
export async function setupToken(hub: Hub): Promise<string> {
  const [row] = await hub.read.select().from(instanceFacts).where(eq(instanceFacts.name, 'instance_id'))
  return encodeBase64url(hmacSha256(hub.keys.derive('setup'), row!.value).slice(0, 24))
}

/**
 * Creates the first user: an operator, and owner of the operator's workspace.
 * @throws Problem 403 `setup_closed` if the token is wrong or a user already exists; 429 after too many wrong tokens
 */
export async function completeSetup(
  ctx: Ctx,
  input: { token: string; email: string; password: string; name: string },
): Promise<User> {
  const { hub } = ctx
  const buckets = [failedCredentials(ctx.context.ip ?? '', hub.config.failedCredentialsPerMinute)]
  await limitGuessing(hub, buckets, async () => {
    if (!constantTimeEqual(input.token, await setupToken(hub))) {
      throw new Problem('setup_closed', 'The setup token is invalid. Use the link that the hub printed at startup.')
    }
  })
  if (await hasUsers(hub.read)) throw new Problem('setup_closed', 'Setup is already complete. Sign in instead.')
  const workspace = await operatorWorkspace(hub.read)
  return await addUser(
    hub,
    'account.setup.complete',
    { ...input, role: 'owner', workspaceId: workspace.id, isOperator: true },
    null,
    async tx => {
      // Serializes concurrent requests with the same link.
      await tx.update(workspaces).set({ updatedAt: hub.clock.now() }).where(eq(workspaces.id, workspace.id))
      const [row] = await tx.select({ n: count() }).from(users)
      if (row!.n > 0) throw new Problem('setup_closed', 'Setup is already complete. Sign in instead.')
    },
    ctx.context,
  )
}
