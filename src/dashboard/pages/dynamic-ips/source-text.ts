import type { DynamicIpClient, DynamicIpView } from '../../../features/dynamic-ips/shapes'
import { toneOf, type Tone } from '../../parts/status'
import { formatDuration } from '../../parts/time'

/** How often to refetch, since reports that change nothing aren’t streamed. */
export const refetchMs = 10_000

export const familyLabels = { ipv4: 'IPv4', ipv6: 'IPv6' } as const

export const protocolLabels = new Map([
  ['dyndns2', 'DynDNS2'],
  ['duckdns', 'DuckDNS'],
  ['json', 'JSON'],
  ['api', 'API'],
])

/** How a token was sent. */
export const authMethodLabels = new Map([
  ['basic', 'Basic authentication'],
  ['bearer', 'Bearer token'],
  ['query', 'Query parameter'],
  ['form', 'Form field'],
  ['path', 'URL path'],
  ['api', 'API'],
])

/** The name of a client. */
export const clientName = ({ client, user_agent }: DynamicIpClient): string => client || (user_agent ?? 'Unknown client')

/** Other things that are held need no attention. */
export const toneOfSource = (status: DynamicIpView['status']): Tone => (status === 'held' ? 'bad' : toneOf(status))

/** What the status of a source means for its records. */
export function statusText({
  status,
  status_reason: hold,
  stale_after_seconds: staleAfter,
  last_seen_at,
}: DynamicIpView): string {
  switch (status) {
    case 'new':
      return 'No report has been received yet. The records of its hosts are created with the first report.'
    case 'fresh':
      return 'The records of its hosts follow the reported address.'
    case 'stale':
      return `No report for more than ${formatDuration((staleAfter ?? 0) * 1000)}. The records keep the last address.`
    case 'held':
      return `${hold!.detail} New addresses are refused until 30 minutes have passed without such a change, or until you resume the source.`
    case 'paused':
      return last_seen_at === null
        ? 'Paused. Reports are stored, but the hosts get no records until you resume the source.'
        : 'Paused. Reports are stored, but the records stay as they are until you resume the source.'
  }
}
