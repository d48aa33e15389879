import type { Hub } from '../../../core/hub'
import { ProviderError, resultOf, skippedBy, type Op, type OpResult } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { renewClaim, type ClaimedTarget } from '../targets/claim-target'
import { independentOf, inBatches } from './order'
import type { OpenedTarget } from './read-target'

/** Outcome of each step, by `rrsetKey`. */
export type Results = Map<string, OpResult>

/** Steps that were sent to a provider, with their outcomes. */
export interface AppliedOps {
  ops: readonly Op[]
  results: Results
}

export const mayHaveApplied = (result: OpResult | undefined): boolean =>
  result?.outcome === 'done' || result?.outcome === 'unknown'

/** Milliseconds until the provider accepts changes again; null if it doesn't report it, undefined unless it limits requests. */
export function throttledMs(results: Results): number | null | undefined {
  const waits = [...results.values()].map(one => one.retryAfterMs).filter(ms => ms !== undefined)
  const told = waits.filter(ms => ms !== null)
  return told.length > 0 ? Math.max(...told) : waits[0]
}

// Each refusal costs a request or two.
const maxRefusals = 20

/**
 * Applies steps batch by batch, in order, until one fails. If a step is refused, retries the others without it and its
 * dependents. Remaining steps are skipped until the next run.
 */
export async function applyOps(
  hub: Hub,
  claimed: ClaimedTarget,
  { provider, at }: OpenedTarget,
  ops: readonly Op[],
): Promise<Results> {
  const results: Results = new Map()
  const zoneName = claimed.zone.name
  let batches = inBatches(ops, zoneName, provider.caps.batchOps)
  let refusals = 0
  for (let batch = batches.shift(); batch; batch = batches.shift()) {
    let done: OpResult[]
    try {
      done = await provider.apply(at, batch)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      // Nothing was sent.
      done = batch.map(op => skippedBy(op, error))
    }
    for (const one of done) results.set(rrsetKey(one), one)
    const failed = batch.filter(op => results.get(rrsetKey(op))?.outcome !== 'done')
    if (failed.length > 0) {
      const refused = failed.filter(op => results.get(rrsetKey(op))?.outcome === 'refused')
      const isRest = failed.every(op => refused.includes(op) || results.get(rrsetKey(op))?.outcome === 'skipped')
      if (refused.length === 0 || !isRest || ++refusals > maxRefusals) break
      const all = ops.filter(op => results.get(rrsetKey(op))?.outcome === 'refused')
      const rest = [...failed, ...batches.flat()].filter(op => !refused.includes(op))
      batches = inBatches(independentOf(all, rest, zoneName), zoneName, provider.caps.batchOps)
    }
    if (batches.length > 0) await renewClaim(hub, claimed)
  }
  for (const op of ops) if (!results.has(rrsetKey(op))) results.set(rrsetKey(op), resultOf(op, 'skipped'))
  return results
}
