import type { EventDraft } from '../../core/change-result'
import { instant } from '../../core/clock'
import { gapSeverities } from './kinds'
import type { GapRow } from './tables'

/** The place of a gap in a list with problems first: open ones by severity, then acknowledged ones, then resolved ones. */
export const gapRank = ({ status, severity }: Pick<GapRow, 'status' | 'severity'>): number =>
  ['open', 'acknowledged', 'resolved', 'pending'].indexOf(status) * gapSeverities.length + gapSeverities.indexOf(severity)

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
