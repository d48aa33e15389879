import { systemClock } from '../../../core/clock'
import type { TokenView } from '../../../access/shapes'
import type { Mood } from '../../parts/status'

/** Whether a token works, for `Status`. */
export function stateOf(token: TokenView): { state: string; mood: Mood } {
  if (token.revoked_at !== null) return { state: 'revoked', mood: 'idle' }
  if (token.expires_at !== null && new Date(token.expires_at).getTime() <= systemClock.now())
    return { state: 'expired', mood: 'bad' }
  return { state: 'active', mood: 'ok' }
}

/** What a token may do, in a word or two. */
export function whatItMay({ mode, permissions }: TokenView): string {
  if (mode === 'full') return 'everything'
  if (mode === 'read_only') return 'read everything'
  return permissions.join(', ')
}
