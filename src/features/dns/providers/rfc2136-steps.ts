import { wireLength } from '../../../dns/name'
import type { Prerequisite, UpdateStep } from '../../../dns/update'
import { absoluteOf, rrsetKey } from '../zones/names'
import type { Op, ProviderRrset } from './provider'
import { valueKey } from './same-rrset'

/**
 * Splits steps, in order, into messages with as many steps as fit. Steps at a name with a CNAME stay together, since a CNAME can't
 * coexist with other records at any time.
 * @param room octets for records in a message
 * @returns `tooLong`: steps that don't fit into any message
 */
export function batchesOf(ops: readonly Op[], room: number): { batches: Op[][]; tooLong: Op[] } {
  const batches: Op[][] = []
  const tooLong: Op[] = []
  let left = 0
  for (const group of groupByCname(ops)) {
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
 * Builds the prerequisites and changes of a message. Each rrset must be as it was read (RFC 2136 section 2.4), except for its TTL,
 * which prerequisites can't check. Deletions come before additions, since a server ignores additions that conflict with existing
 * records (RFC 2136 section 3.4.2.2).
 */
export function updateOf(zoneName: string, ops: readonly Op[]): { prerequisites: Prerequisite[]; steps: UpdateStep[] } {
  const prerequisites: Prerequisite[] = []
  const removals: UpdateStep[] = []
  const additions: UpdateStep[] = []
  const lastRemovals: UpdateStep[] = []
  const keys = new Set(ops.map(rrsetKey))
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
      // The server would silently ignore an addition that conflicts with a CNAME.
      if (type === 'CNAME' && alone.has(op.name)) prerequisites.push({ kind: 'name_not_in_use', name })
      else if (!keys.has(rrsetKey({ name: op.name, type: 'CNAME' })))
        prerequisites.push({ kind: 'rrset_absent', name, type: 'CNAME' })
    }
    for (const rdata of after?.values ?? []) additions.push({ kind: 'add', name, type, ttl: after!.ttl, rdata })
    if (!before) continue
    if (!isApexNs(op)) removals.push({ kind: 'delete_rrset', name, type })
    // Apex NS can't be deleted as a whole, nor can the last one (RFC 2136 sections 3.4.2.3 and 3.4.2.4).
    else for (const rdata of removedValues(op)) lastRemovals.push({ kind: 'delete_record', name, type, rdata })
  }
  return { prerequisites, steps: [...removals, ...additions, ...lastRemovals] }
}

export const isApexNs = ({ name, type }: { name: string; type: string }): boolean => name === '@' && type === 'NS'

/** Maximum octets of the records of an rrset in a message. The zone name is compressed. */
export function rrsetOctets({ name, values }: Pick<ProviderRrset, 'name' | 'values'>): number {
  const each = bareOctets(name)
  return values.reduce((sum, rdata) => sum + each + rdata.length, 0)
}

/** Maximum octets: old and new records, the deletion, and the prerequisite for the name. */
function octetsOf(op: Op): number {
  const bare = bareOctets(op.name)
  const before = op.before ? rrsetOctets(op.before) * (isApexNs(op) ? 2 : 1) : bare
  return before + (op.after ? rrsetOctets(op.after) : 0) + 2 * bare
}

/** A record without rdata: name with a compression pointer, type, class, TTL and length. */
const bareOctets = (name: string): number => (name === '@' ? 0 : wireLength(`${name}.`) - 1) + 2 + 10

/** Groups all steps at a name with a CNAME, at the position of the first. */
function groupByCname(ops: readonly Op[]): Op[][] {
  const withCname = new Set(ops.filter(({ type }) => type === 'CNAME').map(({ name }) => name))
  const groups = new Map<string, Op[]>()
  for (const op of ops) {
    const key = withCname.has(op.name) ? op.name : rrsetKey(op)
    const group = groups.get(key)
    if (group) group.push(op)
    else groups.set(key, [op])
  }
  return [...groups.values()]
}

function removedValues({ type, before, after }: Op): Uint8Array[] {
  const remaining = new Set(after?.values.map(value => valueKey(type, value)))
  return before!.values.filter(value => !remaining.has(valueKey(type, value)))
}
