import type { AliasAddresses } from '../aliases/expand'
import { expandAliases } from '../aliases/expand'
import type { ProviderRrset } from '../providers/provider'
import { rrsetKey } from '../zone-rows'
import type { Stands } from './evaluate'
import { worstOf } from './three-way'

/** What is desired at a target that has no ALIAS, and the names of those that have addresses in their place. */
export interface WithoutAliases {
  desired: ReadonlyMap<string, ProviderRrset>
  names: ReadonlySet<string>
}

const families = ['A', 'AAAA'] as const

/**
 * What is desired with addresses in the place of each ALIAS. Where those of a target are not known yet, what is there stays.
 * @param addresses by the names of the ALIASes
 */
export function withoutAliases(
  desired: ReadonlyMap<string, ProviderRrset>,
  observed: ReadonlyMap<string, ProviderRrset>,
  addresses: ReadonlyMap<string, AliasAddresses>,
): WithoutAliases {
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

/** How an ALIAS stands where others are in its place: as they do. */
export function standsOfAlias(name: string, stands: readonly Stands[], isKnown: boolean): Stands {
  const own = stands.filter(one => one.name === name && families.includes(one.type as 'A'))
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
    detail: isKnown ? null : 'Its target was not looked up yet.',
  }
}
