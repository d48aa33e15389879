import type { ServerView } from '../../../features/servers/shapes'
import { openForm } from '../../parts/open-dialog'
import { ManualFields, manualValues, NameField, OrganizationFields, serverBody, serverValues } from './server-fields'
import { invalidates } from './server-text'

/** Adds a server that exists elsewhere, without a cloud account. */
export function addServer(): void {
  const initial = { ...serverValues(null), ...manualValues(null) }
  openForm<ServerView>({
    title: 'Add server',
    description: 'For a machine that is not in a cloud account. Bind health monitors, so that you see whether it is up.',
    initial,
    call: values => ({
      method: 'POST',
      path: '/servers',
      body: { name: values.name, ...serverBody(values, { ...initial, name: values.name }, Object.keys(initial)) },
    }),
    send: { invalidates },
    fields: (
      <>
        <NameField />
        <ManualFields />
        <OrganizationFields />
      </>
    ),
  })
}
