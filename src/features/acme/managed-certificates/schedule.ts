const dayMs = 86_400_000
const hourMs = 3_600_000
const shortLifeMs = 10 * dayMs
// Spreads renewals of certificates that were issued together.
const spread = 0.05
/** Delays after failures in a row. */
const backoffMs = [60_000, 600_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000]

/** When a certificate is renewed without renewal information: after 2/3 of its life, or 1/2 if it is short, or a little earlier. */
function renewalByLife(notBefore: number, notAfter: number, random: () => number): number {
  const life = notAfter - notBefore
  const part = life <= shortLifeMs ? 1 / 2 : 2 / 3
  return Math.floor(notBefore + life * (part - random() * spread))
}

/** A random moment in a window (RFC 9773 section 4.2). */
const momentIn = ({ start, end }: { start: number; end: number }, random: () => number): number =>
  Math.floor(start + Math.max(0, end - start) * random())

/** What the time of a renewal depends on; times in ms UTC. */
interface Renewable {
  issuedAt: number
  notBefore: number
  notAfter: number
  /** The window that the authority suggests; null if it doesn’t. */
  ari: { start: number; end: number } | null
}

/**
 * When a certificate is renewed: in the window that the authority suggests, otherwise by its life. Not in the first hour (or the first
 * tenth of a shorter life), so that a wrong window doesn’t lead to one certificate after the other; and before its last tenth.
 */
export function renewalAt({ issuedAt, notBefore, notAfter, ari }: Renewable, now: number, random: () => number): number {
  const tenth = Math.floor((notAfter - notBefore) / 10)
  const wanted = ari ? momentIn(ari, random) : renewalByLife(notBefore, notAfter, random)
  return Math.max(now, issuedAt + Math.min(hourMs, tenth), Math.min(wanted, notAfter - tenth))
}

/** The next attempt after failures in a row. @param retryAfterMs the earliest time that the authority asks for */
export const nextAttempt = (failures: number, now: number, retryAfterMs: number | null): number =>
  now + Math.max(backoffMs[Math.min(failures, backoffMs.length) - 1]!, retryAfterMs ?? 0)
