import type { Mood } from './status'

/** How much something matters, as incidents, notices and messages word it. */
export type Severity = 'info' | 'warning' | 'critical'

export const severityMood: Record<Severity, Mood> = { info: 'idle', warning: 'warn', critical: 'bad' }

/** To choose one of them, the gravest first. */
export const severityChoices: readonly (readonly [value: Severity, label: string])[] = [
  ['critical', 'Critical'],
  ['warning', 'Warning'],
  ['info', 'Info'],
]
