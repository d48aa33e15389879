import type { Hub } from '../../../core/hub'
import { ProviderError, type Op, type OpResult } from '../providers/provider'
import { rrsetKey } from '../zone-rows'
import { renewClaim, type Claimed } from './claim-target'
import { inBatches } from './order'
import type { Opened } from './read-target'

/** What became of the steps of a plan, by `rrsetKey`. */
export type Results = Map<string, OpResult>

/** Steps that were carried out, and what became of them. */
export interface Brought {
  ops: readonly Op[]
  results: Results
}

export const mayHaveHappened = (result: OpResult | undefined): boolean =>
  result?.outcome === 'done' || result?.outcome === 'unknown'

/**
 * Carries steps out, batch by batch and in order, until one fails: what leads to it must not be brought there without it. Those that are left
 * are for the next time.
 */
export async function applyOps(hub: Hub, claimed: Claimed, { provider, at }: Opened, ops: readonly Op[]): Promise<Results> {
  const results: Results = new Map()
  const batches = inBatches(ops, claimed.zone.name, provider.caps.batchOps)
  for (const batch of batches) {
    let done: OpResult[]
    try {
      done = await provider.apply(at, batch)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      // Nothing at all was sent.
      done = batch.map(({ name, type }) => ({ name, type, outcome: 'left', detail: error.message }))
    }
    for (const one of done) results.set(rrsetKey(one), one)
    if (done.some(one => one.outcome !== 'done') || done.length < batch.length) break
    if (batch !== batches.at(-1)) await renewClaim(hub, claimed)
  }
  for (const { name, type } of ops)
    if (!results.has(rrsetKey({ name, type }))) results.set(rrsetKey({ name, type }), { name, type, outcome: 'left' })
  return results
}
