import type { DnsProviderView } from '../../../../features/dns/accounts/shapes'
import type { Tone } from '../../../parts/status'

/** Status of a provider, for `Status`. */
export function providerStatus({ state, warnings }: Pick<DnsProviderView, 'state' | 'warnings'>): {
  status: string
  tone: Tone
  label: string
} {
  if (state === 'failing') return { status: state, tone: 'bad', label: 'failing' }
  if (state === 'unknown') return { status: state, tone: 'idle', label: 'not checked yet' }
  return warnings.length > 0
    ? { status: 'warning', tone: 'warn', label: 'warnings' }
    : { status: state, tone: 'ok', label: 'healthy' }
}
