import type { KeyObject } from 'node:crypto'
import { entryMac, genesis } from '../../core/audit-chain'
import { isSigned, statementHash, type Checkpoint } from './checkpoint'
import { walkChain, type Finding, type FoundEntry, type Step } from './chain-walk'

/** What is known of one chain. */
export interface ChainEvidence {
  chain: string
  /** In order of their numbers. */
  entries: FoundEntry[]
  /** From the database and from the file, in any order, also twice. */
  checkpoints: Checkpoint[]
  /** Those that the database has, where one is looked at: every one that was signed must be among them. */
  stored?: readonly Checkpoint[]
  /** The last number that the hub has counted; null for an export. */
  counted: number | null
  publicKeys: readonly KeyObject[]
  /** The key of the macs; null for a check without the master key. */
  macKey: Uint8Array | null
}

/** What was found out about a chain. */
export interface ChainVerdict {
  chain: string
  entries: number
  /** Number of the last entry that a checkpoint or a mac vouches for. */
  provenTo: number
  /** False where nothing vouches for any entry: someone who made up the whole log would leave the same. */
  isProven: boolean
  lastSeq: number
  findings: Finding[]
}

/**
 * Holds a chain against its hashes, its macs and its signed checkpoints, and names what was done to it. What is behind the last
 * checkpoint is only linked, not proven, where the master key is not at hand.
 */
export function checkChain(evidence: ChainEvidence): ChainVerdict {
  const { chain, counted, macKey } = evidence
  const findings: Finding[] = []
  const checkpoints = trusted(evidence, findings)
  const boundary = checkpoints.filter(one => one.kind === 'boundary').reduce((a, b) => (b.seq > a ? b.seq : a), 0)
  const start =
    checkpoints.find(one => one.kind === 'boundary' && one.seq === boundary)?.head ?? Buffer.from(genesis).toString('hex')
  // What is below the boundary is being deleted, or was.
  const entries = evidence.entries.filter(one => one.entry.seq > boundary)
  const heads = new Map(checkpoints.filter(one => one.seq > boundary).map(one => [one.seq, one]))
  const { steps, findings: broken } = walkChain(entries, { seq: boundary, hash: start }, (one, seq) =>
    isVouched(one, seq, heads, macKey),
  )
  findings.push(...broken)

  const last = steps.at(-1)?.seq ?? boundary
  const lastSigned = checkpoints.reduce((a, b) => Math.max(a, b.seq), 0)
  // An entry that was squeezed in has moved the numbers, and with them the count.
  const highest = entries.reduce((most, one) => Math.max(most, one.entry.seq), last)
  if (last < lastSigned || highest < (counted ?? 0))
    findings.push({
      tampering: 'truncation',
      from: last + 1,
      to: Math.max(lastSigned, counted ?? 0),
      says:
        last < lastSigned
          ? `the log ends at ${last}, and a signed checkpoint vouches for entry ${lastSigned}`
          : `the log ends at ${last}, and the hub has counted to ${counted}`,
    })

  const known = findings.length > 0
  const restamped = restampings(steps, heads, macKey, known)
  const appended = counted !== null ? restamped.filter(one => one.from > counted) : []
  for (const one of restamped) {
    if (!appended.includes(one)) findings.push(one)
    else
      findings.push({
        ...one,
        tampering: 'insertion',
        says: 'it was appended by someone else than the hub, which has not counted it',
      })
  }
  if (counted !== null && last > counted && restamped.length === 0 && broken.length === 0)
    findings.push({ tampering: 'insertion', from: counted + 1, to: last, says: 'the hub has not counted it' })
  findings.push(...takenOut(checkpoints, last, evidence))
  const provenTo = macKey ? last : Math.min(last, lastSigned)
  const isProven = entries.length === 0 || provenTo >= entries[0]!.entry.seq
  return {
    chain,
    entries: entries.length,
    provenTo,
    isProven,
    lastSeq: last,
    findings: findings.toSorted((a, b) => a.from - b.from),
  }
}

/** The checkpoints that carry a right signature, each once, in their order. One that does not, or is missing between two, is told. */
function trusted({ chain, checkpoints, publicKeys }: ChainEvidence, findings: Finding[]): Checkpoint[] {
  const unique = [...new Map(checkpoints.map(one => [`${one.signature} ${statementHash(one)}`, one])).values()].toSorted(
    (a, b) => a.number - b.number,
  )
  const good = unique.filter(one => isSigned(one, publicKeys))
  for (const one of unique.filter(each => !good.includes(each)))
    findings.push({
      tampering: 'restamping',
      from: one.seq,
      to: one.seq,
      says: `checkpoint ${one.number} of ${one.time} is not signed by ${publicKeys.length > 1 ? 'any of the keys' : 'the key'} of this installation`,
    })
  const own = good.filter(one => one.chain === chain)
  const hashes = new Set(own.map(statementHash))
  for (const one of own)
    if (one.prev_checkpoint !== null && !hashes.has(one.prev_checkpoint))
      findings.push({
        tampering: 'deletion',
        from: one.seq,
        to: one.seq,
        says: `the checkpoint before number ${one.number} of ${one.time} is missing`,
      })
  return own
}

/**
 * Checkpoints up to entry `last` that were signed and kept elsewhere, and are no longer where the hub put them. One that was altered
 * there is told by its signature, and those behind the end of the log by the truncation.
 */
function takenOut(signed: Checkpoint[], last: number, { stored, publicKeys }: ChainEvidence): Finding[] {
  if (!stored) return []
  const there = new Set(stored.map(statementHash))
  const altered = new Set(stored.filter(one => !isSigned(one, publicKeys)).map(one => one.number))
  return signed
    .filter(one => one.seq <= last && !there.has(statementHash(one)) && !altered.has(one.number))
    .map(one => ({
      tampering: 'deletion',
      from: one.seq,
      to: one.seq,
      says: `checkpoint ${one.number} of ${one.time} is not in the database`,
    }))
}

const isVouched = (one: FoundEntry, seq: number, heads: Map<number, Checkpoint>, macKey: Uint8Array | null): boolean =>
  heads.get(seq)?.head === one.hash || (macKey !== null && one.mac === macOf(macKey, one.hash))

/** Stretches of the chain that link well and are still not what the hub wrote: all their hashes were made anew. */
function restampings(steps: Step[], heads: Map<number, Checkpoint>, macKey: Uint8Array | null, known: boolean): Finding[] {
  const wrong = steps.filter(
    step =>
      !step.reported &&
      (heads.has(step.seq)
        ? heads.get(step.seq)!.head !== step.found.hash
        : macKey !== null && step.found.mac !== macOf(macKey, step.found.hash)),
  )
  if (wrong.length === 0) return []
  // After another finding a head may differ for that reason alone; the macs tell whether it does.
  if (known && macKey === null) return []
  const from = wrong[0]!.seq
  const to = wrong.at(-1)!.seq
  const byHead = wrong.find(step => heads.has(step.seq))
  return [
    {
      tampering: 'restamping',
      from,
      to,
      says: byHead
        ? `the hashes were made anew: entry ${byHead.seq} has another hash than the checkpoint of ${heads.get(byHead.seq)!.time} signed`
        : 'the hashes were made anew by someone without the master key',
    },
  ]
}

const macOf = (key: Uint8Array, hash: string) => Buffer.from(entryMac(key, Buffer.from(hash, 'hex'))).toString('hex')
