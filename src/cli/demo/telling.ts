import type { Past } from './past'
import type { PastChecks } from './past-checks'
import type { People } from './people'
import type { Servers } from './servers'

/** What every part of the past is told with. */
export interface Telling {
  past: Past
  people: People
  checks: PastChecks
  servers: Servers
  /** Where the past ends (ms UTC). */
  now: number
  /** So many days before that (ms UTC). */
  ago(days: number): number
  /** A share of 1. */
  random(): number
}

export const dayMs = 86_400_000
export const hourMs = 3_600_000
export const minuteMs = 60_000
export const secondMs = 1000
