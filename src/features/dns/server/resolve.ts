import { RCODE } from '../../../dns/message'
import { aliasAddresses } from './alias'
import { parentKey, wildcardKey, type NameKey, type WireName } from './name-key'
import { maxChain, pathTo, applyDname } from './path'
import { TYPE, type IndexedSet } from './indexed-set'
import type { Node, ZoneIndex, ZoneSet } from './zone-index'

/** An RRset in a response, with the owner name to use: its own, or the queried name for a wildcard. */
export interface AnswerSet {
  readonly owner: WireName
  readonly set: IndexedSet
}

/** The result of a lookup. */
interface Resolution {
  rcode: number
  /** True if we are authoritative for the queried name. */
  authoritative: boolean
  answer: AnswerSet[]
  authority: AnswerSet[]
  /** Glue records that are required to follow a delegation (RFC 9471 section 3.1). */
  glue: AnswerSet[]
  /** Other addresses of name servers within the zone. */
  addresses: AnswerSet[]
  /** True if the queried name itself exists. */
  exact: boolean
  /**
   * Closest existing name above the queried one, if the result is the same for all names below it that don't exist (negative answers,
   * wildcards, referrals), except for the queried name as owner. Null if it isn't, or if the name exists.
   */
  encloser: NameKey | null
}

/**
 * Resolves a question of class IN (RFC 1034 section 4.3.2, RFC 4592, RFC 6672). Follows CNAME and DNAME only into zones of the same
 * owner: other owners are not authoritative for the target. Never throws, and always terminates.
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
    encloser: null,
  }
  const visited = new Set<NameKey>()
  let owner: string | undefined
  let name: WireName | null = question
  while (name !== null && visited.size <= maxChain && !visited.has(name.key)) {
    visited.add(name.key)
    const zone = zones.enclosing(name.key, type)
    owner ??= zone?.owner
    if (zone && zone.owner === owner) {
      name = answerIn(zones, zone, name, type, found, visited.size === 1)
      continue
    }
    if (visited.size === 1) {
      found.rcode = RCODE.REFUSED
      found.authoritative = false
    }
    return found
  }
  // Where a loop ends depends on the queried name.
  if (name !== null) found.encloser = null
  return found
}

/** @returns the name to continue with, or null if the question is answered */
function answerIn(
  zones: ZoneSet,
  zone: ZoneIndex,
  name: WireName,
  type: number,
  found: Resolution,
  first: boolean,
): WireName | null {
  const path = pathTo(zone, name.key, type)
  if (first) {
    found.exact = path.exact
    found.encloser = path.exact ? null : path.closest.name.key
  } else if (!path.exact) {
    // The next name may be the queried one, which ends the loop.
    found.encloser = null
  }
  if (path.cut?.sets.has(TYPE.NS) && path.cut !== zone.apex) return refer(zone, path.cut, found, first)
  if (path.cut) return redirect(path.cut, name, type, found)

  const node = path.exact ? path.closest : zone.node(wildcardKey(path.closest.name.key))
  if (!node) {
    found.rcode = RCODE.NXDOMAIN
    found.authority.push(negative(zone))
    return null
  }
  // Wildcard answers use the queried name, other answers the spelling of the zone.
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

/** Redirects a name below a DNAME (RFC 6672 section 2.2). */
function redirect(from: Node, name: WireName, type: number, found: Resolution): WireName | null {
  const set = from.sets.get(TYPE.DNAME)!
  // The new name contains part of the old one.
  found.encloser = null
  found.answer.push({ owner: from.name, set })
  const target = applyDname(from, name)
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

/** Answers an ALIAS with the addresses of its target. The ALIAS itself is never returned: its type is private. */
function answerAlias(zones: ZoneSet, zone: ZoneIndex, node: Node, owner: WireName, type: number, found: Resolution): null {
  const hidden = type === TYPE.A || type === TYPE.AAAA || type === TYPE.ALIAS
  if (!hidden) return answerAt(zone, node, owner, type, found) as null
  const set = type === TYPE.ALIAS ? null : aliasAddresses(zones, zone.owner, node, type)
  if (set) found.answer.push({ owner, set })
  else found.authority.push(negative(zone))
  return null
}

/** Minimal response to ANY (RFC 8482 section 4.2). */
function anyOf(node: Node): IndexedSet | undefined {
  return node.sets.size === 0 ? undefined : (node.sets.get(TYPE.HINFO) ?? notEverything)
}

const notEverything: IndexedSet = {
  type: TYPE.HINFO,
  ttl: 3600,
  rdata: [{ octets: Buffer.from('\x07RFC8482\0', 'latin1'), namesAt: 9, names: [] }],
}

const negative = (zone: ZoneIndex): AnswerSet => ({ owner: zone.name, set: zone.negative })

function isBelow(key: NameKey, ancestor: NameKey): boolean {
  let at = key
  while (at.length > ancestor.length) at = parentKey(at)
  return at === ancestor
}
