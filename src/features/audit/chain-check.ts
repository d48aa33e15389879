import type { KeyObject } from 'node:crypto'
import { entryMac, genesis } from '../../core/audit-chain'
import { isSigned, statementHash, type Checkpoint } from './checkpoint'
import { walkChain, type Finding, type FoundEntry, type Step } from './chain-walk'

/** The input of a check of one chain. */
interface ChainEvidence {
  chain: string
  /** Ordered by number. */
  entries: FoundEntry[]
  /** From the database and the file, in any order. May contain duplicates. */
  checkpoints: Checkpoint[]
  /** The checkpoints in the database, if one is checked: it must contain every signed checkpoint. */
  stored?: readonly Checkpoint[]
  /** Counter of the last entry that the hub wrote; null for an export. */
  counted: number | null
  publicKeys: readonly KeyObject[]
  /** The MAC key; null for a check without the master key. */
  macKey: Uint8Array | null
}

/** The result of checking a chain. */
export interface ChainReport {
  chain: string
  entries: number
  /** Number of the last entry that is verified by a checkpoint or a MAC. */
  verifiedTo: number
  /** False if no entry is verified: a completely forged log would look the same. */
  isVerified: boolean
  lastSeq: number
  findings: Finding[]
}

/**
 * Checks a chain against its hashes, MACs and signed checkpoints, and reports tampering. Without the master key, entries after
 * the last checkpoint are linked but not verified.
 */
export function checkChain(evidence: ChainEvidence): ChainReport {
  const { chain, counted, macKey } = evidence
  const findings: Finding[] = []
  const checkpoints = validCheckpoints(evidence, findings)
  const boundary = checkpoints.filter(one => one.kind === 'boundary').reduce((a, b) => (b.seq > a ? b.seq : a), 0)
  const start =
    checkpoints.find(one => one.kind === 'boundary' && one.seq === boundary)?.head ?? Buffer.from(genesis).toString('hex')
  // Entries up to the boundary were pruned or are being pruned.
  const entries = evidence.entries.filter(one => one.entry.seq > boundary)
  const heads = new Map(checkpoints.filter(one => one.seq > boundary).map(one => [one.seq, one]))
  const { steps, findings: broken } = walkChain(entries, { seq: boundary, hash: start }, (one, seq) =>
    isVouched(one, seq, heads, macKey),
  )
  findings.push(...broken)

  const last = steps.at(-1)?.seq ?? boundary
  const lastSigned = checkpoints.reduce((a, b) => Math.max(a, b.seq), 0)
  // An inserted entry shifts the numbers, and with them the count.
  const highest = entries.reduce((max, one) => Math.max(max, one.entry.seq), last)
  if (last < lastSigned || highest < (counted ?? 0))
    findings.push({
      tampering: 'truncation',
      from: last + 1,
      to: Math.max(lastSigned, counted ?? 0),
      detail:
        last < lastSigned
          ? `the log ends at ${last}, but a signed checkpoint confirms entry ${lastSigned}`
          : `the log ends at ${last}, but the hub wrote ${counted} entries`,
    })

  const hasFindings = findings.length > 0
  const rehashed = rehashings(steps, heads, macKey, hasFindings)
  const appended = counted !== null ? rehashed.filter(one => one.from > counted) : []
  for (const one of rehashed) {
    if (!appended.includes(one)) findings.push(one)
    else
      findings.push({
        ...one,
        tampering: 'insertion',
        detail: 'appended, but not by the hub, whose counter does not include it',
      })
  }
  if (counted !== null && last > counted && rehashed.length === 0 && broken.length === 0)
    findings.push({ tampering: 'insertion', from: counted + 1, to: last, detail: 'the counter of the hub does not include it' })
  findings.push(...missingFromDatabase(checkpoints, last, evidence))
  const verifiedTo = macKey ? last : Math.min(last, lastSigned)
  const isVerified = entries.length === 0 || verifiedTo >= entries[0]!.entry.seq
  return {
    chain,
    entries: entries.length,
    verifiedTo,
    isVerified,
    lastSeq: last,
    findings: findings.toSorted((a, b) => a.from - b.from),
  }
}

/** Returns the checkpoints with a valid signature, deduplicated and in order. Reports invalid and missing ones. */
function validCheckpoints({ chain, checkpoints, publicKeys }: ChainEvidence, findings: Finding[]): Checkpoint[] {
  const unique = [...new Map(checkpoints.map(one => [`${one.signature} ${statementHash(one)}`, one])).values()].toSorted(
    (a, b) => a.number - b.number,
  )
  const valid = unique.filter(one => isSigned(one, publicKeys))
  for (const one of unique.filter(each => !valid.includes(each)))
    findings.push({
      tampering: 'rehashing',
      from: one.seq,
      to: one.seq,
      detail:
        `checkpoint ${one.number} of ${one.time} is not signed by ${publicKeys.length > 1 ? 'any of the keys' : 'the key'} of ` +
        'this installation',
    })
  const own = valid.filter(one => one.chain === chain)
  const hashes = new Set(own.map(statementHash))
  for (const one of own)
    if (one.prev_checkpoint !== null && !hashes.has(one.prev_checkpoint))
      findings.push({
        tampering: 'deletion',
        from: one.seq,
        to: one.seq,
        detail: `the checkpoint before number ${one.number} of ${one.time} is missing`,
      })
  return own
}

/**
 * Reports signed checkpoints up to entry `last` that are missing from the database. Altered ones are reported by their signature,
 * and those after the end of the log by the truncation.
 */
function missingFromDatabase(signed: Checkpoint[], last: number, { stored, publicKeys }: ChainEvidence): Finding[] {
  if (!stored) return []
  const storedHashes = new Set(stored.map(statementHash))
  const altered = new Set(stored.filter(one => !isSigned(one, publicKeys)).map(one => one.number))
  return signed
    .filter(one => one.seq <= last && !storedHashes.has(statementHash(one)) && !altered.has(one.number))
    .map(one => ({
      tampering: 'deletion',
      from: one.seq,
      to: one.seq,
      detail: `checkpoint ${one.number} of ${one.time} is not in the database`,
    }))
}

const isVouched = (one: FoundEntry, seq: number, heads: Map<number, Checkpoint>, macKey: Uint8Array | null): boolean =>
  heads.get(seq)?.head === one.hash || (macKey !== null && one.mac === macOf(macKey, one.hash))

/** Reports ranges that are linked correctly but were not written by the hub: all their hashes were recomputed. */
function rehashings(steps: Step[], heads: Map<number, Checkpoint>, macKey: Uint8Array | null, hasFindings: boolean): Finding[] {
  const mismatched = steps.filter(
    step =>
      !step.reported &&
      (heads.has(step.seq)
        ? heads.get(step.seq)!.head !== step.found.hash
        : macKey !== null && step.found.mac !== macOf(macKey, step.found.hash)),
  )
  if (mismatched.length === 0) return []
  // After another finding, a head may differ just because of that. Only the MACs can show whether it does.
  if (hasFindings && macKey === null) return []
  const from = mismatched[0]!.seq
  const to = mismatched.at(-1)!.seq
  const byHead = mismatched.find(step => heads.has(step.seq))
  return [
    {
      tampering: 'rehashing',
      from,
      to,
      detail: byHead
        ? `the hashes were recomputed: the hash of entry ${byHead.seq} differs from the one signed in the checkpoint of ${heads.get(byHead.seq)!.time}`
        : 'the hashes were recomputed without the master key',
    },
  ]
}

const macOf = (key: Uint8Array, hash: string) => Buffer.from(entryMac(key, Buffer.from(hash, 'hex'))).toString('hex')
