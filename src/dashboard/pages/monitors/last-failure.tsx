import type { MonitorCheckView, MonitorView } from '../../../features/monitors/shapes'
import { Card } from '../../parts/page'
import { Ago } from '../../parts/time'
import { useOne } from '../../queries'
import { Found } from './found'

/** What the last check found where it was not well: what was asked, and what came back. */
export function LastFailure({ monitor }: { monitor: MonitorView }) {
  const isWell = monitor.last_result === null || monitor.last_result.status === 'up'
  const { data } = useOne<MonitorCheckView>(isWell ? null : `/monitors/${monitor.id}/last-check`)
  if (isWell || !data?.result || data.result.status === 'up') return null
  return (
    <Card title="What the last check found" actions={<Ago at={data.result.at} />}>
      <Found result={data.result} />
    </Card>
  )
}
