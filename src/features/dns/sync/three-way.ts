import { fingerprintsMatch } from './fingerprint'

/** State of an rrset at a target. */
export const syncStates = [
  'synced',
  'pending',
  'drifted',
  'conflict',
  'unmanaged',
  'ignored',
  'unsupported',
  'error',
  'unknown',
] as const
export type SyncState = (typeof syncStates)[number]

/** Type of an external change. */
export const driftKinds = ['changed', 'deleted', 'added'] as const
type DriftKind = (typeof driftKinds)[number]

/** What is known of an rrset at a target from earlier syncs. */
export interface KnownState {
  agreed: string | null
  observed: string | null
  observedTtl: number | null
  observedValues: string[] | null
  /** Fingerprint of the last step sent, empty for a deletion; null when none is in flight. */
  sent: string | null
  state: SyncState
  kind: DriftKind | null
  detail: string | null
}

/** Current state of an rrset at a target. */
export interface RrsetSyncState extends KnownState {
  name: string
  type: string
}

interface ThreeWayState {
  state: Extract<SyncState, 'synced' | 'pending' | 'drifted' | 'conflict' | 'unmanaged'>
  /** Null if there was no external change, or its type is unclear. */
  kind: DriftKind | null
}

/**
 * Three-way comparison of fingerprints (fingerprint.ts); null means absent. The last agreed state distinguishes local changes from
 * external ones.
 * @param agreed as last confirmed to match at the provider
 * @param observed as just read
 * @returns null if the rrset is neither desired nor observed
 */
export function threeWayState(desired: string | null, agreed: string | null, observed: string | null): ThreeWayState | null {
  if (desired === null && observed === null) return null
  if (fingerprintsMatch(desired, observed)) return { state: 'synced', kind: null }
  if (desired === null && agreed === null) return { state: 'unmanaged', kind: 'added' }
  if (fingerprintsMatch(observed, agreed)) return { state: 'pending', kind: null }
  if (fingerprintsMatch(desired, agreed)) return { state: 'drifted', kind: observed === null ? 'deleted' : 'changed' }
  return { state: 'conflict', kind: null }
}

/** States that count as in sync. Ignored rrsets do. */
export const isSynced = (state: SyncState): boolean => state === 'synced' || state === 'ignored'

// Most important first: the state of a zone is the first one that any target has.
const worstFirst: readonly SyncState[] = [
  'error',
  'conflict',
  'drifted',
  'unsupported',
  'unmanaged',
  'pending',
  'unknown',
  'synced',
  'ignored',
]

/** Combines the states of several targets. @param states if empty, `synced`: only the hub serves the zone */
export const worstOf = (states: Iterable<SyncState>): SyncState => {
  const all = new Set(states)
  return worstFirst.find(one => all.has(one)) ?? 'synced'
}

/** Record marks for filters: all records that are out of sync, and those in each state other than `synced`. */
export const unsyncedMark = '!unsynced'
export const stateMark = (state: SyncState): string => `!${state}`
