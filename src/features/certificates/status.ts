import { sql, type SQL } from 'drizzle-orm'
import { levelAt, overdueAt, type AlarmLevel } from './life'
import type { CertificateStatus } from './shapes'
import { certificates, type CertificateRow } from './tables'

/** A certificate that nobody has seen for so long is retired (ms). */
const retiredAfterMs = 30 * 86_400_000

type Dated = Pick<
  CertificateRow,
  | 'notBefore'
  | 'notAfter'
  | 'expiringFrom'
  | 'criticalFrom'
  | 'revokedAt'
  | 'supersededBy'
  | 'presenceCount'
  | 'lastSeenAt'
  | 'inUse'
  | 'autoRenewing'
  | 'renewalDueAt'
>

/** The status of a certificate. @param now the time (ms UTC) */
export function statusOf(row: Dated, now: number): CertificateStatus {
  if (row.revokedAt !== null) return 'revoked'
  if (row.supersededBy !== null) return 'superseded'
  if (row.presenceCount === 0 && row.lastSeenAt <= now - retiredAfterMs) return 'retired'
  if (row.notAfter <= now) return 'expired'
  if (row.notBefore > now) return 'not_yet_valid'
  return Math.min(row.expiringFrom, row.criticalFrom) <= now ? 'expiring' : 'valid'
}

/** `statusOf` in SQL. */
export const statusColumn = (now: SQL): SQL => {
  const { revokedAt, supersededBy, presenceCount, lastSeenAt, notAfter, notBefore, expiringFrom, criticalFrom } = certificates
  return sql`case
    when ${revokedAt} is not null then 'revoked'
    when ${supersededBy} is not null then 'superseded'
    when ${presenceCount} = 0 and ${lastSeenAt} <= ${now} - ${sql.raw(String(retiredAfterMs))} then 'retired'
    when ${notAfter} <= ${now} then 'expired'
    when ${notBefore} > ${now} then 'not_yet_valid'
    when ${expiringFrom} <= ${now} or ${criticalFrom} <= ${now} then 'expiring'
    else 'valid' end`
}

/** How urgent it is to replace a certificate. Null if it is not in use. */
export const levelOf = (row: Dated, now: number): AlarmLevel | null =>
  row.inUse && row.revokedAt === null ? levelAt(row, now) : null

/** `levelOf` in SQL, but empty instead of null. */
export const levelColumn = (now: SQL): SQL => {
  const { inUse, revokedAt, notAfter, expiringFrom, criticalFrom } = certificates
  return sql`case
    when not ${inUse} or ${revokedAt} is not null then ''
    when ${notAfter} <= ${now} then 'expired'
    when ${criticalFrom} <= ${now} then 'critical'
    when ${expiringFrom} <= ${now} then 'expiring'
    else '' end`
}

/** Whether an automatic renewal should have replaced a certificate already. */
export const isOverdue = (row: Dated, now: number): boolean =>
  row.autoRenewing && row.supersededBy === null && now >= overdueAt(row, row.renewalDueAt)
