import { and, countDistinct, desc, eq, gt, isNull, or, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { forIds } from '../../core/db/id-list'
import { prepared } from '../../core/db/prepared'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { editableView, memberView } from '../../core/members'
import { findingsOf } from './findings'
import { expiringAt } from './life'
import { isOverdue, levelOf, statusOf } from './status'
import { certificateMembers, maxShownNames, type CertificatePresenceView, type CertificateView } from './shapes'
import { certificatePresences, certificates, type CertificateRow, type PresenceRow } from './tables'

const dayMs = 86_400_000
/** Ended presences are kept and shown this long. */
export const endedForMs = 90 * dayMs
const maxPresences = { one: 100, list: 10 }

declare module '../../core/hub' {
  interface Hub {
    /** IDs of the unresolved gaps of certificates of a workspace, by the ID of the certificate. */
    gapIdsOfCertificates(
      read: Reader,
      workspaceId: string,
      certificateIds: readonly string[],
    ): Promise<ReadonlyMap<string, string[]>>
  }
}

/** Certificates of a workspace as the API returns them. */
export async function certificateViews(
  hub: Hub,
  read: Reader,
  rows: readonly CertificateRow[],
  shown: keyof typeof maxPresences = 'list',
): Promise<CertificateView[]> {
  const now = hub.clock.now()
  const lineages = await lineagesByKey(read, rows)
  const ids = rows.map(row => row.id)
  const gaps = rows.length === 0 ? new Map() : await hub.gapIdsOfCertificates(read, rows[0]!.workspaceId, ids)
  const places = await Promise.all(rows.map(row => presencesOf(read, row, now, shown)))
  return rows.map((row, at) => ({
    ...viewOf(row, places[at]!, lineages.get(row.spkiSha256 ?? '') ?? 0, now, shown),
    gap_ids: gaps.get(row.id) ?? [],
  }))
}

/** Where a certificate is, then where it was. */
async function presencesOf(
  read: Reader,
  { id, presenceCount }: CertificateRow,
  now: number,
  shown: keyof typeof maxPresences,
): Promise<PresenceRow[]> {
  if (shown === 'list' && presenceCount === 0) return []
  const { certificateId, endedAt, lastSeenAt } = certificatePresences
  const rows = await prepared(read, `presences-of-certificate|${shown}`, handle =>
    handle
      .select()
      .from(certificatePresences)
      .where(
        and(
          eq(certificateId, sql.placeholder('id')),
          shown === 'list' ? isNull(endedAt) : or(isNull(endedAt), gt(endedAt, sql.placeholder('since'))),
        ),
      )
      .orderBy(desc(lastSeenAt), certificatePresences.id)
      .limit(maxPresences[shown]),
  ).execute({ id, since: now - endedForMs })
  return rows.sort((a, b) => Number(a.endedAt !== null) - Number(b.endedAt !== null))
}

/** In how many lineages the keys of certificates are used. */
async function lineagesByKey(read: Reader, rows: readonly CertificateRow[]): Promise<Map<string, number>> {
  const keys = [...new Set(rows.flatMap(row => row.spkiSha256 ?? []))]
  const { workspaceId, spkiSha256, lineageId } = certificates
  const counts = await forIds(keys, (size, list, values) =>
    prepared(read, `lineages-of-keys|${size}`, handle =>
      handle
        .select({ key: spkiSha256, count: countDistinct(lineageId) })
        .from(certificates)
        .where(and(eq(workspaceId, sql.placeholder('workspaceId')), sql`${spkiSha256} in ${list}`))
        .groupBy(spkiSha256),
    ).execute({ ...values, workspaceId: rows[0]!.workspaceId }),
  )
  return new Map(counts.map(one => [one.key!, one.count]))
}

function viewOf(
  row: CertificateRow,
  places: readonly PresenceRow[],
  lineages: number,
  now: number,
  shown: keyof typeof maxPresences,
): Omit<CertificateView, 'gap_ids'> {
  const { dns_names, ip_addresses, ...contents } = row.contents
  const maxNames = shown === 'list' ? maxShownNames : Infinity
  return {
    id: row.id,
    ...memberView(certificateMembers, row),
    fingerprint_sha256: row.sha256,
    tbs_sha256: row.tbsSha256,
    serial_number: row.serialNumber,
    common_name: row.commonName || null,
    dns_names: dns_names.slice(0, maxNames),
    ip_addresses: ip_addresses.slice(0, maxNames),
    name_count: dns_names.length + ip_addresses.length,
    subject: row.subject,
    issuer: row.issuer,
    issuer_key_id: contents.issuer_key_id,
    not_before: instant(row.notBefore),
    not_after: instant(row.notAfter),
    lifetime_seconds: Math.floor((row.notAfter - row.notBefore) / 1000),
    key: { type: row.keyType, bits: row.keyBits, spki_sha256: row.spkiSha256 },
    signature_algorithm: row.signatureAlgorithm,
    key_usage: contents.key_usage,
    extended_key_usage: contents.extended_key_usage,
    policies: contents.policies,
    must_staple: contents.must_staple,
    sct_count: contents.sct_count,
    precertificate: row.isPrecertificate,
    is_ca: row.isCa,
    trust: row.trust,
    status: statusOf(row, now),
    level: levelOf(row, now),
    days_left: daysLeft(row, now),
    expiring_at: instant(Math.floor(expiringAt(row))),
    critical_at: instant(row.criticalFrom),
    renewal_due_at: instant(row.renewalDueAt),
    auto_renewing: row.autoRenewing,
    renewal_overdue: isOverdue(row, now),
    lineage_id: row.lineageId,
    superseded_by: row.supersededBy,
    revoked_at: instant(row.revokedAt),
    revocation_reason: row.revocationReason,
    revocation_checked_at: instant(row.crlCheckedAt),
    revocation_error: row.crlError,
    in_use: row.inUse,
    sources: row.sources,
    presence_count: row.presenceCount,
    presences: places.map(presenceView),
    findings: findingsOf(
      row,
      places.filter(one => one.endedAt === null),
      lineages,
    ),
    chain: row.chain,
    ...editableView(row),
  }
}

/** Whole days until a certificate expires; negative if it has. */
export const daysLeft = ({ notAfter }: Pick<CertificateRow, 'notAfter'>, now: number): number =>
  Math.floor((notAfter - now) / dayMs)

const noPlace = {
  ...{
    endpoint_id: null,
    server_id: null,
    managed_certificate_id: null,
    host: null,
    port: null,
    address: null,
  },
  ...{ servername: null, process: null, path: null, key: null, mode: null, references: [] },
}

function presenceView({ kind, data, firstSeenAt, lastSeenAt, endedAt }: PresenceRow): CertificatePresenceView {
  return {
    kind,
    ...noPlace,
    ...placeView(data),
    first_seen_at: instant(firstSeenAt),
    last_seen_at: instant(lastSeenAt),
    ended_at: instant(endedAt),
  }
}

function placeView(data: PresenceRow['data']): Partial<CertificatePresenceView> {
  switch (data.kind) {
    case 'endpoint': {
      const { endpointId: endpoint_id, host, port, address, servername = null } = data
      return { endpoint_id, host, port, address, servername }
    }
    case 'file':
      return { server_id: data.serverId, path: data.path, key: data.key, mode: data.mode, references: [...data.references] }
    case 'served': {
      const { serverId: server_id, port, address, servername, process } = data
      return { server_id, port, address, servername, process }
    }
    case 'issued':
      return { managed_certificate_id: data.managedCertificateId }
    default:
      return {}
  }
}
