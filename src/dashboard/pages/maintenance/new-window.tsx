import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { systemClock } from '../../../core/clock'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { Form } from '../../parts/form'
import { Card, Page } from '../../parts/page'
import { useSend } from '../../queries'
import { WindowFields } from './window-fields'
import { nextHour, windowBody, windowValues } from './window-values'

/** Plans maintenance; `?monitor=` and `?heartbeat=` name what it is for. */
export default function NewWindow() {
  const navigate = useNavigate()
  const { monitor, heartbeat } = useSearch({ strict: false }) as { monitor?: string; heartbeat?: string }
  const [initial] = useState(() => ({
    ...windowValues(null, nextHour(systemClock.now())),
    ...(monitor && { 'targets.monitors': [monitor] }),
    ...(heartbeat && { 'targets.heartbeats': [heartbeat] }),
  }))
  const send = useSend<MaintenanceWindowView>({
    quiet: true,
    done: made => `Planned ${made.name}`,
    stale: ['/maintenance-windows', '/overview'],
    onDone: made => void navigate({ to: '/maintenance/$id', params: { id: made.id } }),
  })
  return (
    <Page title="Plan maintenance" up={{ to: '/maintenance', label: 'Maintenance' }}>
      <Card className="max-w-3xl">
        <Form
          initial={initial}
          call={values => ({ method: 'POST', path: '/maintenance-windows', body: windowBody(values) })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/maintenance' })}
          action="Plan it"
        >
          <WindowFields />
        </Form>
      </Card>
    </Page>
  )
}
