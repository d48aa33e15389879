import { eq } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../../access/limiter'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { Problem } from '../../../core/problem'
import { lockRow, targetOf } from '../../../core/rows'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { accountOf } from './accounts'
import { cloudAccountRows } from './open'
import { syncAccount } from './sync'
import { syncJobFor } from './sync-jobs'
import { cloudAccounts } from './tables'

/** Reads the servers of an account now, up to ten times a minute. @throws Problem 404, 409 `resource_locked`, 429 */
export async function syncCloudAccount(ctx: Ctx, id: string): Promise<ActionView> {
  await accountOf(ctx, id)
  refuseTooManyRequests(ctx, 'cloud-syncs', id, 10)
  return await change(ctx, 'cloud.account.sync', async tx => {
    const account = await lockRow(tx, ctx, cloudAccountRows.rows, id)
    const { action, job } = await startAction(tx, ctx, syncAction, {
      resources: [{ type: 'cloud_account', id }],
      input: {},
    })
    return { result: action, target: targetOf(cloudAccountRows.rows, account), jobs: [job] }
  })
}

/** Reads an account. */
export const syncAction: ActionKind = {
  type: 'cloud_account.sync',
  area: 'cloud',
  audit: 'cloud.account.sync',
  cancelable: false,
  resumable: true,
  concurrency: 4,
  leaseMs: 10 * 60_000,
  async run(hub, { resources }) {
    const [account] = await hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, resources[0]!.id))
    if (!account) return async () => ({ result: { failed: new Problem('conflict', 'The cloud account was deleted.') } })
    const outcome = await syncAccount(hub, account)
    return async tx => {
      if (outcome.error) {
        const failed = new Problem('provider_failed', outcome.error.detail, { fields: { failure: outcome.error.code } })
        return { result: { failed } }
      }
      await tx
        .update(cloudAccounts)
        .set({
          syncedAt: outcome.startedAt,
          syncFailures: 0,
          syncError: null,
          unclaimed: outcome.unclaimed,
          rate: outcome.reading.rate,
        })
        .where(eq(cloudAccounts.id, account.id))
      return {
        result: { done: { servers: outcome.reading.servers.length, unclaimed: outcome.unclaimed } },
        jobs: [syncJobFor(account.id, hub.clock.now() + 1000)],
      }
    }
  },
}
