import { useEffect } from 'react'
import type { MonitorCheckView, MonitorView } from '../../../features/monitors/shapes'
import { Dialog } from '../../parts/dialog'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { useSend } from '../../queries'
import { CheckDetails } from './check-details'

interface CheckNowProps {
  monitor: MonitorView
  onClose(): void
}

/** Runs a check and shows its result. */
export function CheckNow({ monitor, onClose }: CheckNowProps) {
  const path = `/monitors/${monitor.id}`
  const send = useSend<MonitorCheckView>({ quiet: true, invalidates: [path] })
  useEffect(() => {
    send.mutate({ method: 'POST', path: `${path}/check` })
  }, [])
  const result = send.data?.result
  return (
    <Dialog open onClose={onClose} title={`Check ${monitor.name}`} wide>
      <div className="min-h-56" aria-live="polite">
        {send.error && <Problem error={send.error} />}
        {!send.data && !send.error && <Status status="running" label="checking" />}
        {send.data && !result && (
          <p className="text-muted">No result yet. It will appear in the list of checks when it arrives.</p>
        )}
        {result && <CheckDetails result={result} />}
      </div>
    </Dialog>
  )
}
