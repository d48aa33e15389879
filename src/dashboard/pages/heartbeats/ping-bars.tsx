import type { PingView, RecentPingsView } from '../../../features/heartbeats/shapes'
import { Bars, type Bar } from '../../parts/bars'
import type { Tone } from '../../parts/status'
import { formatDuration, formatDateTime } from '../../parts/time'

type Kind = PingView['kind']

export const pingLabels: Record<Kind, string> = {
  success: 'succeeded',
  start: 'started',
  fail: 'failed',
  log: 'log only',
  ign: 'ignored',
}
export const pingTone = (kind: Kind): Tone => (kind === 'fail' ? 'bad' : kind === 'success' ? 'ok' : 'idle')

/** The recent runs of a heartbeat as a bar chart. */
export function PingBars({ pings }: { pings: RecentPingsView['pings'] | undefined }) {
  if (!pings) return <div className="h-5" />
  const finished = pings.filter(one => one.kind === 'success' || one.kind === 'fail')
  if (finished.length === 0) return <span className="text-[13px] text-muted">No runs yet</span>
  const bars: Bar[] = finished.map(one => ({
    tone: one.kind === 'fail' ? 'bad' : 'ok',
    title: `${pingLabels[one.kind]}${one.duration_ms === null ? '' : ` after ${formatDuration(one.duration_ms)}`}, ${formatDateTime(one.at)}`,
  }))
  const successes = finished.filter(one => one.kind === 'success').length
  return <Bars fits bars={bars} height={20} label={`${successes} of the last ${finished.length} runs succeeded`} />
}
