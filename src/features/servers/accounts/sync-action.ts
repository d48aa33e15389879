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
import { finishSync, syncAccount, type SyncSuccess } from './sync'
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
    const outcome = await syncAccount(hub, account, true)
    return async tx => {
      const finished = await finishSync(tx, hub, account, outcome)
      return { ...finished, result: outcome.error ? { failed: problemOf(outcome.error) } : { done: countsOf(outcome) } }
    }
  },
}

const problemOf = ({ code, detail }: { code: string; detail: string }) =>
  new Problem('provider_failed', detail, { fields: { failure: code } })

const countsOf = ({ reading, unclaimed }: SyncSuccess) => ({ servers: reading.servers.length, unclaimed })
