import { useNavigate } from '@tanstack/react-router'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Form } from '../../parts/form'
import { Card, Page } from '../../parts/page'
import { useSend } from '../../queries'
import { heartbeatBody, HeartbeatFields, heartbeatValues } from './heartbeat-fields'

/** Makes a heartbeat; its page then tells how to ping it. */
export default function NewHeartbeat() {
  const navigate = useNavigate()
  const send = useSend<HeartbeatView>({
    quiet: true,
    done: made => `Made ${made.name}`,
    stale: ['/heartbeats', '/overview'],
    onDone: made => void navigate({ to: '/heartbeats/$id', params: { id: made.id } }),
  })
  return (
    <Page
      title="New heartbeat"
      up={{ to: '/heartbeats', label: 'Heartbeats' }}
      lead="Say when the job runs. You get an address for it to call."
    >
      <Card className="max-w-3xl">
        <Form
          initial={heartbeatValues(null)}
          call={values => ({ method: 'POST', path: '/heartbeats', body: heartbeatBody(values, null) })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to: '/heartbeats' })}
          action="Make the heartbeat"
        >
          <HeartbeatFields />
        </Form>
      </Card>
    </Page>
  )
}
