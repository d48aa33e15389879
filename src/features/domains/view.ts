import { instant } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { editableView, memberView } from '../../core/members'
import { rowsOf } from '../../registry'
import { lifecycleOf } from '../registry/sources'
import { dateOf } from './effective-end'
import { daysUntil } from './expiring'
import { lifecycleDates } from './lifecycle'
import { domainMembers, type DomainView } from './shapes'
import { domains } from './tables'

export type DomainRow = typeof domains.$inferSelect

export const domainRows = rowsOf('domain', domains)

const day = (at: number | null): string | null => (at === null ? null : dateOf(at))

export const domainView = ({ config, clock }: Hub, row: DomainRow): DomainView => ({
  id: row.id,
  ...memberView(domainMembers, row),
  unicode_name: row.unicodeName,
  tld: row.tld,
  management: row.management,
  registrar: row.facts.registrar,
  status: row.status,
  status_since_at: instant(row.statusSince),
  epp_statuses: row.facts.statuses,
  registered_at: instant(row.facts.registered_at),
  expires_at: day(row.expiresAt),
  days_left: row.expiresAt === null ? null : daysUntil(row.expiresAt, clock.now()),
  expiry: {
    source: row.expirySource,
    confidence: row.expiryConfidence,
    registrar_expires_at: instant(row.registrarExpiresAt),
    registry_expires_at: instant(row.registryExpiresAt),
    given_expires_at: day(row.givenExpiresAt),
    hint: row.expiryHint,
  },
  lifecycle: lifecycleDates(row, lifecycleOf(config, row.tld), row.tld),
  auto_renew: row.autoRenew,
  locked: row.facts.locked,
  privacy: row.facts.privacy,
  nameservers: row.facts.nameservers,
  delegation: { state: row.delegationState, ...row.delegation },
  dnssec: { signed: row.facts.ds.length > 0, ds: row.facts.ds },
  glue: row.facts.glue,
  contacts: { registrant_id: row.registrantId, admin_id: row.adminId, tech_id: row.techId, billing_id: row.billingId },
  renewal_price: row.facts.renewal_price,
  capabilities: row.facts.capabilities,
  sync: {
    state: row.syncState,
    checked_at: instant(row.checkedAt),
    next_check_at: instant(row.nextCheckAt),
    error: row.syncError,
  },
  ...editableView(row),
})

/** What the audit log shows of a domain: what people set. What registries say has a history of its own. */
export const auditedView = (row: DomainRow) => ({
  id: row.id,
  ...memberView(domainMembers, row),
  expires_at: day(row.givenExpiresAt),
})
