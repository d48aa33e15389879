import { wildcardKey, type NameKey, type WireName } from './name-key'
import { maxChain, pathTo, applyDname } from './path'
import { TYPE, type IndexedSet } from './indexed-set'
import type { Node, ZoneSet } from './zone-index'

/**
 * Resolves an ALIAS to addresses: follows its target through CNAMEs, DNAMEs and further ALIASes within served zones of the same
 * owner, since other owners have not proven that a name is theirs. If the path leaves those zones, returns the addresses that the
 * hub resolved and stored at the name itself. The TTL is the smallest on the path.
 * @param owner of the zone that the node is in
 * @param node has an ALIAS
 * @param type A or AAAA
 * @returns null if the target doesn't exist, has no such addresses, or loops
 */
export function aliasAddresses(zones: ZoneSet, owner: string, node: Node, type: number): IndexedSet | null {
  const alias = node.sets.get(TYPE.ALIAS)!
  const elsewhere = () => withTtl(node.sets.get(type), alias.ttl)
  let ttl = alias.ttl
  let name = targetOf(alias)
  const visited = new Set<NameKey>([node.name.key])
  while (name && visited.size <= maxChain && !visited.has(name.key)) {
    visited.add(name.key)
    const zone = zones.enclosing(name.key, type)
    if (zone?.owner !== owner) return elsewhere()
    const path = pathTo(zone, name.key, type)
    if (path.cut?.sets.has(TYPE.NS) && path.cut !== zone.apex) return elsewhere()
    if (path.cut) {
      ttl = Math.min(ttl, path.cut.sets.get(TYPE.DNAME)!.ttl)
      name = applyDname(path.cut, name)
      continue
    }
    const at = path.exact ? path.closest : zone.node(wildcardKey(path.closest.name.key))
    const next = at?.sets.get(TYPE.ALIAS) ?? at?.sets.get(TYPE.CNAME)
    if (!next) return withTtl(at?.sets.get(type), ttl)
    ttl = Math.min(ttl, next.ttl)
    name = targetOf(next)
  }
  return null
}

const targetOf = ({ rdata }: IndexedSet): WireName | null => rdata[0]?.names[0] ?? null

const withTtl = (set: IndexedSet | undefined, maxTtl: number): IndexedSet | null =>
  set ? { ...set, ttl: Math.min(set.ttl, maxTtl) } : null
