import { sql } from 'drizzle-orm'
import { resourceColumns, workspaces } from '../../../access/tables'
import { flag, int, json, text, time } from '../../../core/db/columns'
import { index, table, uniqueIndex } from '../../../core/db/dialect'
import { memberColumns } from '../../../core/members'
import { acmeAccounts } from '../accounts/tables'
import { keyModes, keyRetentions, managedCertificateMembers, managedStatuses } from './shapes'

/** Certificates that are issued and renewed here. */
export const managedCertificates = table(
  'managed_certificates',
  {
    ...resourceColumns(),
    ...memberColumns(managedCertificateMembers),
    names: json<string[]>('names').notNull(),
    // The names with spaces between them, for search.
    namesText: text('names_text').notNull(),
    acmeAccountId: text('acme_account_id')
      .notNull()
      .references(() => acmeAccounts.id),
    status: text('status', { enum: [...managedStatuses] }).notNull(),
    paused: flag('paused').notNull(),
    keyMode: text('key_mode', { enum: [...keyModes] }).notNull(),
    keyType: text('key_type').notNull(),
    // Null if the key is not here.
    keyRetention: text('key_retention', { enum: [...keyRetentions] }),
    // PEM of the certificate request, if the key is elsewhere.
    csr: text('csr'),
    // Where the agent creates keys and installs certificates; null unless it does. Server and profile of the agent.
    deliverServerId: text('deliver_server_id'),
    installProfile: text('install_profile'),
    // When the current certificate was installed.
    deliveredAt: time('delivered_at'),
    // Private key of the current certificate; null before the first one, and after it left.
    keySealed: text('key_sealed'),
    keyTakenAt: time('key_taken_at'),
    // Private key of the certificate that is being issued.
    nextKeySealed: text('next_key_sealed'),
    // Of the current certificate in the inventory; null before the first one.
    certificateId: text('certificate_id'),
    // PEM of the certificate and its issuers; null before the first one.
    chain: text('chain'),
    // The ACME account that issued it. Only this one can revoke it. The other account is used for the next certificate.
    issuedByAccountId: text('issued_by_account_id'),
    notBefore: time('not_before'),
    notAfter: time('not_after'),
    issuedAt: time('issued_at'),
    revokedAt: time('revoked_at'),
    // Identifies the certificate in requests for renewal information (RFC 9773); null if it can’t be identified.
    ariId: text('ari_id'),
    ari: json<{ start: number; end: number } | null>('ari'),
    // When renewal information is read next; null if the authority has none.
    ariCheckAt: time('ari_check_at'),
    // When the certificate is issued or renewed next; null if it isn’t.
    nextRenewalAt: time('next_renewal_at'),
    // Failed attempts since the last success.
    attempts: int('attempts').notNull(),
    lastError: json<{ code: string; detail: string } | null>('last_error'),
    // The latest order at the authority.
    orderUrl: text('order_url'),
    // The latest action.
    actionId: text('action_id'),
  },
  t => [
    index('managed_certificates_workspace').on(t.workspaceId, t.id),
    index('managed_certificates_account').on(t.acmeAccountId),
    index('managed_certificates_issuer').on(t.issuedByAccountId),
    index('managed_certificates_renewal')
      .on(t.nextRenewalAt)
      .where(sql`next_renewal_at is not null`),
    index('managed_certificates_issuing')
      .on(t.id)
      .where(sql`status in ('issuing', 'delivering')`),
    // Two certificates would replace each other.
    uniqueIndex('managed_certificates_delivery')
      .on(t.deliverServerId, t.installProfile)
      .where(sql`deliver_server_id is not null`),
    index('managed_certificates_ari')
      .on(t.ariCheckAt)
      .where(sql`ari_check_at is not null`),
  ],
)
export type ManagedCertificateRow = typeof managedCertificates.$inferSelect

/** Values of TXT records that were published for orders, until they are removed. */
export const acmeChallenges = table(
  'acme_challenges',
  {
    id: text('id').primaryKey(),
    workspaceId: text('workspace_id')
      .notNull()
      .references(() => workspaces.id, { onDelete: 'cascade' }),
    managedCertificateId: text('managed_certificate_id').notNull(),
    zoneId: text('zone_id').notNull(),
    zoneName: text('zone_name').notNull(),
    name: text('name').notNull(),
    value: text('value').notNull(),
    expiresAt: time('expires_at').notNull(),
  },
  t => [index('acme_challenges_certificate').on(t.managedCertificateId), index('acme_challenges_expiry').on(t.expiresAt)],
)
