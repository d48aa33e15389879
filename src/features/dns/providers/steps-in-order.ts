import { mayHaveApplied } from '../../../adapters/failure'
import { rrsetKey } from '../zones/names'
import { ProviderError, resultOf, skippedBy, type Op, type OpResult, type ProviderRrset } from './provider'
import { isUnchanged } from './same-rrset'
import { stepsByName } from './steps-by-name'

/** How a provider without batches applies its steps. `R` is an rrset with what else the provider needs to change it. */
interface StepCalls<R extends ProviderRrset> {
  /** Reads the current rrsets at a name, by {@link rrsetKey}. @throws ProviderError */
  look(name: string): Promise<ReadonlyMap<string, R>>
  /** Returns why a step can't be sent; undefined if it can. */
  refusal(op: Op, there: R | undefined): string | undefined
  /**
   * Sends a step.
   * @returns `stale` if the rrset has changed
   * @throws ProviderError; `ambiguous` if a part of the step may have been applied
   */
  send(op: Op, there: R | undefined): Promise<'done' | 'stale'>
}

/**
 * Applies steps one at a time, and stops at the first that fails. Reads the rrsets at a name right before changing them.
 * @throws ProviderError if nothing was applied
 */
export async function applyInOrder<R extends ProviderRrset>(ops: readonly Op[], calls: StepCalls<R>): Promise<OpResult[]> {
  const results: OpResult[] = []
  const skipRest = (result: (op: Op) => OpResult) => [...results, ...ops.slice(results.length).map(result)]
  try {
    for (const group of stepsByName(ops)) {
      const there = await calls.look(group[0]!.name)
      for (const op of group) {
        results.push(await applyStep(op, there.get(rrsetKey(op)), calls))
        if (results.at(-1)!.outcome !== 'done') return skipRest(op => resultOf(op, 'skipped', 'A previous change failed.'))
      }
    }
    return results
  } catch (error) {
    if (!(error instanceof ProviderError) || results.length === 0) throw error
    return skipRest(op => skippedBy(op, error))
  }
}

/** @throws ProviderError if the step was neither applied nor refused, such as with an invalid token */
async function applyStep<R extends ProviderRrset>(op: Op, there: R | undefined, calls: StepCalls<R>): Promise<OpResult> {
  const reason = calls.refusal(op, there)
  if (reason !== undefined) return resultOf(op, 'refused', reason)
  if (!isUnchanged(op, there)) return resultOf(op, 'stale', changedMeanwhile)
  try {
    const outcome = await calls.send(op, there)
    return resultOf(op, outcome, outcome === 'stale' ? changedMeanwhile : undefined)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (mayHaveApplied(error)) return resultOf(op, 'unknown', error.message)
    if (error.failure === 'refused') return resultOf(op, 'refused', error.message)
    throw error
  }
}

const changedMeanwhile = 'Changed at the provider since it was read.'
