import { useEffect } from 'react'
import type { MonitorCheckView } from '../../../features/monitors/check-shapes'
import type { MonitorView } from '../../../features/monitors/shapes'
import { openDialog } from '../../parts/open-dialog'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { useSend } from '../../queries'
import { CheckDetails } from './check-details'

/** Runs a check and shows its result. */
export const checkNow = ({ id, name }: Pick<MonitorView, 'id' | 'name'>): void =>
  openDialog({ title: `Check ${name}`, wide: true, content: <Check path={`/monitors/${id}`} /> })

function Check({ path }: { path: string }) {
  const send = useSend<MonitorCheckView>({ quiet: true, invalidates: [path] })
  useEffect(() => {
    send.mutate({ method: 'POST', path: `${path}/check` })
  }, [])
  const result = send.data?.result
  return (
    <div className="min-h-56" aria-live="polite">
      {send.error && <Problem error={send.error} />}
      {!send.data && !send.error && <Status status="running" label="checking" />}
      {send.data && !result && <p className="text-muted">No result yet. It will appear in the list of checks when it arrives.</p>}
      {result && <CheckDetails result={result} />}
    </div>
  )
}
