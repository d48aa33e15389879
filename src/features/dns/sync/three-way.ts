import { alike } from './normalise'

/** How an rrset stands at one target. */
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

/** What somebody else did at the provider. */
export const driftKinds = ['changed', 'missing', 'added'] as const
export type DriftKind = (typeof driftKinds)[number]

export interface Standing {
  state: Extract<SyncState, 'synced' | 'pending' | 'drifted' | 'conflict' | 'unmanaged'>
  /** Null where nobody else did anything, or too much is known to tell. */
  kind: DriftKind | null
}

/**
 * How an rrset stands, from its three prints (normalise.ts); null is that it is not there. Two of them would not tell a change made here
 * from one made at the provider: the third one is what both last agreed on.
 * @param desired as it is to be
 * @param agreed as the provider was last confirmed to have it at our wish
 * @param observed as it was just read
 * @returns null where there is nothing, and is to be nothing
 */
export function standingOf(desired: string | null, agreed: string | null, observed: string | null): Standing | null {
  if (desired === null && observed === null) return null
  if (alike(desired, observed)) return { state: 'synced', kind: null }
  if (desired === null && agreed === null) return { state: 'unmanaged', kind: 'added' }
  if (alike(observed, agreed)) return { state: 'pending', kind: null }
  if (alike(desired, agreed)) return { state: 'drifted', kind: observed === null ? 'missing' : 'changed' }
  return { state: 'conflict', kind: null }
}

/** States that count as synced: what the rules leave alone is as it should be. */
export const isSynced = (state: SyncState): boolean => state === 'synced' || state === 'ignored'

// The first that any target has is that of the whole.
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

/** The state that stands for those at several targets. @param states none is `synced`: the hub itself serves what is kept here */
export const worstOf = (states: Iterable<SyncState>): SyncState => {
  const all = new Set(states)
  return worstFirst.find(one => all.has(one)) ?? 'synced'
}

/** What is found among record marks: every record that is not synced, and the state of those that are not simply synced. */
export const unsyncedMark = '!unsynced'
export const stateMark = (state: SyncState): string => `!${state}`
