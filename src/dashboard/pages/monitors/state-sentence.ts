import type { MonitorView } from '../../../features/monitors/shapes'
import { latency, span } from '../../parts/time'

/** How a monitor stands, as a sentence. @param now ms since the epoch */
export function stateSentence(monitor: MonitorView, now: number): string {
  const lasted = span(Math.max(0, now - new Date(monitor.status_since_at).getTime()))
  const answer = monitor.last_result?.latency_ms
  const answers = answer === null || answer === undefined ? '' : `, answers in ${latency(answer)}`
  const error = monitor.last_result?.error?.message
  const why = error ? `: ${error}` : ''
  switch (monitor.status) {
    case 'up':
      return `Up for ${lasted}${answers}.`
    case 'degraded':
      return `Degraded for ${lasted}${answers}${why}.`
    case 'down':
      return `Down for ${lasted}${why}.`
    case 'maintenance':
      return `In maintenance for ${lasted}: what happens meanwhile does not count.`
    case 'paused':
      return `Paused for ${lasted}. Nobody checks it.`
    case 'unknown':
      return `Unknown for ${lasted}: nobody could tell.`
    case 'new':
      return monitor.type === 'group' ? 'New: its members say how it stands.' : 'New: the first checks decide how it stands.'
  }
}
