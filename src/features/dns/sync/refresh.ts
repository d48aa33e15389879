import { refuseTooManyRequests } from '../../../access/limiter'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { invalid } from '../../../core/problem'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { lockZone, zoneOf } from '../zones/rows'
import { zoneTarget } from '../zones/zones'
import { failureOf } from './sync-failure'
import type { RefreshInput } from '../targets/shapes'
import { syncTarget } from './sync-target'
import { targetsOf } from '../targets/target-rows'

/** Reads a zone at its providers now, up to ten times a minute. @throws Problem 404, 409 `resource_locked`, 422, 429 */
export async function refreshZone(ctx: Ctx, zoneId: string, input: RefreshInput): Promise<ActionView> {
  if (input.force && !input.note?.trim())
    throw invalid([{ pointer: '#/note', code: 'required', detail: 'is required with `force`. It is stored in the audit log.' }])
  await zoneOf(ctx.hub.read, ctx, zoneId)
  refuseTooManyRequests(ctx, 'zone-refreshes', zoneId, 10)
  return await change(ctx, 'dns.zone.refresh', async tx => {
    const zone = await lockZone(tx, ctx, zoneId)
    const { action, job } = await startAction(tx, ctx, refreshAction, {
      resources: [{ type: 'zone', id: zone.id }],
      input: { force: input.force ?? false },
    })
    return {
      result: action,
      target: zoneTarget(zone),
      after: { force: input.force ?? false },
      reason: input.note || null,
      jobs: [job],
    }
  })
}

const busyPauseMs = 1_000

/** Reads target by target. `read` are the finished ones. */
export const refreshAction: ActionKind<{ force: boolean }, { read: string[] }> = {
  type: 'zone.refresh',
  area: 'dns',
  audit: 'dns.zone.refresh',
  cancelable: true,
  resumable: true,
  concurrency: 4,
  leaseMs: 300_000,
  async run(hub, { resources, input, state }) {
    const read = state?.read ?? []
    const next = (await targetsOf(hub.read, resources[0]!.id)).find(one => !read.includes(one.id))
    if (!next) return async () => ({ result: { done: { read: read.length } } })
    const outcome = await syncTarget(hub, next.id, { applies: false, reads: true, force: input.force })
    if (outcome.status === 'busy') return async () => ({ result: { state: { read }, at: hub.clock.now() + busyPauseMs } })
    const failed = failureOf(outcome)
    if (failed) return async () => ({ result: { failed, result: { read: read.length } } })
    return async () => ({ result: { state: { read: [...read, next.id] } } })
  },
}
