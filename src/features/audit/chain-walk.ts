import { entryHash, type ChainedEntry } from '../../core/audit-chain'

/** Ways to tamper with a log. */
type Tampering = 'edit' | 'insertion' | 'deletion' | 'reorder' | 'truncation' | 'rehashing'

/** Evidence of tampering in a chain. */
export interface Finding {
  tampering: Tampering
  /** Numbers of the first and the last affected entry. */
  from: number
  to: number
  detail: string
}

/** An entry as found, with its bytes in lowercase hexadecimal. */
export interface FoundEntry {
  entry: ChainedEntry
  prevHash: string
  hash: string
  mac: string
  /** Whether the columns that duplicate fields of the entry match them. */
  columnsAgree: boolean
}

/** An entry at the position in the chain that its hashes give it, whatever its stored number. */
export interface Step {
  seq: number
  found: FoundEntry
  /** There is already a finding about it. */
  reported: boolean
}

/**
 * Follows the hashes from entry to entry, and reports where the chain breaks.
 * @param start number and hash that the first entry links to
 * @param isVouched whether a checkpoint or the MAC confirms that the hub wrote this entry with this number
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
  const insert = (one: FoundEntry, detail: string) => {
    left.delete(one)
    findings.push({ tampering: 'insertion', from: one.entry.seq, to: one.entry.seq, detail })
  }
  let { seq, hash } = start
  const step = (found: FoundEntry, to: number, reported = false) => {
    left.delete(found)
    steps.push({ seq: to, found, reported })
    seq = to
    hash = found.hash
  }
  for (;;) {
    const linked = (followers.get(hash) ?? []).filter(one => left.has(one))
    if (linked.length > 0) {
      const score = (one: FoundEntry) =>
        (isVouched(one, seq + 1) ? 4 : 0) + (followers.has(one.hash) ? 2 : 0) + (fits(one, seq + 1, hash) ? 1 : 0)
      const [own, ...others] = linked.toSorted((a, b) => score(b) - score(a))
      for (const one of others) insert(one, `it takes the position of entry ${seq + 1}, which another entry has`)
      const number = own!.entry.seq
      if (number > seq + 1 && fits(own!, number, hash) && !fits(own!, seq + 1, hash)) {
        findings.push(deletion(seq + 1, number - 1, 'the next entry was linked to the previous one'))
        step(own!, number)
      } else step(own!, seq + 1)
      continue
    }
    // The chain ends or breaks here. After a break, continue with the first remaining entry that was part of a chain.
    const next = left.values().next().value
    if (!next) break
    const position = ownPosition(next, seq)
    if (position === null && !followers.has(next.hash)) insert(next, 'it is linked to no other entry')
    else {
      const to = position ?? next.entry.seq
      const before = steps.at(-1)
      if (to <= seq) insert(next, `its number should be greater than ${seq}`)
      else if (to > seq + 1) {
        findings.push(deletion(seq + 1, to - 1, `entry ${to} links to a missing entry`))
        step(next, to)
      } else if (before && isVouched(before.found, before.seq) && !isVouched(next, to))
        insert(next, 'it does not link to the entry before it')
      else {
        const edited = before ?? { seq: to, reported: false }
        findings.push({
          tampering: 'edit',
          from: edited.seq,
          to: edited.seq,
          detail: before
            ? `its hash differs from the one that entry ${to} links to`
            : 'it does not link to the start of the chain',
        })
        edited.reported = true
        step(next, to, !before)
      }
    }
  }
  findings.push(...contents(steps), ...numbers(steps, findings))
  return { steps, findings }
}

/** Whether the hash of an entry is correct for the number `seq` and the previous hash `prevHash`. */
function fits({ entry, hash }: Pick<FoundEntry, 'entry' | 'hash'>, seq: number, prevHash: string): boolean {
  try {
    return Buffer.from(entryHash(Buffer.from(prevHash, 'hex'), { ...entry, seq })).toString('hex') === hash
  } catch {
    // A value without a canonical form can't have been hashed.
    return false
  }
}

const deletion = (from: number, to: number, detail: string): Finding => ({ tampering: 'deletion', from, to, detail })

// How far renumbering, done to hide a gap, is detected.
const maxRenumbering = 1_000

/** The number that an entry was hashed with: its stored number, or a later one if entries after a gap were renumbered. */
function ownPosition(found: FoundEntry, after: number): number | null {
  const { seq } = found.entry
  if (fits(found, seq, found.prevHash)) return seq
  for (let position = after + 1; position <= after + maxRenumbering; position++)
    if (fits(found, position, found.prevHash)) return position
  return null
}

/** Reports entries whose content is not what was hashed: edited, or swapped with each other. */
function contents(steps: Step[]): Finding[] {
  const altered = steps.filter(
    ({ seq, found, reported }) => !reported && !(fits(found, seq, found.prevHash) && found.columnsAgree),
  )
  const exchanged = new Set<Step>()
  const other = (step: Step) =>
    altered.find(one => one !== step && fits({ entry: one.found.entry, hash: step.found.hash }, step.seq, step.found.prevHash))
  // Compares all pairs. With hundreds of altered entries, the distinction no longer matters.
  if (altered.length <= 300) for (const step of altered) if (other(step)) exchanged.add(step)
  for (const step of altered) step.reported = true
  return altered.map(step => ({
    tampering: exchanged.has(step) ? 'reorder' : 'edit',
    from: step.seq,
    to: step.seq,
    detail: exchanged.has(step) ? 'it has the content that another entry was hashed with' : 'its content does not match its hash',
  }))
}

/** Reports entries whose number is not the one they were hashed with, if no insertion or deletion explains it. */
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
    detail: `it was entry ${seq}, but has the number ${found.entry.seq}`,
  }))
}
