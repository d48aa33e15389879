import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { CopyableText } from '../parts/code'
import { Dialog } from '../parts/dialog'
import { Card, Page } from '../parts/page'
import { useSend } from '../queries'
import { EndpointForm } from './webhooks/endpoint-form'

interface Created {
  id: string
  secret: string
}

/** Creates an endpoint and shows its secret once. */
export default function NewEndpoint() {
  const navigate = useNavigate()
  const [created, setCreated] = useState<Created | null>(null)
  const send = useSend<Created>({ quiet: true, invalidates: ['/webhook-endpoints', '/overview'], onSuccess: setCreated })
  return (
    <Page parent="/webhooks">
      <Card className="max-w-2xl">
        <EndpointForm send={send.mutateAsync} pending={send.isPending} onCancel={() => void navigate({ to: '/webhooks' })} />
      </Card>
      <Dialog
        open={created !== null}
        onClose={() => created && void navigate({ to: `/webhooks/${created.id}` })}
        title="Save the signing secret"
        description="It is shown only once. The receiver uses it to verify messages."
      >
        {created && <CopyableText text={created.secret} label="the secret" />}
      </Dialog>
    </Page>
  )
}
