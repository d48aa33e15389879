import { wildcardKey, type NameKey, type WireName } from './name-key'
import { chainMax, pathTo, renamed } from './path'
import { TYPE, type IndexedSet, type Node, type ZoneSet } from './zone-index'

/**
 * The addresses that an ALIAS stands for: those of its target, over CNAMEs, DNAMEs and further ALIASes, as far as all of them are in
 * zones of one owner that are served here: nobody else has proven that a name is his. Where the way leads elsewhere they are those that
 * the hub has found out and given along as sets of the name itself. The TTL is the smallest on the way.
 * @param owner of the zone that the node is in
 * @param node has an ALIAS
 * @param type A or AAAA
 * @returns null when there are none: the target is not there, has no such addresses, or leads back to itself
 */
export function aliasAddresses(zones: ZoneSet, owner: string, node: Node, type: number): IndexedSet | null {
  const alias = node.sets.get(TYPE.ALIAS)!
  const elsewhere = () => withTtl(node.sets.get(type), alias.ttl)
  let ttl = alias.ttl
  let name = targetOf(alias)
  const asked = new Set<NameKey>([node.name.key])
  while (name && asked.size <= chainMax && !asked.has(name.key)) {
    asked.add(name.key)
    const zone = zones.enclosing(name.key, type)
    if (zone?.owner !== owner) return elsewhere()
    const path = pathTo(zone, name.key, type)
    if (path.cut?.sets.has(TYPE.NS) && path.cut !== zone.apex) return elsewhere()
    if (path.cut) {
      ttl = Math.min(ttl, path.cut.sets.get(TYPE.DNAME)!.ttl)
      name = renamed(path.cut, name)
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

const withTtl = (set: IndexedSet | undefined, most: number): IndexedSet | null =>
  set ? { ...set, ttl: Math.min(set.ttl, most) } : null
