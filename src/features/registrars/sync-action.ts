import { eq } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../access/limiter'
import { change } from '../../core/change'
import type { Ctx } from '../../core/ctx'
import { Problem } from '../../core/problem'
import { lockRow, targetOf } from '../../core/rows'
import type { ActionKind } from '../actions/kind'
import type { ActionView } from '../actions/shapes'
import { startAction } from '../actions/start'
import { registrarAccountOf } from './accounts'
import { registrarAccountRows } from './open'
import { finishSync, syncAccount } from './sync'
import { registrarAccounts } from './tables'

/** Reads the domains of an account now, up to three times a minute. @throws Problem 404, 409 `resource_locked`, 429 */
export async function syncRegistrarAccount(ctx: Ctx, id: string): Promise<ActionView> {
  await registrarAccountOf(ctx, id)
  refuseTooManyRequests(ctx, 'registrar-syncs', id, 3)
  return await change(ctx, 'domains.registrar.sync', async tx => {
    const account = await lockRow(tx, ctx, registrarAccountRows.rows, id)
    const { action, job } = await startAction(tx, ctx, registrarSyncAction, {
      resources: [{ type: 'registrar_account', id }],
      input: {},
    })
    return { result: action, target: targetOf(registrarAccountRows.rows, account), jobs: [job] }
  })
}

/** Reads an account. */
export const registrarSyncAction: ActionKind = {
  type: 'registrar_account.sync',
  area: 'domains',
  audit: 'domains.registrar.sync',
  cancelable: false,
  resumable: true,
  concurrency: 4,
  leaseMs: 15 * 60_000,
  async run(hub, { resources }) {
    const [account] = await hub.read.select().from(registrarAccounts).where(eq(registrarAccounts.id, resources[0]!.id))
    if (!account) return async () => ({ result: { failed: new Problem('conflict', 'The registrar account was deleted.') } })
    const outcome = await syncAccount(hub, account)
    return async tx => {
      const finished = await finishSync(tx, hub, account, outcome)
      return {
        ...finished,
        result: outcome.error
          ? { failed: new Problem('provider_failed', outcome.error.detail, { fields: { failure: outcome.error.code } }) }
          : { done: { domains: outcome.listed, added: outcome.added, left_out: outcome.leftOut } },
      }
    }
  },
}
