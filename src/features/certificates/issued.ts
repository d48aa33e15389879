import { and, eq } from 'drizzle-orm'
import type { EventDraft } from '../../core/change-result'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import { endPresences, recordCertificates } from './record'
import { refreshCertificates } from './refresh'
import { certificates, type CertificateRow } from './tables'

/** A certificate that was issued for a managed certificate. */
interface Issued {
  managedCertificateId: string
  /** In DER form, the certificate first. */
  chain: readonly Uint8Array[]
  isRenewal: boolean
}

/** Adds a certificate that was issued here to the inventory. @returns null if the workspace has too many certificates */
export async function recordIssued(
  tx: Tx,
  workspaceId: string,
  { managedCertificateId, chain, isRenewal }: Issued,
  now: number,
): Promise<{ certificateId: string; events: EventDraft[] } | null> {
  const presence = { kind: 'issued', managedCertificateId } as const
  const [id] = await recordCertificates(tx, workspaceId, [{ chain, presence }], now)
  if (!id) return null
  const [row] = await tx.select().from(certificates).where(eq(certificates.id, id))
  const event: EventDraft = {
    workspaceId,
    kind: 'certificate.issued',
    resource: { type: 'certificate', id },
    data: {
      certificate: certificateInEvent(row!),
      managed_certificate_id: managedCertificateId,
      renewal: isRenewal,
      issued_at: instant(now),
    },
  }
  return { certificateId: id, events: [event] }
}

/**
 * Updates what the inventory knows about a certificate that was issued here, and what follows from it: when it will be renewed (ms UTC),
 * or that it was revoked.
 */
export async function updateIssued(
  tx: Tx,
  workspaceId: string,
  certificateId: string | null,
  changes: Partial<Pick<CertificateRow, 'renewalDueAt' | 'revokedAt' | 'revocationReason'>>,
  now: number,
): Promise<void> {
  if (certificateId === null) return
  await tx
    .update(certificates)
    .set(changes)
    .where(and(eq(certificates.workspaceId, workspaceId), eq(certificates.id, certificateId)))
  await refreshCertificates(tx, workspaceId, new Set([certificateId]), now)
}

/** The certificate of a managed certificate that was deleted is no longer one that was issued here. */
export const forgetIssued = (tx: Tx, workspaceId: string, managedCertificateId: string, now: number) =>
  endPresences(tx, workspaceId, [{ kind: 'issued', scopeId: managedCertificateId }], now)

/** A certificate as events contain it. */
export const certificateInEvent = (row: CertificateRow): EventDraft<'certificate.issued'>['data']['certificate'] => ({
  id: row.id,
  common_name: row.commonName || null,
  dns_names: row.contents.dns_names,
  issuer: row.issuer,
  serial_number: row.serialNumber,
  fingerprint_sha256: row.sha256,
  not_before: instant(row.notBefore),
  not_after: instant(row.notAfter),
})
