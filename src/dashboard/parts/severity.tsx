import { StatusIcon, type Tone } from './status'

/** Severity of incidents, notices, and messages. */
type Severity = 'info' | 'warning' | 'critical'

export const severityTone: Record<Severity, Tone> = { info: 'idle', warning: 'warn', critical: 'bad' }

/** Labels, most severe first. */
export const severityLabels: Record<Severity, string> = { critical: 'Critical', warning: 'Warning', info: 'Info' }

/** The icon of a severity, which screen readers read as a word. */
export const SeverityIcon = ({ severity, className = '' }: { severity: Severity; className?: string }) => (
  <>
    <StatusIcon status={severity} tone={severityTone[severity]} className={`size-4 ${className}`} />
    <span className="sr-only">{severityLabels[severity]}</span>
  </>
)
