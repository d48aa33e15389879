/**
 * When a certificate has to be replaced, measured against its own validity period: certificates of public CAs last 200 days from
 * 2026-03-15, 47 days from 2029-03-15 (CA/Browser Forum ballot SC-081v3), and there are profiles with six days. Times are ms UTC.
 */

const dayMs = 86_400_000

export const alarmLevels = ['expiring', 'critical', 'expired'] as const
export type AlarmLevel = (typeof alarmLevels)[number]

/** The validity period of a certificate. */
interface Validity {
  notBefore: number
  notAfter: number
}

/** When a certificate starts to count as expiring: 30 days before its end, or a third of its life if that is shorter. */
export const expiringAt = (one: Validity): number => one.notAfter - Math.min(30 * dayMs, lifeOf(one) / 3)

/** When it becomes critical: 7 days before its end, or a sixth of its life if that is shorter. */
export const criticalAt = (one: Validity): number => one.notAfter - Math.min(7 * dayMs, lifeOf(one) / 6)

/** When an automatic renewal usually replaces it: after two thirds of its life, or after half of it up to ten days. */
export const usualRenewalAt = (one: Validity): number =>
  Math.floor(one.notBefore + lifeOf(one) * (lifeOf(one) <= 10 * dayMs ? 1 / 2 : 2 / 3))

/** When a renewal that was due at this time is overdue: a tenth of the life later. */
export const overdueAt = (one: Validity, renewalDueAt: number): number => renewalDueAt + lifeOf(one) / 10

/** What alarms depend on. */
interface Alarmed extends Validity {
  renewalDueAt: number
  /** Whether it renews itself. Then there is no alarm before the renewal is overdue. */
  autoRenewing: boolean
}

/** When each level begins. With automatic renewal, `expiring` means overdue. */
const beginOf: Readonly<Record<AlarmLevel, (one: Alarmed) => number>> = {
  expiring: one => (one.autoRenewing ? overdueAt(one, one.renewalDueAt) : expiringAt(one)),
  critical: criticalAt,
  expired: one => one.notAfter,
}

/** When the first level begins. */
export const firstAlarmAt = (one: Alarmed): number => nextAlarmAt(one, null)!

/** The level at a time; null if there is nothing to do yet. */
export const levelAt = (one: Alarmed, now: number): AlarmLevel | null =>
  alarmLevels.findLast(level => now >= beginOf[level](one)) ?? null

/** When the next level after `sent` begins; null after the last one. */
export const nextAlarmAt = (one: Alarmed, sent: AlarmLevel | null): number | null => {
  const [...later] = alarmLevels.slice(sent === null ? 0 : alarmLevels.indexOf(sent) + 1)
  return later.length > 0 ? Math.ceil(Math.min(...later.map(level => beginOf[level](one)))) : null
}

/**
 * Whether a certificate of a lineage renews itself: its last two predecessors were replaced before their renewal was overdue.
 * @param lineage the certificates of the lineage up to this one, by the start of their validity
 */
export const renewsItself = (lineage: readonly (Validity & { renewalDueAt: number })[]): boolean =>
  lineage.length > 2 &&
  lineage.slice(-3, -1).every((one, at) => lineage.at(at - 2)!.notBefore <= overdueAt(one, one.renewalDueAt))

const lifeOf = ({ notBefore, notAfter }: Validity): number => Math.max(0, notAfter - notBefore)
