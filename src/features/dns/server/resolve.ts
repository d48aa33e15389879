import { RCODE } from '../../../core/dns/message'
import { keyOfOctets, NAME_OCTETS_MAX, parentKey, wildcardKey, type NameKey, type WireName } from './name-key'
import { TYPE, type IndexedSet, type Node, type ZoneIndex, type ZoneSet } from './zone-index'

/** A set in an answer, under the name it is told for: its own, or one that a wildcard stands for. */
export interface Told {
  readonly owner: WireName
  readonly set: IndexedSet
}

/** What is answered to a question. */
export interface Resolution {
  rcode: number
  /** True when we are the authority for the name that was asked. */
  authoritative: boolean
  answer: Told[]
  authority: Told[]
  /** Addresses below a delegation, without which it cannot be followed (RFC 9471 3.1). */
  glue: Told[]
  /** Addresses of its servers elsewhere in the zone. */
  addresses: Told[]
  /** True when the name exists as it was asked: such names are as many as the zones have. */
  exact: boolean
}

// Longer chains are mistakes; a resolver gives up on them too.
const chainMax = 16

/** Answers a question of class IN by the rules of RFC 1034 4.3.2, RFC 4592 and RFC 6672. Never throws, and always ends. */
export function resolve(zones: ZoneSet, question: WireName, type: number): Resolution {
  const found: Resolution = {
    rcode: RCODE.NOERROR,
    authoritative: true,
    answer: [],
    authority: [],
    glue: [],
    addresses: [],
    exact: false,
  }
  const asked = new Set<NameKey>()
  let name: WireName | null = question
  while (name !== null && asked.size <= chainMax && !asked.has(name.key)) {
    asked.add(name.key)
    const zone = zones.enclosing(name.key, type)
    if (zone) {
      name = answerIn(zone, name, type, found, asked.size === 1)
      continue
    }
    if (asked.size === 1) {
      found.rcode = RCODE.REFUSED
      found.authoritative = false
    }
    return found
  }
  return found
}

/** @returns the name at which the question goes on, or null when it is answered */
function answerIn(zone: ZoneIndex, name: WireName, type: number, found: Resolution, first: boolean): WireName | null {
  const path = pathTo(zone, name.key, type)
  if (first) found.exact = path.exact
  if (path.cut?.sets.has(TYPE.NS) && path.cut !== zone.apex) return refer(zone, path.cut, found, first)
  if (path.cut) return redirect(path.cut, name, type, found)

  const node = path.exact ? path.closest : zone.node(wildcardKey(path.closest.name.key))
  if (!node) {
    found.rcode = RCODE.NXDOMAIN
    found.authority.push(negative(zone))
    return null
  }
  // A wildcard's answers have the name that was asked; a name's own answers have the name as the zone spells it.
  return answerAt(zone, node, path.exact ? node.name : name, type, found)
}

interface Path {
  /** The node of the name, or of the closest name above it that exists. */
  closest: Node
  exact: boolean
  /** The highest node on the way that ends the zone for this name: a delegation, or a DNAME above the name. */
  cut: Node | null
}

function pathTo(zone: ZoneIndex, key: NameKey, type: number): Path {
  let closest: Node | null = null
  let cut: Node | null = null
  for (let at = key; ; at = parentKey(at)) {
    const node = zone.node(at)
    const isApex = at === zone.name.key
    if (node) {
      closest ??= node
      const isOwn = at === key
      // At a delegation the zone above it is still asked for DS (RFC 4035 3.1.4.1).
      if (!isApex && node.sets.has(TYPE.NS) && !(isOwn && type === TYPE.DS)) cut = node
      else if (!isOwn && node.sets.has(TYPE.DNAME)) cut = node
    }
    if (isApex) break
  }
  return { closest: closest!, exact: closest!.name.key === key, cut }
}

function refer(zone: ZoneIndex, cut: Node, found: Resolution, first: boolean): null {
  if (first) found.authoritative = false
  const servers = cut.sets.get(TYPE.NS)!
  found.authority.push({ owner: cut.name, set: servers })
  for (const { names } of servers.rdata) {
    const host = names[0] && zone.node(names[0].key)
    if (!host) continue
    const places = isBelow(host.name.key, cut.name.key) ? found.glue : found.addresses
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const set = host.sets.get(type)
      if (set) places.push({ owner: host.name, set })
    }
  }
  return null
}

/** Below a DNAME every name is one below its target (RFC 6672 2.2). */
function redirect(from: Node, name: WireName, type: number, found: Resolution): WireName | null {
  const set = from.sets.get(TYPE.DNAME)!
  found.answer.push({ owner: from.name, set })
  const target = set.rdata[0]!.names[0]
  if (!target) return null
  const prefix = name.octets.subarray(0, name.octets.length - from.name.octets.length)
  if (prefix.length + target.octets.length > NAME_OCTETS_MAX) {
    found.rcode = RCODE.YXDOMAIN
    return null
  }
  const octets = new Uint8Array(prefix.length + target.octets.length)
  octets.set(prefix)
  octets.set(target.octets, prefix.length)
  const renamed = { key: keyOfOctets(octets), octets }
  found.answer.push({
    owner: name,
    set: { type: TYPE.CNAME, ttl: set.ttl, rdata: [{ octets, namesAt: 0, names: [renamed] }] },
  })
  return type === TYPE.CNAME || type === TYPE.ANY ? null : renamed
}

function answerAt(zone: ZoneIndex, node: Node, owner: WireName, type: number, found: Resolution): WireName | null {
  const alias = node.sets.get(TYPE.CNAME)
  const set = type === TYPE.ANY ? (alias ?? anyOf(node)) : node.sets.get(type)
  if (set) {
    found.answer.push({ owner, set })
    return null
  }
  if (alias) {
    found.answer.push({ owner, set: alias })
    return alias.rdata[0]!.names[0] ?? null
  }
  found.authority.push(negative(zone))
  return null
}

/** What is told in place of everything there is at a name (RFC 8482 4.2). */
function anyOf(node: Node): IndexedSet | undefined {
  return node.sets.size === 0 ? undefined : (node.sets.get(TYPE.HINFO) ?? notEverything)
}

const notEverything: IndexedSet = {
  type: TYPE.HINFO,
  ttl: 3600,
  rdata: [{ octets: Buffer.from('\x07RFC8482\0', 'latin1'), namesAt: 9, names: [] }],
}

const negative = (zone: ZoneIndex): Told => ({ owner: zone.name, set: zone.negative })

function isBelow(key: NameKey, ancestor: NameKey): boolean {
  let at = key
  while (at.length > ancestor.length) at = parentKey(at)
  return at === ancestor
}
