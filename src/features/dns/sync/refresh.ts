import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { invalid } from '../../../core/problem'
import type { ActionKind } from '../../actions/kind'
import type { ActionView } from '../../actions/shapes'
import { startAction } from '../../actions/start'
import { refuseAskedTooOften } from '../../../access/asked-too-often'
import { zoneHeld } from '../zone-rows'
import { zoneOf, zoneTarget } from '../zones'
import { failureOf } from './sync-failure'
import type { RefreshInput } from './shapes'
import { syncTarget } from './sync-target'
import { targetsOf } from './target-rows'

/** Reads a zone at its providers now, ten times a minute at most. @throws Problem 404, 409 `resource_locked`, 422, 429 */
export async function refreshZone(ctx: Ctx, zoneId: string, input: RefreshInput): Promise<ActionView> {
  if (input.believe && !input.note?.trim())
    throw invalid([{ pointer: '#/note', code: 'required', detail: 'is required with `believe`: it is kept in the audit log.' }])
  await zoneOf(ctx.hub.read, ctx, zoneId)
  refuseAskedTooOften(ctx, 'zone-refreshes', zoneId, 10)
  return await change(ctx, 'dns.zone.refresh', async tx => {
    const zone = await zoneHeld(tx, ctx, zoneId)
    const { action, job } = await startAction(tx, ctx, refreshAction, {
      resources: [{ type: 'zone', id: zone.id }],
      input: { believe: input.believe ?? false },
    })
    return {
      result: action,
      target: zoneTarget(zone),
      after: { believe: input.believe ?? false },
      reason: input.note || null,
      jobs: [job],
    }
  })
}

const busyPauseMs = 1_000

/** Target by target: `read` are those that are done. */
export const refreshAction: ActionKind<{ believe: boolean }, { read: string[] }> = {
  type: 'zone.refresh',
  area: 'dns',
  audit: 'dns.zone.refresh',
  cancellable: true,
  resumable: true,
  concurrency: 4,
  leaseMs: 300_000,
  async run(hub, { resources, input, state }) {
    const read = state?.read ?? []
    const next = (await targetsOf(hub.read, resources[0]!.id)).find(one => !read.includes(one.id))
    if (!next) return async () => ({ result: { done: { read: read.length } } })
    const outcome = await syncTarget(hub, next.id, { applies: false, reads: true, believes: input.believe })
    if (outcome.did === 'busy') return async () => ({ result: { state: { read }, at: hub.clock.now() + busyPauseMs } })
    const failed = failureOf(outcome)
    if (failed) return async () => ({ result: { failed, result: { read: read.length } } })
    return async () => ({ result: { state: { read: [...read, next.id] } } })
  },
}
