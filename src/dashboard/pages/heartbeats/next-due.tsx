import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { span, useNow, wholeTime } from '../../parts/time'

/** When the next ping is due, counted down while one looks: «in 3 min», «late, down in 40 s». */
export function NextDue({ heartbeat }: { heartbeat: HeartbeatView }) {
  const now = useNow()
  const { status, started, expected_at: expected, down_at: down } = heartbeat
  if (status === 'paused' || (expected === null && down === null)) return <span className="text-muted">–</span>
  const at = new Date(status === 'down' || expected === null ? down! : expected).getTime()
  const left = at - now
  const words =
    status === 'down'
      ? `down for ${span(Math.max(0, -left))}`
      : expected === null
        ? `first one within ${span(Math.max(0, left))}`
        : left >= 0
          ? `${started ? 'running, ' : ''}in ${span(left)}`
          : `late, down in ${span(Math.max(0, new Date(down ?? expected).getTime() - now))}`
  const colour = status === 'down' ? 'text-bad' : left < 0 ? 'text-warn' : ''
  return (
    <time dateTime={new Date(at).toISOString()} title={wholeTime(at)} className={`whitespace-nowrap ${colour}`}>
      {words}
    </time>
  )
}
