import type { PingView, RecentPingsView } from '../../../features/heartbeats/shapes'
import { Bars, type Bar } from '../../parts/bars'
import type { Mood } from '../../parts/status'
import { span, wholeTime } from '../../parts/time'

type Kind = PingView['kind']

export const pingWords: Record<Kind, string> = {
  success: 'success',
  start: 'started',
  fail: 'failed',
  log: 'log',
  ign: 'not counted',
}
export const pingMood = (kind: Kind): Mood => (kind === 'fail' ? 'bad' : kind === 'success' ? 'ok' : 'idle')

const slots = 30

/** The last runs of a heartbeat as a strip: what ended well, what failed. */
export function PingBars({ pings }: { pings: RecentPingsView['pings'] | undefined }) {
  if (!pings) return <div className="h-6" />
  const ends = pings.filter(one => one.kind === 'success' || one.kind === 'fail')
  if (ends.length === 0) return <span className="text-[13px] text-muted">no runs yet</span>
  const bars: Bar[] = ends.map(one => ({
    mood: one.kind === 'fail' ? 'bad' : 'ok',
    title: `${pingWords[one.kind]}${one.duration_ms === null ? '' : ` after ${span(one.duration_ms)}`}, ${wholeTime(one.at)}`,
  }))
  const well = ends.filter(one => one.kind === 'success').length
  return <Bars bars={bars} slots={slots} label={`${well} of the last ${ends.length} runs went well`} />
}
