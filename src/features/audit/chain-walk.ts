import { entryHash, type ChainedEntry } from '../../core/audit-chain'

/** What can be done to a log behind the hub's back. */
export type Tampering = 'edit' | 'insertion' | 'deletion' | 'reorder' | 'truncation' | 'restamping'

/** One thing that is wrong in a chain. */
export interface Finding {
  tampering: Tampering
  /** Numbers of the first and the last entry that it is about. */
  from: number
  to: number
  says: string
}

/** An entry as it was found, its bytes in lower-case hexadecimal. */
export interface FoundEntry {
  entry: ChainedEntry
  prevHash: string
  hash: string
  mac: string
  /** Columns that repeat what is in the entry say the same. */
  columnsAgree: boolean
}

/** An entry in the place of the chain where its hashes put it, whatever number it carries. */
export interface Step {
  seq: number
  found: FoundEntry
  /** Something was found out about it already. */
  reported: boolean
}

/**
 * Follows the hashes from one entry to the next, and names where they break.
 * @param start what the first entry links to, and its number
 * @param isVouched whether a checkpoint or the mac says that the hub wrote this entry with this number
 */
export function walkChain(
  entries: FoundEntry[],
  start: { seq: number; hash: string },
  isVouched: (found: FoundEntry, seq: number) => boolean,
): { steps: Step[]; findings: Finding[] } {
  const findings: Finding[] = []
  const steps: Step[] = []
  const followers = Map.groupBy(entries, one => one.prevHash)
  const left = new Set(entries)
  const insert = (one: FoundEntry, says: string) => {
    left.delete(one)
    findings.push({ tampering: 'insertion', from: one.entry.seq, to: one.entry.seq, says })
  }
  let { seq, hash } = start
  const go = (found: FoundEntry, to: number, reported = false) => {
    left.delete(found)
    steps.push({ seq: to, found, reported })
    seq = to
    hash = found.hash
  }
  for (;;) {
    const linked = (followers.get(hash) ?? []).filter(one => left.has(one))
    if (linked.length > 0) {
      const worth = (one: FoundEntry) =>
        (isVouched(one, seq + 1) ? 4 : 0) + (followers.has(one.hash) ? 2 : 0) + (fits(one, seq + 1, hash) ? 1 : 0)
      const [own, ...others] = linked.toSorted((a, b) => worth(b) - worth(a))
      for (const one of others) insert(one, `it claims the place of entry ${seq + 1}, which another holds`)
      const number = own!.entry.seq
      if (number > seq + 1 && fits(own!, number, hash) && !fits(own!, seq + 1, hash)) {
        findings.push(deletion(seq + 1, number - 1, 'the entry behind them was linked to the one before'))
        go(own!, number)
      } else go(own!, seq + 1)
      continue
    }
    // The chain ends here, or breaks. Of what is left, the first that was in a chain goes on behind the break.
    const next = left.values().next().value
    if (!next) break
    const place = ownPlace(next, seq)
    if (place === null && !followers.has(next.hash)) insert(next, 'it is linked to no other entry')
    else {
      const to = place ?? next.entry.seq
      const before = steps.at(-1)
      if (to <= seq) insert(next, `it carries a number that entry ${seq} comes after`)
      else if (to > seq + 1) {
        findings.push(deletion(seq + 1, to - 1, `entry ${to} links to an entry that is not there`))
        go(next, to)
      } else if (before && isVouched(before.found, before.seq) && !isVouched(next, to))
        insert(next, 'it does not link to the entry before it')
      else {
        const edited = before ?? { seq: to, reported: false }
        findings.push({
          tampering: 'edit',
          from: edited.seq,
          to: edited.seq,
          says: before ? `it has another hash than entry ${to} links to` : 'it does not link to where the chain begins',
        })
        edited.reported = true
        go(next, to, !before)
      }
    }
  }
  findings.push(...contents(steps), ...numbers(steps, findings))
  return { steps, findings }
}

/** Whether an entry has the hash that it should have, were its number `seq` and `prevHash` before it. */
export function fits({ entry, hash }: Pick<FoundEntry, 'entry' | 'hash'>, seq: number, prevHash: string): boolean {
  try {
    return Buffer.from(entryHash(Buffer.from(prevHash, 'hex'), { ...entry, seq })).toString('hex') === hash
  } catch {
    // Texts that have no canonical form were never hashed.
    return false
  }
}

const deletion = (from: number, to: number, says: string): Finding => ({ tampering: 'deletion', from, to, says })

// How far numbers may have been moved to hide a gap and still be found out.
const furthestRenumbered = 1_000

/** The number that an entry was hashed with: the one it carries, or a later one where those behind a gap were moved up. */
function ownPlace(found: FoundEntry, after: number): number | null {
  const { seq } = found.entry
  if (fits(found, seq, found.prevHash)) return seq
  for (let place = after + 1; place <= after + furthestRenumbered; place++) if (fits(found, place, found.prevHash)) return place
  return null
}

/** Entries whose content is not what was hashed: edited, or exchanged with each other. */
function contents(steps: Step[]): Finding[] {
  const altered = steps.filter(
    ({ seq, found, reported }) => !reported && !(fits(found, seq, found.prevHash) && found.columnsAgree),
  )
  const exchanged = new Set<Step>()
  const other = (step: Step) =>
    altered.find(one => one !== step && fits({ entry: one.found.entry, hash: step.found.hash }, step.seq, step.found.prevHash))
  // Each is tried with each: beyond some hundreds it no longer matters what they are called.
  if (altered.length <= 300) for (const step of altered) if (other(step)) exchanged.add(step)
  for (const step of altered) step.reported = true
  return altered.map(step => ({
    tampering: exchanged.has(step) ? 'reorder' : 'edit',
    from: step.seq,
    to: step.seq,
    says: exchanged.has(step) ? 'it holds what another entry was hashed with' : 'its content is not what was hashed',
  }))
}

/** Entries that carry another number than they were hashed with, where no insertion or deletion explains it. */
function numbers(steps: Step[], findings: Finding[]): Finding[] {
  const inserted = findings.filter(one => one.tampering === 'insertion').length
  const deleted = findings.filter(one => one.tampering === 'deletion').reduce((sum, one) => sum + one.to - one.from + 1, 0)
  const moved = steps.filter(({ seq, found, reported }) => {
    const by = found.entry.seq - seq
    return !reported && by !== 0 && !(by > 0 && by <= inserted) && !(by < 0 && -by <= deleted)
  })
  for (const step of moved) step.reported = true
  return moved.map(({ seq, found }) => ({
    tampering: 'reorder',
    from: seq,
    to: seq,
    says: `it was entry ${seq} and carries the number ${found.entry.seq}`,
  }))
}
