import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { TlsGradeView } from '../../features/tls-endpoints/grades/shapes'
import type { TlsEndpointView } from '../../features/tls-endpoints/shapes'
import { Columns, Form, SelectField, TextField } from '../parts/form'
import { Card, Page } from '../parts/page'
import { SendButton } from '../parts/send-button'
import { invalidates } from './tls-endpoints/endpoint-fields'
import { protocolTitles } from './tls-endpoints/grade'
import { TlsReport } from './tls-endpoints/report'
import { pastedTarget } from './tls-endpoints/pasted-target'

/** Grades a host immediately, and adds it as an endpoint afterwards. */
export default function NewTlsEndpoint() {
  const navigate = useNavigate()
  const [graded, setGraded] = useState<TlsGradeView | null>(null)
  return (
    <Page
      parent="/tls-endpoints"
      description="Scans a server immediately, without storing anything. To scan it every day, and to get events when its grade gets worse, add it as an endpoint afterwards."
      actions={
        graded && (
          <SendButton<TlsEndpointView>
            kind="primary"
            call={{
              method: 'POST',
              path: '/tls-endpoints',
              body: { host: graded.host, port: graded.port, protocol: graded.protocol, servername: graded.servername },
            }}
            send={{
              toast: 'Endpoint added',
              invalidates,
              onSuccess: ({ id }) => void navigate({ to: '/tls-endpoints/$id', params: { id } }),
            }}
          >
            Add endpoint
          </SendButton>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <Card>
          <Form<TlsGradeView>
            initial={{ host: '', protocol: 'tls', servername: '' }}
            call={({ host, protocol, servername }) => ({
              method: 'POST',
              path: '/tls-grades',
              body: { ...pastedTarget(String(host), String(protocol)), ...(servername !== '' && { servername }) },
            })}
            send={{ onSuccess: setGraded }}
            submitLabel="Grade server"
          >
            <Columns>
              <TextField name="host" label="Host" mono autoFocus placeholder="shop.example.com or a URL" />
              <SelectField name="protocol" label="Protocol" choices={protocolTitles} />
            </Columns>
            <TextField name="servername" label="Server name" mono hint="Name to send (SNI), if it isn’t the host." />
          </Form>
        </Card>
        {graded && <TlsReport key={graded.scanned_at} report={graded} protocol={graded.protocol} />}
      </div>
    </Page>
  )
}
