import type { MonitorView } from '../../../features/monitors/shapes'
import { formatLatency, formatDuration } from '../../parts/time'

/** The status of a monitor, as a sentence. @param now ms since the epoch */
export function statusSentence(monitor: MonitorView, now: number): string {
  const duration = formatDuration(Math.max(1000, now - new Date(monitor.status_since_at).getTime()))
  const latencyMs = monitor.last_result?.latency_ms
  const response = latencyMs === null || latencyMs === undefined ? '' : `, responds in ${formatLatency(latencyMs)}`
  const error = monitor.last_result?.error?.message
  const why = error ? `: ${error.replace(/\.$/, '')}` : ''
  switch (monitor.status) {
    case 'up':
      return `Up for ${duration}${response}.`
    case 'degraded':
      return `Degraded for ${duration}${response}${why}.`
    case 'down':
      return `Down for ${duration}${why}.`
    case 'maintenance':
      return `In maintenance for ${duration}. This time doesn’t count toward uptime.`
    case 'paused':
      return `Paused for ${duration}. ${monitor.type === 'group' ? 'Its members are still checked.' : 'No checks are running.'}`
    case 'unknown':
      return `Unknown for ${duration}. ${monitor.type === 'group' ? 'No member has a current status.' : 'There are no recent results.'}`
    case 'new':
      return monitor.type === 'group' ? 'New. Waiting for the status of its members.' : 'New. Waiting for the first check.'
  }
}
