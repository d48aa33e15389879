import type { ServerView } from '../../../features/servers/shapes'
import { SelectField, useForm } from '../../parts/form'
import { useList } from '../../queries'

/** Picks the server that a monitor follows. */
export function ServerField() {
  const { values } = useForm()
  const { rows } = useList<ServerView>('/servers', { sort: 'name', fields: 'id,name' })
  const target = String(values.target)
  const isListed = rows.some(one => one.id === target)
  return (
    <SelectField
      name="target"
      label="Server"
      hint="The monitor is down while the server is down. It sends no requests."
      choices={[
        ...(isListed
          ? []
          : [[target.startsWith('srv_') ? target : '', target.startsWith('srv_') ? target : 'Choose a server'] as const]),
        ...rows.map(one => [one.id, one.name] as const),
      ]}
    />
  )
}
