import type { TargetView } from '../../../features/dns/targets/shapes'
import { formatTime, useNow } from '../../parts/time'

/** When changes are applied again at a provider that limits requests. */
export function Throttled({ target: { throttled_until } }: { target: Pick<TargetView, 'throttled_until'> }) {
  const now = useNow()
  if (throttled_until === null || Date.parse(throttled_until) <= now) return null
  return (
    <span className="text-[13px] text-warn">
      Rate limited. Changes resume at <time dateTime={throttled_until}>{formatTime(throttled_until)}</time>.
    </span>
  )
}
