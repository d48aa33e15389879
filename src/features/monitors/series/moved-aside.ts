import { operatorWorkspace } from '../../../access/workspaces'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'

/** Tells those who run the installation of a file of series that could not be read, and was put out of the way. @returns whether there was one */
export async function tellMovedAside(hub: Hub): Promise<boolean> {
  const file = hub.series.movedAside()
  if (file === null) return false
  hub.log.error({ file }, 'the file of the series could not be read: it was moved aside, and a new one was begun')
  try {
    const { id: workspaceId } = await operatorWorkspace(hub.read)
    await record(hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId,
          kind: 'monitor_results.set_aside',
          resource: null,
          text: `The file with the results of checks could not be read. It is kept as ${file}, and a new one was begun: what was measured before is missing. Monitors, their uptime and incidents are in the database and are whole.`,
          details: { file },
          matter: 'series',
        },
      ],
    }))
  } catch (error) {
    hub.log.error({ err: error }, 'a file of series that was moved aside could not be told of')
  }
  return true
}
