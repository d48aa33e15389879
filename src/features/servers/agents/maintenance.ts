import { inArray } from 'drizzle-orm'
import type { Hub } from '../../../core/hub'
import { activeWindow, refreshCalendar } from '../../maintenance/calendar'
import { monitorsAbout } from '../../monitors/statuses'
import { servers } from '../tables'

/**
 * The servers that a maintenance window covers now: one for everything, or for a monitor that follows the server or that its health depends
 * on.
 * @param ids of servers of the workspace
 */
export async function serversInMaintenance(hub: Hub, workspaceId: string, ids: readonly string[]): Promise<Set<string>> {
  await refreshCalendar(hub)
  const now = hub.clock.now()
  const isCovered = (id: string, tags: readonly string[]) =>
    activeWindow(hub, { workspaceId, id, tags, groupIds: [] }, now) !== null
  if (isCovered('', [])) return new Set(ids)
  const found = new Set<string>()
  for (let at = 0; at < ids.length; at += atOnce) {
    const some = ids.slice(at, at + atOnce)
    const rows = await hub.read
      .select({ id: servers.id, monitorIds: servers.healthMonitorIds })
      .from(servers)
      .where(inArray(servers.id, some))
    const about = await monitorsAbout(
      hub.read,
      workspaceId,
      some,
      rows.flatMap(row => row.monitorIds),
    )
    const covered = about.filter(one => one.status === 'maintenance' || isCovered(one.id, one.tags))
    const monitors = new Set(covered.map(one => one.id))
    for (const { target } of covered) if (some.includes(target)) found.add(target)
    for (const { id, monitorIds } of rows) if (monitorIds.some(one => monitors.has(one))) found.add(id)
  }
  return found
}

const atOnce = 500
