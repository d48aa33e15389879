import { lockLimit } from '../../access/plans'
import type { EventDraft } from '../../core/change-result'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import { gapSeverities } from './kinds'
import type { GapEntry, GapRow } from './tables'

/** Makes the transactions that write the gaps and names of a workspace wait for each other: two hubs may evaluate them at once. */
export const lockGaps = (tx: Tx, workspaceId: string): Promise<void> => lockLimit(tx, 'tls_endpoints', workspaceId)

/** The place of a gap in a list with problems first: open ones by severity, then acknowledged ones, then resolved ones. */
export const gapRank = ({ status, severity }: Pick<GapRow, 'status' | 'severity'>): number =>
  ['open', 'acknowledged', 'resolved', 'pending'].indexOf(status) * gapSeverities.length + gapSeverities.indexOf(severity)

/** The newest entries are kept. */
const maxEntries = 50

/** The timeline of a gap with another entry. @param at ms UTC */
export const timelineWith = (before: readonly GapEntry[], entry: Omit<GapEntry, 'actor'> & Partial<GapEntry>): GapEntry[] => [
  ...before.slice(1 - maxEntries),
  { actor: null, ...entry },
]

/** The event of a gap whose status has changed. @param now ms UTC */
export const gapEvent = (row: GapRow, now: number): EventDraft => ({
  workspaceId: row.workspaceId,
  kind: 'certificate.gap_changed',
  resource: { type: 'certificate_gap', id: row.id },
  data: {
    gap: { id: row.id, kind: row.kind, severity: row.severity, name: row.name, detail: row.detail },
    status: row.status === 'resolved' || row.status === 'acknowledged' ? row.status : 'opened',
    changed_at: instant(now),
  },
})
