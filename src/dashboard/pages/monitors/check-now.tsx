import { useEffect } from 'react'
import type { MonitorCheckView, MonitorView } from '../../../features/monitors/shapes'
import { Dialog } from '../../parts/dialog'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { useSend } from '../../queries'
import { Found } from './found'

interface CheckNowProps {
  monitor: MonitorView
  onClose(): void
}

/** Checks at once, and shows what was found. */
export function CheckNow({ monitor, onClose }: CheckNowProps) {
  const path = `/monitors/${monitor.id}`
  const send = useSend<MonitorCheckView>({ quiet: true, stale: [path] })
  useEffect(() => {
    send.mutate({ method: 'POST', path: `${path}/check` })
  }, [])
  const result = send.data?.result
  return (
    <Dialog open onClose={onClose} title={`Check of ${monitor.name}`} wide>
      <div className="min-h-56" aria-live="polite">
        {send.error && <Problem error={send.error} />}
        {!send.data && !send.error && <Status state="running" label="checking" />}
        {send.data && !result && (
          <p className="text-muted">Nothing came in time. The result shows among the runs when it comes.</p>
        )}
        {result && <Found result={result} />}
      </div>
    </Dialog>
  )
}
