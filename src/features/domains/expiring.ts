import type { DomainStatus } from './statuses'

const dayMs = 86_400_000
const usualDays = [60, 30, 14, 7, 3, 1, 0]
const autoRenewDays = [7, 3, 1, 0]
/** Statuses in which the end of the registration still matters. */
const warned: readonly DomainStatus[] = ['active', 'suspended', 'expired', 'unknown']
/** Stands for the notice after the end of a registration that should have been renewed automatically. */
const afterEnd = -1

interface Ending {
  status: DomainStatus
  /** ms UTC; null if it is not known. */
  expiresAt: number | null
  notifyDays: number[] | null
  autoRenew: boolean | null
  notifiedEnd: number | null
  notifiedDay: number | null
  createdAt: number
}

/** Days from today to the date of a time (UTC); negative if it is past. */
export const daysUntil = (at: number, now: number): number => Math.floor(at / dayMs) - Math.floor(now / dayMs)

/**
 * The notice that is due: the smallest number of days that has been reached, unless a notice for it or for fewer days was sent about the
 * same date. Null if none is due.
 */
export function dueNotice(ending: Ending, now: number): number | null {
  const { expiresAt, status, autoRenew, createdAt } = ending
  if (expiresAt === null || !warned.includes(status)) return null
  const left = daysUntil(expiresAt, now)
  // It was over before anyone asked.
  if (left < 0 && daysUntil(createdAt, expiresAt) > 0) return null
  const reached = daysOf(ending).filter(day => day >= left)
  if (autoRenew && status === 'expired') reached.push(afterEnd)
  if (reached.length === 0) return null
  const tightest = Math.min(...reached)
  return tightest < lastNotice(ending) ? tightest : null
}

/** When the next notice becomes due, or the registration ends (ms UTC). Null if neither is in the future. */
export function nextDue(ending: Ending, now: number): number | null {
  const { expiresAt, status } = ending
  if (expiresAt === null || !warned.includes(status)) return null
  const endDay = Math.floor(expiresAt / dayMs)
  const times = [expiresAt, ...daysOf(ending).map(day => (endDay - day) * dayMs)].filter(at => at > now)
  return times.length === 0 ? null : Math.min(...times)
}

const daysOf = ({ notifyDays, autoRenew }: Ending): readonly number[] => notifyDays ?? (autoRenew ? autoRenewDays : usualDays)

/** A moved date begins with the first notice again, unless it moved by a day: sources have different time zones. */
const lastNotice = ({ expiresAt, notifiedEnd, notifiedDay }: Ending): number =>
  notifiedEnd !== null && notifiedDay !== null && Math.abs(daysUntil(notifiedEnd, expiresAt!)) <= 1 ? notifiedDay : Infinity
