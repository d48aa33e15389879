import type { DnsProviderView } from '../../../../features/dns/accounts/shapes'
import type { Mood } from '../../../parts/status'

/** How a provider does, for `Status`. */
export function stateOf({ state, warnings }: Pick<DnsProviderView, 'state' | 'warnings'>): {
  state: string
  mood: Mood
  label: string
} {
  if (state === 'failing') return { state, mood: 'bad', label: 'failing' }
  if (state === 'unknown') return { state, mood: 'idle', label: 'not checked yet' }
  return warnings.length > 0 ? { state: 'warning', mood: 'warn', label: 'fine, but' } : { state, mood: 'ok', label: 'fine' }
}
