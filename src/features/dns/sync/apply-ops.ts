import type { Hub } from '../../../core/hub'
import { ProviderError, type Op, type OpResult } from '../providers/provider'
import { rrsetKey } from '../zone-rows'
import { renewClaim, type Claimed } from './claim-target'
import { apartFrom, inBatches } from './order'
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

// Each costs a request or two.
const mostRefusals = 20

/**
 * Carries steps out, batch by batch and in order, until one fails. Where it was refused, the others are tried again without it and what
 * hangs on it. Those that are left are for the next time.
 */
export async function applyOps(hub: Hub, claimed: Claimed, { provider, at }: Opened, ops: readonly Op[]): Promise<Results> {
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
      // Nothing at all was sent.
      done = batch.map(({ name, type }) => ({ name, type, outcome: 'left', detail: error.message }))
    }
    for (const one of done) results.set(rrsetKey(one), one)
    const failed = batch.filter(op => results.get(rrsetKey(op))?.outcome !== 'done')
    if (failed.length > 0) {
      const refused = failed.filter(op => results.get(rrsetKey(op))?.outcome === 'refused')
      const isRest = failed.every(op => refused.includes(op) || results.get(rrsetKey(op))?.outcome === 'left')
      if (refused.length === 0 || !isRest || ++refusals > mostRefusals) break
      const all = ops.filter(op => results.get(rrsetKey(op))?.outcome === 'refused')
      const rest = [...failed, ...batches.flat()].filter(op => !refused.includes(op))
      batches = inBatches(apartFrom(all, rest, zoneName), zoneName, provider.caps.batchOps)
    }
    if (batches.length > 0) await renewClaim(hub, claimed)
  }
  for (const { name, type } of ops)
    if (!results.has(rrsetKey({ name, type }))) results.set(rrsetKey({ name, type }), { name, type, outcome: 'left' })
  return results
}
