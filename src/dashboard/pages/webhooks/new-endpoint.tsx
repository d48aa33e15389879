import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Copied } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Card, Page } from '../../parts/page'
import { useSend } from '../../queries'
import { EndpointForm } from './endpoint-form'

interface Made {
  id: string
  secret: string
}

/** Makes an endpoint, and shows its secret the one time that it can be seen. */
export default function NewEndpoint() {
  const navigate = useNavigate()
  const [made, setMade] = useState<Made | null>(null)
  const send = useSend<Made>({ quiet: true, stale: ['/webhook-endpoints', '/overview'], onDone: setMade })
  return (
    <Page title="New endpoint" up={{ to: '/webhooks', label: 'Webhooks' }}>
      <Card className="max-w-2xl">
        <EndpointForm send={send.mutateAsync} pending={send.isPending} onCancel={() => void navigate({ to: '/webhooks' })} />
      </Card>
      <Dialog
        open={made !== null}
        onClose={() => made && void navigate({ to: `/webhooks/${made.id}` })}
        title="Keep the signing secret"
        description="It is shown this once. With it the receiver checks that a message is from here."
      >
        {made && <Copied text={made.secret} label="the secret" />}
      </Dialog>
    </Page>
  )
}
