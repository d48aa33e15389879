import type { ConfirmedStatus } from './check'

/** Confirmed status of a monitor at one location, and the number of consecutive results that contradict it. */
export interface Confirmation {
  status: ConfirmedStatus
  contradictions: number
}

/** Consecutive results needed: failures to become down, successes to become up again. Whole numbers from 1. */
interface ConfirmationRule {
  confirm: number
  recover: number
}

export const defaultConfirmationRule: ConfirmationRule = { confirm: 2, recover: 2 }

/**
 * The status after one more result. `ok`: anything but `down`. From `new`, the first success is `up`: there is no earlier status to
 * outweigh. While there are contradictions, checks run at the retry interval.
 */
export function nextConfirmation(before: Confirmation, ok: boolean, rule: ConfirmationRule): Confirmation {
  if (ok === (before.status === 'up') && before.status !== 'new') return { status: before.status, contradictions: 0 }
  const needed = ok ? (before.status === 'new' ? 1 : rule.recover) : rule.confirm
  // A `new` location only counts failures: the first success decides.
  const contradictions = before.contradictions + 1
  if (contradictions < needed) return { status: before.status, contradictions }
  return { status: ok ? 'up' : 'down', contradictions: 0 }
}
