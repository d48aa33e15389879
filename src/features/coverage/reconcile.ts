import type { FoundGap } from './gaps'
import { gapSeverities, type GapSeverity } from './kinds'

/** `pending`: found by one scan so far. Not part of the API. */
export const storedGapStatuses = ['pending', 'open', 'acknowledged', 'resolved'] as const
type StoredGapStatus = (typeof storedGapStatuses)[number]

/** Scans that confirm each other are at least this far apart (ms), so that a server that is being changed is not reported. */
export const confirmAfterMs = 5 * 60_000

/** What is stored of a gap, as far as its status depends on it. Times are ms UTC. */
export interface StoredGap {
  id: string
  key: string
  status: StoredGapStatus
  severity: GapSeverity
  /** When the first of the scans was that find it, while it waits for the next one. */
  observedAt: number | null
  acknowledgedUntil: number | null
}

/** What has to be done with a gap. */
export type GapStep =
  | { do: 'add'; found: FoundGap; status: 'pending' | 'open' }
  /** `status` is that afterwards. */
  | { do: 'keep'; id: string; found: FoundGap; status: StoredGapStatus; observedAt: number | null }
  | { do: 'resolve'; id: string }
  /** It was never shown. */
  | { do: 'forget'; id: string }

/**
 * Decides what has to be done so that what is stored equals what was found. Repeated calls with the same input and result decide the same.
 * A gap that was resolved opens again as the same one. An acknowledged gap opens again if the acknowledgement has expired, or if it has
 * become worse.
 * @param now ms UTC
 */
export function* reconcile(found: readonly FoundGap[], stored: readonly StoredGap[], now: number): Generator<void, GapStep[]> {
  const byKey = new Map(stored.map(one => [one.key, one]))
  const steps: GapStep[] = []
  let done = 0
  for (const one of new Map(found.map(each => [each.key, each])).values()) {
    const before = byKey.get(one.key)
    byKey.delete(one.key)
    if (before) steps.push(kept(before, one, now))
    else steps.push({ do: 'add', found: one, status: one.observedAt === null ? 'open' : 'pending' })
    if (++done % 200 === 0) yield
  }
  for (const { id, status, observedAt } of byKey.values()) {
    if (status === 'pending') steps.push({ do: 'forget', id })
    else if (status !== 'resolved' || observedAt !== null) steps.push({ do: 'resolve', id })
    if (++done % 200 === 0) yield
  }
  return steps
}

function kept(before: StoredGap, found: FoundGap, now: number): GapStep {
  const { id, status } = before
  const step = { do: 'keep' as const, id, found }
  if (status === 'open') return { ...step, status, observedAt: null }
  if (status === 'acknowledged') {
    const isExpired = before.acknowledgedUntil !== null && before.acknowledgedUntil <= now
    const isWorse = gapSeverities.indexOf(found.severity) < gapSeverities.indexOf(before.severity)
    return { ...step, status: isExpired || isWorse ? 'open' : status, observedAt: null }
  }
  if (found.observedAt === null) return { ...step, status: 'open', observedAt: null }
  const since = before.observedAt ?? found.observedAt
  return found.observedAt - since >= confirmAfterMs
    ? { ...step, status: 'open', observedAt: null }
    : { ...step, status, observedAt: since }
}
