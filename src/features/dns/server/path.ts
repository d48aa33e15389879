import { keyOfOctets, NAME_OCTETS_MAX, parentKey, type NameKey, type WireName } from './name-key'
import { TYPE } from './indexed-set'
import type { Node, ZoneIndex } from './zone-index'

// Longer chains are misconfigurations; resolvers stop there too.
export const maxChain = 16

/** The path from a name up to the apex of its zone. */
interface Path {
  /** Node of the name, or of its closest existing ancestor. */
  closest: Node
  exact: boolean
  /** Topmost node that ends the zone for this name: a delegation, or a DNAME above it. */
  cut: Node | null
}

export function pathTo(zone: ZoneIndex, key: NameKey, type: number): Path {
  let closest: Node | null = null
  let cut: Node | null = null
  for (let at = key; ; at = parentKey(at)) {
    const node = zone.node(at)
    const isApex = at === zone.name.key
    if (node) {
      closest ??= node
      const isOwn = at === key
      // DS at a delegation belongs to the parent zone (RFC 4035 section 3.1.4.1).
      if (!isApex && node.sets.has(TYPE.NS) && !(isOwn && type === TYPE.DS)) cut = node
      else if (!isOwn && node.sets.has(TYPE.DNAME)) cut = node
    }
    if (isApex) break
  }
  return { closest: closest!, exact: closest!.name.key === key, cut }
}

/** Applies a DNAME to a name below it (RFC 6672 section 2.2); null if the result is too long. @param from has a DNAME */
export function applyDname(from: Node, name: WireName): WireName | null {
  const target = from.sets.get(TYPE.DNAME)!.rdata[0]!.names[0]
  if (!target) return null
  const prefix = name.octets.subarray(0, name.octets.length - from.name.octets.length)
  if (prefix.length + target.octets.length > NAME_OCTETS_MAX) return null
  const octets = new Uint8Array(prefix.length + target.octets.length)
  octets.set(prefix)
  octets.set(target.octets, prefix.length)
  return { key: keyOfOctets(octets), octets }
}
