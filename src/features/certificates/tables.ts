import { sql } from 'drizzle-orm'
import { resourceColumns, workspaces } from '../../access/tables'
import { bytes, flag, int, json, text, time } from '../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../core/db/dialect'
import { memberColumns } from '../../core/members'
import { alarmLevels } from './life'
import { presenceKinds, type CertificateSource, type Presence } from './places'
import { certificateMembers, trusts } from './shapes'

/** What is shown of a certificate and never searched. */
interface CertificateContents {
  dns_names: string[]
  ip_addresses: string[]
  key_usage: string[] | null
  extended_key_usage: string[] | null
  policies: string[]
  crl_urls: string[]
  issuer_key_id: string | null
  must_staple: boolean
  sct_count: number
}

export const certificates = table(
  'certificates',
  {
    ...resourceColumns(),
    ...memberColumns(certificateMembers),
    sha256: text('sha256').notNull(),
    tbsSha256: text('tbs_sha256').notNull(),
    der: bytes('der').notNull(),
    serialNumber: text('serial_number').notNull(),
    // Empty if the subject has none.
    commonName: text('common_name').notNull(),
    subject: text('subject').notNull(),
    issuer: text('issuer').notNull(),
    // SHA-256 of the names as DER, to find issuers.
    subjectHash: text('subject_hash').notNull(),
    issuerHash: text('issuer_hash').notNull(),
    notBefore: time('not_before').notNull(),
    notAfter: time('not_after').notNull(),
    keyType: text('key_type'),
    keyBits: int('key_bits'),
    spkiSha256: text('spki_sha256'),
    signatureAlgorithm: text('signature_algorithm').notNull(),
    contents: json<CertificateContents>('contents').notNull(),
    isCa: flag('is_ca').notNull(),
    // Whether it is only known because it issued others. Lists don’t contain it.
    isOnlyIssuer: flag('is_only_issuer').notNull(),
    isPrecertificate: flag('is_precertificate').notNull(),
    trust: text('trust', { enum: [...trusts] }).notNull(),
    // Ids of its issuers as far as they are known, the root last.
    chain: json<string[]>('chain').notNull(),
    // The same for certificates that replace each other.
    lineageId: text('lineage_id').notNull(),
    revokedAt: time('revoked_at'),
    revocationReason: text('revocation_reason'),
    // The first HTTP address of a revocation list. Null without, and for lists of other kinds.
    crlUrl: text('crl_url'),
    // When to look into it next. Null if it is not necessary, because the certificate is revoked or expired.
    crlDueAt: time('crl_due_at'),
    // When it was last looked into, and why it could not be the last time.
    crlCheckedAt: time('crl_checked_at'),
    crlError: text('crl_error'),
    // When it was last somewhere, while it isn’t anywhere.
    lastSeenAt: time('last_seen_at').notNull(),
    // The columns from here on follow from presences and from the lineage.
    supersededBy: text('superseded_by'),
    inUse: flag('in_use').notNull(),
    sources: json<CertificateSource[]>('sources').notNull(),
    presenceCount: int('presence_count').notNull(),
    autoRenewing: flag('auto_renewing').notNull(),
    renewalDueAt: time('renewal_due_at').notNull(),
    // When it starts to be expiring and critical, as in life.ts.
    expiringFrom: time('expiring_from').notNull(),
    criticalFrom: time('critical_from').notNull(),
    // The gravest level for which an event was sent, and when the next one is due. Null if there is none.
    alarmLevel: text('alarm_level', { enum: [...alarmLevels] }),
    alarmAt: time('alarm_at'),
  },
  t => [
    uniqueIndex('certificates_sha256').on(t.workspaceId, t.sha256),
    index('certificates_workspace').on(t.workspaceId, t.id),
    index('certificates_created').on(t.workspaceId, t.createdAt, t.id),
    index('certificates_not_after').on(t.workspaceId, t.notAfter, t.id),
    index('certificates_common_name').on(t.workspaceId, t.commonName, t.id),
    index('certificates_tbs').on(t.workspaceId, t.tbsSha256),
    index('certificates_subject').on(t.workspaceId, t.subjectHash),
    index('certificates_issuer').on(t.workspaceId, t.issuerHash),
    index('certificates_spki').on(t.workspaceId, t.spkiSha256),
    index('certificates_serial').on(t.workspaceId, t.serialNumber),
    index('certificates_lineage').on(t.workspaceId, t.lineageId, t.notBefore),
    index('certificates_expiring')
      .on(t.workspaceId, t.expiringFrom)
      .where(sql`in_use`),
    index('certificates_unseen')
      .on(t.lastSeenAt)
      .where(sql`not in_use`),
    index('certificates_crl')
      .on(t.crlDueAt)
      .where(sql`crl_due_at is not null and (in_use or is_only_issuer)`),
    index('certificates_alarm')
      .on(t.alarmAt)
      .where(sql`alarm_at is not null`),
  ],
)
export type CertificateRow = typeof certificates.$inferSelect

