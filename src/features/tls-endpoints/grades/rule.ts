import type { Configs } from './configs'
import type { ServerFacts } from './server-facts'

/**
 * What a finding does to the grade. A letter is the best grade that a server with it can have; `T` and `M` replace the grade. `warning`
 * lowers A to A-.
 */
export const effects = ['T', 'M', 'F', 'C', 'B', 'warning'] as const
export type Effect = (typeof effects)[number]

/** What a rule found, by kind: `versions`, `suites`, `keys`, or `certificates`. */
export type Evidence = Partial<Record<'versions' | 'suites' | 'keys' | 'certificates', string[]>>

export interface Finding {
  /** A sentence. */
  detail: string
  evidence: Evidence
}

/** A rule of the SSL Labs Server Rating Guide, version 2009r. */
export interface Rule {
  effect: Effect
  /** What is wrong, in a few words. */
  title: string
  /** What it means for visitors, in one or two sentences. */
  meaning: string
  /** What to change, in one or two sentences. */
  fix: string
  /** The change for common servers. */
  configs: Configs
  /** Whether the score is 0, because the certificate protects nobody. */
  isZero?: true
  find(server: ServerFacts): Finding | null
}
