import { operatorWorkspace } from '../../../access/workspaces'
import { record } from '../../../core/change'
import type { Hub } from '../../../core/hub'

/** Notifies operators if a corrupt series file was moved aside. @returns whether there was one */
export async function reportMovedAside(hub: Hub): Promise<boolean> {
  const file = hub.series.takeDamagedFile()
  if (file === null) return false
  hub.log.error({ file }, 'the series file could not be read; moved it aside and started a new one')
  try {
    const { id: workspaceId } = await operatorWorkspace(hub.read)
    await record(hub, async () => ({
      result: undefined,
      notices: [
        {
          workspaceId,
          kind: 'monitor_results.damaged',
          resource: null,
          text: `The file with check results could not be read. It was moved to ${file} and a new one was started, so earlier measurements are missing. Monitors, uptime, and incidents are stored in the database and are not affected.`,
          details: { file },
          dedupKey: 'series',
        },
      ],
    }))
  } catch (error) {
    hub.log.error({ err: error }, 'could not create the notice about the series file that was moved aside')
  }
  return true
}
