import type { Static } from '@sinclair/typebox'
import { useNavigate } from '@tanstack/react-router'
import type { WebhookEndpointWithSecret } from '../../features/webhooks/endpoints/shapes'
import { Card, Page } from '../parts/page'
import { showSecret } from '../parts/secret'
import { EndpointForm } from './webhooks/endpoint-form'

/** Creates an endpoint and shows its secret once. */
export default function NewEndpoint() {
  const navigate = useNavigate()
  const show = ({ id, url, secret }: Static<typeof WebhookEndpointWithSecret>) =>
    showSecret({
      title: 'Save the signing secret',
      description: 'It is shown only once. The receiver uses it to verify messages.',
      value: secret,
      file: `signing secret ${new URL(url).host}`,
      onClose: () => void navigate({ to: `/webhooks/${id}` }),
    })
  return (
    <Page parent="/webhooks">
      <Card className="max-w-2xl">
        <EndpointForm
          send={{ invalidates: ['/webhook-endpoints', '/overview'], onSuccess: show }}
          onCancel={() => void navigate({ to: '/webhooks' })}
        />
      </Card>
    </Page>
  )
}
