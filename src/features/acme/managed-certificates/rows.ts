import { instant } from '../../../core/clock'
import { editableView, memberView } from '../../../core/members'
import { rowsOf } from '../../../registry'
import { managedCertificateMembers, type ManagedCertificateView } from './shapes'
import { managedCertificates, type ManagedCertificateRow } from './tables'

export const managedRows = rowsOf('managed_certificate', managedCertificates, { label: 'names' })

export const managedView = (row: ManagedCertificateRow): ManagedCertificateView => ({
  id: row.id,
  names: row.names,
  acme_account_id: row.acmeAccountId,
  ...memberView(managedCertificateMembers, row),
  key: { mode: row.keyMode, type: row.keyType, retention: row.keyRetention },
  csr: row.csr,
  deliver: { server_id: row.deliverServerId, install_profile: row.installProfile, installed_at: instant(row.deliveredAt) },
  status: row.status,
  paused: row.paused,
  certificate_id: row.certificateId,
  not_before: instant(row.notBefore),
  not_after: instant(row.notAfter),
  issued_at: instant(row.issuedAt),
  revoked_at: instant(row.revokedAt),
  key_available: row.keySealed !== null,
  next_renewal_at: instant(row.nextRenewalAt),
  ari: row.ari && { start: instant(row.ari.start), end: instant(row.ari.end) },
  attempts: row.attempts,
  last_error: row.lastError,
  action_id: row.actionId,
  ...editableView(row),
})
