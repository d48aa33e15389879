import type { CertificateCoverageView, CertificateGapView } from '../../../features/coverage/shapes'
import type { Tone } from '../../parts/status'

export const gapTitles: Record<CertificateGapView['kind'], string> = {
  expired_served: 'Expired certificate is served',
  revoked_served: 'Revoked certificate is served',
  mismatch_served: 'Certificate is for other names',
  untrusted_served: 'Certificate is not trusted',
  uncovered: 'Name without certificate',
  stale_on_disk: 'Renewed certificate is not loaded',
  ct_unknown: 'Unknown certificate in a CT log',
  caa_conflict: 'CAA forbids the authority',
  key_readable: 'Private key is readable by everyone',
  renewal_overdue: 'Renewal is overdue',
  plain_http: 'HTTP without HTTPS',
  chain_incomplete: 'Intermediate certificate is missing',
  split_brain: 'Addresses serve different certificates',
  lifetime_over_limit: 'Lifetime is over the limit',
  served_not_on_disk: 'Served certificate is in no file',
  caa_missing: 'Zone without CAA',
  disk_unused: 'Certificate on disk is not used',
  orphan: 'Certificate for names that no longer exist',
}

export const severityTitles: Record<CertificateGapView['severity'], string> = {
  critical: 'Critical',
  high: 'High',
  medium: 'Medium',
  low: 'Low',
  info: 'Info',
}

export const statusTitles: Record<CertificateGapView['status'], string> = {
  open: 'Open',
  acknowledged: 'Acknowledged',
  resolved: 'Resolved',
}

const tones: Record<CertificateGapView['severity'], Tone> = {
  critical: 'bad',
  high: 'bad',
  medium: 'warn',
  low: 'idle',
  info: 'idle',
}
export const toneOfGap = ({ severity, status }: CertificateGapView): Tone => (status === 'open' ? tones[severity] : 'idle')

export const gapInvalidates = ['/certificate-gaps']

export const coverTitles: Record<CertificateCoverageView['covered'], string> = {
  full: 'Covered',
  wildcard: 'Covered by wildcard',
  none: 'Not covered',
}

export const causeTitles: Record<CertificateCoverageView['sources'][number], string> = {
  record: 'DNS record',
  mail: 'Mail server',
  monitor: 'Monitor',
  agent: 'Agent',
}
