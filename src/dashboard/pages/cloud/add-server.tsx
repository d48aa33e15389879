import type { ServerView } from '../../../features/servers/shapes'
import { openForm } from '../../parts/open-dialog'
import {
  ManualFields,
  manualValues,
  MonitorField,
  NameField,
  OrganizationFields,
  serverBody,
  serverValues,
} from './server-fields'
import { invalidates } from './server-text'

/** Adds a server that exists elsewhere, without a cloud account. */
export function addServer(): void {
  const own = { ...serverValues(null), ...manualValues(null) }
  const initial = { ...own, monitor: false }
  openForm<ServerView>({
    title: 'Add server',
    description: 'For a machine that is not in a cloud account. Bind health monitors, so that you see whether it is up.',
    initial,
    call: values => ({
      method: 'POST',
      path: '/servers',
      body: {
        name: values.name,
        ...serverBody(values, { ...own, name: values.name }, Object.keys(own)),
        ...(values.monitor === true && { monitor: true }),
      },
    }),
    send: { invalidates },
    fields: (
      <>
        <NameField />
        <ManualFields />
        <OrganizationFields />
        <MonitorField />
      </>
    ),
  })
}
