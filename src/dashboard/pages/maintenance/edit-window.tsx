import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { Form, type Values } from '../../parts/form'
import { Card, Loaded, Page } from '../../parts/page'
import { useOne, useSend } from '../../queries'
import { WindowFields } from './window-fields'
import { windowBody, windowValues } from './window-values'

/** Edits a window; what is sent is what differs. */
export default function EditWindow() {
  const { id } = useParams({ strict: false })
  const found = useOne<MaintenanceWindowView>(`/maintenance-windows/${id}`)
  return (
    <Loaded found={found} up={{ to: '/maintenance', label: 'Maintenance' }}>
      {window => <Edited key={window.id} window={window} />}
    </Loaded>
  )
}

function Edited({ window }: { window: MaintenanceWindowView }) {
  const navigate = useNavigate()
  // As it was when the page was opened: what another person changes meanwhile is theirs, and the version tells.
  const [opened] = useState(window)
  const [before] = useState(() => windowValues(opened, ''))
  const to = `/maintenance/${opened.id}`
  const send = useSend({
    quiet: true,
    done: 'Saved',
    stale: ['/maintenance-windows', '/overview'],
    onDone: () => void navigate({ to }),
  })
  return (
    <Page title={`Edit ${opened.name}`} up={{ to, label: opened.name }}>
      <Card className="max-w-3xl">
        <Form
          initial={before}
          call={values => ({
            method: 'PATCH',
            path: `/maintenance-windows/${opened.id}`,
            body: changed(windowBody(before), windowBody(values)),
            ifMatch: opened.version,
          })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to })}
          action="Save"
        >
          <WindowFields />
        </Form>
      </Card>
    </Page>
  )
}

const changed = (before: Values, after: Values): Values =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
