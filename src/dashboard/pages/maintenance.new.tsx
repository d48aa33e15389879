import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { hubNow } from '../hub-clock'
import { CreatePage } from '../parts/edit-page'
import { WindowFields } from './maintenance/window-fields'
import { nextHour, windowBody, windowValues } from './maintenance/window-values'

/** Creates a maintenance window. `?monitor=` and `?heartbeat=` preselect a target. */
export default function NewWindow() {
  const { monitor, heartbeat } = useSearch({ strict: false }) as { monitor?: string; heartbeat?: string }
  const [initial] = useState(() => ({
    ...windowValues(null, nextHour(hubNow())),
    ...(monitor && { 'targets.monitors': [monitor] }),
    ...(heartbeat && { 'targets.heartbeats': [heartbeat] }),
  }))
  return (
    <CreatePage
      parent="/maintenance"
      page="/maintenance/$id"
      path="/maintenance-windows"
      invalidates={['/maintenance-windows', '/overview']}
      initial={initial}
      bodyOf={windowBody}
    >
      <WindowFields />
    </CreatePage>
  )
}
