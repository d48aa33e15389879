import { expandAliases, type AliasAddresses } from '../aliases/expand'
import type { ProviderRrset } from '../providers/provider'
import { rrsetKey } from '../zones/names'
import { worstOf, type RrsetSyncState } from './three-way'

/** Desired rrsets for a target without ALIAS support, and the names where addresses replace an ALIAS. */
interface ExpandedDesired {
  desired: ReadonlyMap<string, ProviderRrset>
  names: ReadonlySet<string>
}

const families = ['A', 'AAAA'] as const

/**
 * Replaces each ALIAS with addresses. If they are not known yet, the existing ones stay.
 * @param addresses by the names of the ALIASes
 */
export function expandDesired(
  desired: ReadonlyMap<string, ProviderRrset>,
  observed: ReadonlyMap<string, ProviderRrset>,
  addresses: ReadonlyMap<string, AliasAddresses>,
): ExpandedDesired {
  const aliases = [...desired.values()].filter(one => one.type === 'ALIAS')
  const expanded = expandAliases([...desired.values()], name => addresses.get(name))
  const found = new Map(expanded.map(one => [rrsetKey(one), one]))
  for (const { name } of aliases) {
    if (addresses.has(name)) continue
    for (const type of families) {
      const there = observed.get(rrsetKey({ name, type }))
      if (there) found.set(rrsetKey(there), there)
    }
  }
  return { desired: found, names: new Set(aliases.map(one => one.name)) }
}

/** State of an ALIAS that is replaced by addresses: the worst of theirs. */
export function stateOfAlias(name: string, states: readonly RrsetSyncState[], isKnown: boolean): RrsetSyncState {
  const own = states.filter(one => one.name === name && families.includes(one.type as 'A'))
  return {
    name,
    type: 'ALIAS',
    agreed: null,
    observed: null,
    observedTtl: null,
    observedValues: null,
    sent: null,
    state: isKnown ? worstOf(own.map(one => one.state)) : 'pending',
    kind: null,
    detail: isKnown ? null : 'The ALIAS target has not been resolved yet.',
  }
}
