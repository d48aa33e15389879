import { RCODE } from '../../../core/dns/message'
import { aliasAddresses } from './alias'
import { parentKey, wildcardKey, type NameKey, type WireName } from './name-key'
import { chainMax, pathTo, renamed } from './path'
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

/**
 * Answers a question of class IN by the rules of RFC 1034 4.3.2, RFC 4592 and RFC 6672. A CNAME or DNAME is followed into zones of the
 * same owner alone: what others say of its target is no answer about this name. Never throws, and always ends.
 */
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
  let owner: string | undefined
  let name: WireName | null = question
  while (name !== null && asked.size <= chainMax && !asked.has(name.key)) {
    asked.add(name.key)
    const zone = zones.enclosing(name.key, type)
    owner ??= zone?.owner
    if (zone && zone.owner === owner) {
      name = answerIn(zones, zone, name, type, found, asked.size === 1)
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
function answerIn(
  zones: ZoneSet,
  zone: ZoneIndex,
  name: WireName,
  type: number,
  found: Resolution,
  first: boolean,
): WireName | null {
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
  const owner = path.exact ? node.name : name
  return node.sets.has(TYPE.ALIAS) ? answerAlias(zones, zone, node, owner, type, found) : answerAt(zone, node, owner, type, found)
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
  const target = renamed(from, name)
  if (!target) {
    found.rcode = RCODE.YXDOMAIN
    return null
  }
  found.answer.push({
    owner: name,
    set: { type: TYPE.CNAME, ttl: set.ttl, rdata: [{ octets: target.octets, namesAt: 0, names: [target] }] },
  })
  return type === TYPE.CNAME || type === TYPE.ANY ? null : target
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

/** An ALIAS is answered as the addresses that its target has, and is not told itself: its type is of nobody's registry. */
function answerAlias(zones: ZoneSet, zone: ZoneIndex, node: Node, owner: WireName, type: number, found: Resolution): null {
  const hidden = type === TYPE.A || type === TYPE.AAAA || type === TYPE.ALIAS
  if (!hidden) return answerAt(zone, node, owner, type, found) as null
  const set = type === TYPE.ALIAS ? null : aliasAddresses(zones, zone.owner, node, type)
  if (set) found.answer.push({ owner, set })
  else found.authority.push(negative(zone))
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
