import { yearBefore } from '../registry/reading'
import type { expiryConfidences, expirySources } from './statuses'

const dayMs = 86_400_000
/** How long a registrar’s date is believed while the registry still has an older one. */
const registryDelayMs = 45 * dayMs

/** What is known about the end of a registration. Times in ms UTC; null if not known. */
export interface EndFacts {
  /** From the account at the registrar. */
  account: { expires_at: number | null; since: number } | null
  /** From the registry. */
  registry: {
    source: 'rdap' | 'whois'
    statuses: readonly string[]
    expires_at: number | null
    /** The date of the registrar, according to its own RDAP server. */
    registrar_expires_at: number | null
  } | null
  /** What someone entered. */
  given: number | null
  /** The end so far. */
  known: number | null
}

interface EffectiveEnd {
  at: number | null
  source: (typeof expirySources)[number] | null
  confidence: (typeof expiryConfidences)[number]
  /** Why the date is missing or uncertain, and what helps, as a sentence. */
  hint: string | null
}

/**
 * When a registration ends, from sources that may disagree. The account at the registrar comes first, then the date of the registrar in
 * RDAP, then the date of the registry, and then what someone entered.
 *
 * Most registries add a year by themselves when a registration ends, and take it back if the registrar deletes the domain within 45 days
 * (RFC 3915 section 3.1, `auto renew period`). Until that period is over, the added year does not count.
 */
export function effectiveEnd(facts: EndFacts, now: number): EffectiveEnd {
  const { account, registry, given } = facts
  const own = account?.expires_at ?? null
  const atRegistry = registryEnd(facts)
  if (own !== null) {
    // Compared with what the registry has, including a year that it added by itself: the registrar has confirmed that year.
    const listed = registry?.registrar_expires_at === null ? registry.expires_at : null
    const isOlder = listed !== null && listed < own - dayMs
    if (!isOlder || atRegistry === null || now - account!.since < registryDelayMs)
      return { at: own, source: 'registrar', confidence: 'certain', hint: null }
    return {
      ...atRegistry,
      hint: `The registrar says ${dateOf(own)}, but the registry still has ${dateOf(atRegistry.at)}. Ask the registrar whether the renewal succeeded.`,
    }
  }
  if (atRegistry !== null) return atRegistry
  if (given !== null) return { at: given, source: 'given', confidence: 'given', hint: null }
  return {
    ...{ at: null, source: null, confidence: 'unknown' },
    hint: registry === null ? null : 'The registry does not publish the date. Enter it, or connect the account at the registrar.',
  }
}

function registryEnd({ registry, known }: EndFacts): (EffectiveEnd & { at: number }) | null {
  if (registry === null) return null
  const { source, statuses, expires_at: end, registrar_expires_at: registrars } = registry
  const isProvisional = statuses.includes('auto renew period')
  if (registrars !== null) return { at: registrars, source, confidence: 'likely', hint: null }
  if (end === null) return null
  const isOver = statuses.includes('redemption period') || statuses.includes('pending delete')
  if (known !== null && (isProvisional || isOver) && isYearAfter(end, known)) return provisional(source, known)
  return isProvisional ? provisional(source, yearBefore(end)) : { at: end, source, confidence: 'likely', hint: null }
}

const provisional = (source: 'rdap' | 'whois', at: number) => ({
  ...{ at, source, confidence: 'provisional' as const },
  hint: 'The registry added a year by itself. It counts when the registrar confirms it, or when the period for deleting the domain is over.',
})

/** Whether a date is a year after another one. February 29 can become February 28 or March 1. */
const isYearAfter = (at: number, before: number): boolean => Math.abs(yearBefore(at) - before) <= 1.5 * dayMs

/** The day of a time (UTC), as `YYYY-MM-DD`. */
export const dateOf = (at: number): string => new Date(at).toISOString().slice(0, 10)
