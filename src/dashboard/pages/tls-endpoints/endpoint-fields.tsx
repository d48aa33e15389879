import type { TlsEndpointView } from '../../../features/tls-endpoints/shapes'
import { DurationField } from '../../parts/duration-field'
import { CheckboxField, ListField, TextField, type Values } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { changedFields } from '../../parts/values'

export const invalidates = ['/tls-endpoints']

const editedValues = ({ servername, interval_seconds, active, tags }: TlsEndpointView): Values => ({
  servername: servername ?? '',
  interval_seconds,
  active,
  tags,
})

/** Opens the form that edits an endpoint. */
export function editEndpoint(endpoint: TlsEndpointView): void {
  const before = editedValues(endpoint)
  openForm<TlsEndpointView>({
    title: 'Edit endpoint',
    submitLabel: 'Save changes',
    initial: before,
    call: values => {
      const { servername, ...rest } = changedFields(before, values) as Values
      return {
        method: 'PATCH',
        path: `/tls-endpoints/${endpoint.id}`,
        ifMatch: endpoint.version,
        body: { ...rest, ...(servername !== undefined && { servername: servername === '' ? null : servername }) },
      }
    },
    send: { toast: 'Endpoint saved', invalidates },
    fields: (
      <>
        <DurationField name="interval_seconds" label="Scan every" hint="From an hour to 7 days." />
        <TextField name="servername" label="Server name" mono hint="The name to send (SNI), if it isn’t the host." />
        <ListField name="tags" label="Tags" />
        <CheckboxField name="active" label="Active" hint="Whether it is scanned on schedule." />
      </>
    ),
  })
}
