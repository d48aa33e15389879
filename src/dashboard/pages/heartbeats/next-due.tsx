import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { formatDuration, useNow, formatDateTime } from '../../parts/time'

/** A live countdown to the next ping: “in 3 min”, “late, down in 40 s”. */
export function NextDue({ heartbeat }: { heartbeat: HeartbeatView }) {
  const now = useNow()
  const { status, started, expected_at: expected, down_at: down } = heartbeat
  if (status === 'paused' || (expected === null && down === null)) return <span className="text-muted">–</span>
  const at = new Date(status === 'down' || expected === null ? down! : expected).getTime()
  const remaining = at - now
  const text =
    status === 'down'
      ? `down for ${formatDuration(Math.max(0, -remaining))}`
      : expected === null
        ? `first ping within ${formatDuration(Math.max(0, remaining))}`
        : remaining >= 0
          ? `in ${formatDuration(remaining)}${started ? ', running now' : ''}`
          : `late, down in ${formatDuration(Math.max(0, new Date(down ?? expected).getTime() - now))}`
  const color = status === 'down' ? 'text-bad' : remaining < 0 ? 'text-warn' : ''
  return (
    <time dateTime={new Date(at).toISOString()} title={formatDateTime(at)} className={`whitespace-nowrap ${color}`}>
      {text}
    </time>
  )
}
