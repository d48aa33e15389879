import { wireLength } from '../../../core/dns/name'
import type { Prerequisite, UpdateStep } from '../../../core/dns/update'
import { absoluteOf } from '../zone-names'
import type { Op, ProviderRrset } from './provider'
import { stepKey, valueKey } from './same-rrset'

/**
 * Divides steps into messages, in their order, of as many as fit. Steps at a name with a CNAME stay together, since nothing else may
 * be beside it at any time.
 * @param room octets for records in a message
 * @returns what fits no message is in `tooLong`
 */
export function batchesOf(ops: readonly Op[], room: number): { batches: Op[][]; tooLong: Op[] } {
  const batches: Op[][] = []
  const tooLong: Op[] = []
  let left = 0
  for (const group of inseparable(ops)) {
    const size = group.reduce((sum, op) => sum + octetsOf(op), 0)
    if (size > room) {
      tooLong.push(...group)
      continue
    }
    if (size > left) {
      batches.push([])
      left = room
    }
    batches.at(-1)!.push(...group)
    left -= size
  }
  return { batches, tooLong }
}

/**
 * What a message says of its steps: each rrset has to be as it was read (RFC 2136 2.4), but for its TTL, which no prerequisite can
 * tell. What goes is taken away before anything comes, since a server passes over what is not allowed beside what is there
 * (RFC 2136 3.4.2.2).
 */
export function updateOf(zoneName: string, ops: readonly Op[]): { prerequisites: Prerequisite[]; steps: UpdateStep[] } {
  const prerequisites: Prerequisite[] = []
  const removals: UpdateStep[] = []
  const additions: UpdateStep[] = []
  const lastRemovals: UpdateStep[] = []
  const keys = new Set(ops.map(stepKey))
  const alone = new Set(ops.filter(op => op.before === null).map(op => op.name))
  for (const { name, before } of ops) if (before) alone.delete(name)
  const guarded = new Set<string>()
  for (const op of ops) {
    const { type, before, after } = op
    const name = absoluteOf(op.name, zoneName)
    if (before) for (const rdata of before.values) prerequisites.push({ kind: 'rrset_is', name, type, rdata })
    else prerequisites.push({ kind: 'rrset_absent', name, type })
    if (after && !before && !guarded.has(op.name)) {
      guarded.add(op.name)
      // An addition beside a CNAME, or of one beside others, would be passed over without a word.
      if (type === 'CNAME' && alone.has(op.name)) prerequisites.push({ kind: 'name_not_in_use', name })
      else if (!keys.has(stepKey({ name: op.name, type: 'CNAME' })))
        prerequisites.push({ kind: 'rrset_absent', name, type: 'CNAME' })
    }
    for (const rdata of after?.values ?? []) additions.push({ kind: 'add', name, type, ttl: after!.ttl, rdata })
    if (!before) continue
    if (!isApexNs(op)) removals.push({ kind: 'delete_rrset', name, type })
    // The NS of the apex cannot be deleted as a whole, nor the last of them (RFC 2136 3.4.2.3, 3.4.2.4).
    else for (const rdata of goneOf(op)) lastRemovals.push({ kind: 'delete_record', name, type, rdata })
  }
  return { prerequisites, steps: [...removals, ...additions, ...lastRemovals] }
}

export const isApexNs = ({ name, type }: { name: string; type: string }): boolean => name === '@' && type === 'NS'

/** The octets that the records of an rrset take in a message at most: the name of the zone is pointed to. */
export function rrsetOctets({ name, values }: Pick<ProviderRrset, 'name' | 'values'>): number {
  const each = bareOctets(name)
  return values.reduce((sum, rdata) => sum + each + rdata.length, 0)
}

/** At most: what was, what is to be, the removal and the guard of the name. */
function octetsOf(op: Op): number {
  const bare = bareOctets(op.name)
  const before = op.before ? rrsetOctets(op.before) * (isApexNs(op) ? 2 : 1) : bare
  return before + (op.after ? rrsetOctets(op.after) : 0) + 2 * bare
}

/** A record without rdata: its name before a pointer, type, class, TTL and length. */
const bareOctets = (name: string): number => (name === '@' ? 0 : wireLength(`${name}.`) - 1) + 2 + 10

/** Steps at a name with a CNAME are one group, where the first of them stands. */
function inseparable(ops: readonly Op[]): Op[][] {
  const withCname = new Set(ops.filter(({ type }) => type === 'CNAME').map(({ name }) => name))
  const groups = new Map<string, Op[]>()
  for (const op of ops) {
    const key = withCname.has(op.name) ? op.name : stepKey(op)
    const group = groups.get(key)
    if (group) group.push(op)
    else groups.set(key, [op])
  }
  return [...groups.values()]
}

function goneOf({ type, before, after }: Op): Uint8Array[] {
  const kept = new Set(after?.values.map(value => valueKey(type, value)))
  return before!.values.filter(value => !kept.has(valueKey(type, value)))
}
