import type { MonitorCheckView } from '../../../features/monitors/check-shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Card } from '../../parts/page'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'
import { CheckDetails } from './check-details'

/** Details of the last check if it was not up: the request and the response. */
export function LastFailure({ monitor }: { monitor: MonitorView }) {
  const isUp = monitor.last_result === null || monitor.last_result.status === 'up'
  const { data } = useOne<MonitorCheckView>(isUp ? null : `/monitors/${monitor.id}/last-check`)
  if (isUp || !data?.result || data.result.status === 'up') return null
  return (
    <Card title="Last check" actions={<RelativeTime at={data.result.at} />}>
      <CheckDetails result={data.result} />
    </Card>
  )
}