/** The names of certificates in lower case, to find those that cover a name. */
export const certificateNames = table(
  'certificate_names',
  {
    certificateId: text('certificate_id')
      .notNull()
      .references(() => certificates.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id').notNull(),
    name: text('name').notNull(),
  },
  t => [primaryKey({ columns: [t.certificateId, t.name] }), index('certificate_names_name').on(t.workspaceId, t.name)],
)

/** Where certificates are or were. */
export const certificatePresences = table(
  'certificate_presences',
  {
    // Of the certificate and the place.
    id: text('id').primaryKey(),
    certificateId: text('certificate_id')
      .notNull()
      .references(() => certificates.id, { onDelete: 'cascade' }),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    kind: text('kind', { enum: [...presenceKinds] }).notNull(),
    // As in places.ts.
    scopeId: text('scope_id').notNull(),
    place: text('place').notNull(),
    label: text('label').notNull(),
    isUse: flag('is_use').notNull(),
    data: json<Presence>('data').notNull(),
    firstSeenAt: time('first_seen_at').notNull(),
    // Not updated more than once an hour.
    lastSeenAt: time('last_seen_at').notNull(),
    // Null while the certificate is there.
    endedAt: time('ended_at'),
  },
  t => [
    index('certificate_presences_certificate').on(t.certificateId),
    index('certificate_presences_scope').on(t.workspaceId, t.kind, t.scopeId),
    index('certificate_presences_ended')
      .on(t.endedAt)
      .where(sql`ended_at is not null`),
  ],
)
export type PresenceRow = typeof certificatePresences.$inferSelect

/** Roots that a workspace trusts in addition to the public ones. */
export const certificateAuthorities = table(
  'certificate_authorities',
  {
    ...resourceColumns(),
    name: text('name').notNull(),
    sha256: text('sha256').notNull(),
    der: bytes('der').notNull(),
    subject: text('subject').notNull(),
    notBefore: time('not_before').notNull(),
    notAfter: time('not_after').notNull(),
  },
  t => [
    uniqueIndex('certificate_authorities_sha256').on(t.workspaceId, t.sha256),
    index('certificate_authorities_workspace').on(t.workspaceId, t.id),
  ],
)

/** Revocation lists of the whole installation, verified. */
export const crls = table(
  'crls',
  {
    id: text('id').primaryKey(),
    url: text('url').notNull(),
    // The address and those that it redirects to. Only workspaces that may reach all of them use the list.
    visited: json<string[]>('visited').notNull(),
    // SHA-256 of the name and of the key of its issuer, as in certificates.
    issuerHash: text('issuer_hash').notNull(),
    spkiSha256: text('spki_sha256').notNull(),
    scope: text('scope', { enum: ['all', 'user', 'ca'] }).notNull(),
    thisUpdate: time('this_update').notNull(),
    nextUpdate: time('next_update').notNull(),
    keptUntil: time('kept_until').notNull(),
    size: int('size').notNull(),
    // In how many buckets its entries are.
    buckets: int('buckets').notNull(),
  },
  t => [uniqueIndex('crls_url').on(t.url), index('crls_kept').on(t.keptUntil, t.id)],
)
export type CrlRow = typeof crls.$inferSelect

/** The entries of revocation lists by the last byte of the serial number, so that a search reads only some. */
export const crlParts = table(
  'crl_parts',
  {
    crlId: text('crl_id')
      .notNull()
      .references(() => crls.id, { onDelete: 'cascade' }),
    bucket: int('bucket').notNull(),
    entries: bytes('entries').notNull(),
  },
  t => [primaryKey({ columns: [t.crlId, t.bucket] })],
)
