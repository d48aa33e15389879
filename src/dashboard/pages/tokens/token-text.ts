import { hubNow } from '../../hub-clock'
import type { TokenView } from '../../../features/tokens/shapes'
import type { Tone } from '../../parts/status'

/** Status of a token, for `Status`. */
export function statusOf(token: TokenView): { status: string; tone: Tone } {
  if (token.revoked_at !== null) return { status: 'revoked', tone: 'idle' }
  if (token.expires_at !== null && new Date(token.expires_at).getTime() <= hubNow()) return { status: 'expired', tone: 'bad' }
  return { status: 'active', tone: 'ok' }
}

export const tokenModes: Record<TokenView['mode'], string> = {
  full: 'Full access',
  read_only: 'Read-only',
  scoped: 'Selected permissions',
}

/** Short text for the permissions of a token. */
export const permissionsText = ({ mode, permissions }: TokenView): string =>
  mode === 'scoped' ? permissions.join(', ') : tokenModes[mode]
