import type { Tone } from './status'

/** Severity of incidents, notices, and messages. */
type Severity = 'info' | 'warning' | 'critical'

export const severityTone: Record<Severity, Tone> = { info: 'idle', warning: 'warn', critical: 'bad' }

/** Labels, most severe first. */
export const severityLabels: Record<Severity, string> = { critical: 'Critical', warning: 'Warning', info: 'Info' }
