import type { Tone } from './status'

/** Severity of incidents, notices, and messages. */
type Severity = 'info' | 'warning' | 'critical'

export const severityTone: Record<Severity, Tone> = { info: 'idle', warning: 'warn', critical: 'bad' }

/** Choices for a select field, most severe first. */
export const severityChoices: readonly (readonly [value: Severity, label: string])[] = [
  ['critical', 'Critical'],
  ['warning', 'Warning'],
  ['info', 'Info'],
]
