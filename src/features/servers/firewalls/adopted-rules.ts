import { dynamicSourceOf, maxNetworks, type FirewallRule, type PlainRule, type RuleSet } from './rules'

/**
 * Turns the rules that a cloud has into rules of a firewall. Rules that came from one of ours keep its id, description, and dynamic IP
 * sources whose networks are still there.
 * @param networksOf the networks that a source has in a rule
 */
export function adoptedRules(
  own: readonly FirewallRule[],
  there: readonly PlainRule[],
  networksOf: (sourceId: string, ruleId: string) => readonly string[],
): RuleSet {
  const blocks = new Set(there.filter(one => one.action === 'block').flatMap(one => one.networks))
  const allowing = there.filter(one => one.action !== 'block')
  const grouped = Map.groupBy(allowing, one =>
    JSON.stringify([one.id, one.direction, one.protocol, [...one.networks].sort().slice(0, maxNetworks)]),
  )
  const ids = new Set<string>()
  const rules = [...grouped.values()].map((some, at): FirewallRule => {
    const { id, direction, protocol, networks } = some[0]!
    const known = own.find(one => one.id === id && one.direction === direction)
    const free = [known?.id ?? '', /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id) ? id : '', `adopted-${at + 1}`]
    const chosen = free.find(one => one !== '' && !ids.has(one)) ?? `adopted-${at + 1}-${ids.size}`
    ids.add(chosen)
    const isKnown = known !== undefined && chosen === known.id
    const named = isKnown ? known.sources.filter(one => isThere(one, known.id, networks)) : []
    const fromNamed = new Set(named.flatMap(one => networksOf(dynamicSourceOf(one)!.sourceId, known!.id)))
    const others = networks.filter(one => !fromNamed.has(one))
    return {
      id: chosen,
      direction,
      protocol,
      ports: some.flatMap(one => one.ports).filter(one => one !== '1-65535'),
      sources: direction === 'in' ? [...others, ...named] : [],
      destinations: direction === 'out' ? [...networks] : [],
      description: isKnown ? known.description : '',
    }
  })
  return { rules, blocks: [...blocks] }

  function isThere(entry: string, ruleId: string, networks: readonly string[]): boolean {
    const named = dynamicSourceOf(entry)
    return named !== null && networksOf(named.sourceId, ruleId).every(one => networks.includes(one))
  }
}
