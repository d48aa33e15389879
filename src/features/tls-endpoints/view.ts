import { instant } from '../../core/clock'
import { editableView, memberView } from '../../core/members'
import { target } from '../../core/audit'
import { rowsOf } from '../../registry'
import { gradeLetters, type GradeLetter } from './grades/grade'
import { briefReason } from './grades/report'
import { tlsEndpointMembers, type TlsEndpointView } from './shapes'
import { tlsEndpoints } from './tables'

export type TlsEndpointRow = typeof tlsEndpoints.$inferSelect

export const tlsEndpointRows = rowsOf('tls_endpoint', tlsEndpoints, { label: 'host' })

export const tlsEndpointTarget = ({ id, host, port }: Pick<TlsEndpointRow, 'id' | 'host' | 'port'>) =>
  target('tls_endpoint', { id, name: `${host}:${port}` })

export const tlsEndpointView = (row: TlsEndpointRow): TlsEndpointView => ({
  id: row.id,
  ...memberView(tlsEndpointMembers, row),
  origin: row.origin,
  grade: row.grade,
  previous_grade: row.previousGrade,
  grade_changed_at: instant(row.gradeChangedAt),
  score: row.score,
  profile: row.profile,
  chain: row.chain,
  reasons: row.reasons.map(briefReason),
  certificate_id: row.certificateId,
  addresses: row.addresses,
  last_scan_id: row.lastScanId,
  last_scan_at: instant(row.lastScanAt),
  next_scan_at: instant(row.nextScanAt),
  deletes_at: instant(row.goneAt === null ? null : row.goneAt + graceMs),
  failures: row.failures,
  last_error: row.lastError,
  ...editableView(row),
})

/** How long an endpoint is kept after its cause is gone (ms). Its scans continue if it comes back. */
export const graceMs = 86_400_000

/** What the audit log shows of an endpoint: what people set. Results of scans have a history of their own. */
export const auditedView = (row: TlsEndpointRow) => ({
  id: row.id,
  ...memberView(tlsEndpointMembers, row),
  origin: row.origin,
})

/** The place of a grade in a list with problems first; endpoints without a grade come last. */
export const gradeRank = (grade: GradeLetter | null): number =>
  grade === null ? gradeLetters.length : gradeLetters.length - 1 - gradeLetters.indexOf(grade)
