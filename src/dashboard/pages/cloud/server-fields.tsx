import type { ServerView } from '../../../features/servers/shapes'
import { CheckboxField, ListField, SelectField, TextareaField, TextField, type Values } from '../../parts/form'
import { PickField } from '../../parts/pick-field'
import { isSame } from '../../parts/values'
import { kindTitles, labelsFrom, labelsText } from './server-text'

/** Form values of what can be changed at any time. */
export const serverValues = (server: ServerView | null): Values => ({
  name: server?.name ?? '',
  labels: labelsText(server?.labels ?? {}),
  health_monitor_ids: server?.health_monitor_ids ?? [],
  notes: server?.notes ?? '',
})

/** Form values of a server without a cloud account. */
export const manualValues = (server: ServerView | null): Values => ({
  kind: server?.kind ?? 'external',
  addresses: server?.addresses.map(one => one.address) ?? [],
  location: server?.location ?? '',
})

/** The fields that differ. */
export function serverBody(values: Values, before: Values, names: readonly string[]): Values {
  const changed = names.filter(name => !isSame(values[name], before[name]))
  const valueOf = (name: string) =>
    name === 'labels' ? labelsFrom(String(values.labels)) : values[name] === '' && name === 'location' ? null : values[name]
  return Object.fromEntries(changed.map(name => [name, valueOf(name)]))
}

export const NameField = ({ hint }: { hint?: string }) => (
  <TextField name="name" label="Name" placeholder="e.g. web-1" hint={hint} autoFocus />
)

/** The fields of a server without a cloud account. */
export const ManualFields = () => (
  <>
    <SelectField name="kind" label="Kind" choices={kindTitles} />
    <ListField name="addresses" label="IP addresses" placeholder="e.g. 192.0.2.20, 2001:db8::20" />
    <TextField name="location" label="Location" placeholder="e.g. Office, rack 2" />
  </>
)

/** Labels, monitors, and notes. */
export const OrganizationFields = () => (
  <>
    <TextField
      name="labels"
      label="Labels"
      mono
      placeholder="e.g. role=web, env=production"
      hint="Pairs of key=value, separated by commas."
    />
    <PickField
      list="/monitors"
      name="health_monitor_ids"
      label="Health monitors"
      hint="Their status tells whether the server is up."
    />
    <TextareaField name="notes" label="Notes" rows={3} />
  </>
)

/** Whether a new server gets a monitor. */
export const MonitorField = () => (
  <CheckboxField
    name="monitor"
    label="Create a monitor"
    hint="You get an alert while the server is down, and a warning when a file system is more than 90% full."
  />
)
