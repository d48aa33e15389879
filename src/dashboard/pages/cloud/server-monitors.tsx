import type { ServerMonitorsView } from '../../../features/servers/monitor-shapes'
import type { ServerView } from '../../../features/servers/shapes'
import { Button } from '../../parts/button'
import { CheckboxesField } from '../../parts/form'
import { openForm } from '../../parts/open-dialog'
import { Card } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { useOne } from '../../queries'
import { usePerson } from '../../session'

/** The monitors whose targets are at a server, and whether they depend on it. */
export function ServerMonitors({ server }: { server: ServerView }) {
  const { canWrite } = usePerson()
  const { data } = useOne<ServerMonitorsView>(`/servers/${server.id}/monitors`)
  if (!data || data.data.length === 0) return null
  const independent = data.data.filter(one => !one.depends_on_server)
  return (
    <Card
      title="Monitors of this server"
      actions={
        canWrite &&
        independent.length > 0 &&
        data.monitor_id !== null && (
          <Button small onClick={() => addDependency(server, independent, data.monitor_id!)}>
            Add dependency
          </Button>
        )
      }
    >
      <ul className="flex flex-col gap-2">
        {data.data.map(one => (
          <li key={one.id} className="min-w-0">
            <ResourceLink id={one.id} type="monitor" name={one.name} />
            <div className="text-[13px] wrap-anywhere text-muted">
              {one.address}
              {one.depends_on_server && ' · depends on the server'}
            </div>
          </li>
        ))}
      </ul>
      {independent.length > 0 && (
        <p className="mt-3 text-[13px] text-muted">
          {data.monitor_id === null
            ? 'To get one alert when the server is down, create a monitor of the server. These monitors can then depend on it.'
            : 'While the server is down, there are no alerts about monitors that depend on it.'}
        </p>
      )}
    </Card>
  )
}

/** Lets the user choose monitors that depend on the monitor of a server from then on. */
const addDependency = (server: ServerView, monitors: ServerMonitorsView['data'], parent: string): void =>
  openForm({
    title: `Monitors that depend on ${server.name}`,
    description: 'While the server is down, there are no alerts about them. The incident of the server lists them.',
    submitLabel: 'Add dependency',
    initial: { monitors: monitors.map(one => one.id) },
    call: values => ({
      method: 'POST',
      path: '/monitors/bulk',
      body: {
        operations: monitors
          .filter(one => (values.monitors as string[]).includes(one.id))
          .map(({ id, depends_on: before }) => ({ id, op: 'update', body: { depends_on: [...before, parent] } })),
      },
    }),
    send: { toast: 'Dependencies added', invalidates: ['/monitors', '/servers'] },
    fields: (
      <CheckboxesField
        name="monitors"
        label="Monitors"
        choices={Object.fromEntries(monitors.map(one => [one.id, one.name]))}
        className="flex flex-col gap-2"
      />
    ),
  })
