import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Form } from '../../parts/form'
import { Card, Loaded, Page } from '../../parts/page'
import { useOne, useSend } from '../../queries'
import { heartbeatBody, HeartbeatFields, heartbeatValues } from './heartbeat-fields'

/** Edits a heartbeat; what is sent is what differs. */
export default function EditHeartbeat() {
  const { id } = useParams({ strict: false })
  const found = useOne<HeartbeatView>(`/heartbeats/${id}`)
  return (
    <Loaded found={found} up={{ to: '/heartbeats', label: 'Heartbeats' }}>
      {heartbeat => <Edited key={heartbeat.id} heartbeat={heartbeat} />}
    </Loaded>
  )
}

function Edited({ heartbeat }: { heartbeat: HeartbeatView }) {
  const navigate = useNavigate()
  // As it was when the page was opened: what another person changes meanwhile is theirs, and the version tells.
  const [opened] = useState(heartbeat)
  const [before] = useState(() => heartbeatValues(opened))
  const to = `/heartbeats/${opened.id}`
  const send = useSend({
    quiet: true,
    done: 'Saved',
    stale: ['/heartbeats', '/overview'],
    onDone: () => void navigate({ to }),
  })
  return (
    <Page title={`Edit ${opened.name}`} up={{ to, label: opened.name }}>
      <Card className="max-w-3xl">
        <Form
          initial={before}
          call={values => ({ method: 'PATCH', path: to, body: heartbeatBody(values, before), ifMatch: opened.version })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to })}
          action="Save"
        >
          <HeartbeatFields />
        </Form>
      </Card>
    </Page>
  )
}
