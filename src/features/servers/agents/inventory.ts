import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { findRow } from '../../../core/rows'
import type { AgentReport } from '../../../wire/agent'
import { hoursLeftOf, mostHoursLeft } from '../metrics/hours-left'
import { serverRows } from '../view'
import type { ServerInventoryView } from './inventory-shapes'
import { partRows } from './parts'
import { agentOf, whyNotReported } from './rows'
import { partNames, type PartName } from './tables'

/** Why a part that was reported is empty. */
const whyEmpty: Readonly<Record<PartName, string>> = {
  containers:
    'The agent found no containers. It reads them only with the line `containers = yes` in /etc/bailiwick-agent/agent.conf, and if its user may use the socket of Docker or Podman.',
  units: 'No unit has failed, and the agent watches none; or systemd doesn’t manage this server.',
  disks: 'The agent found no disks with SMART data. It is read every six hours with smartctl, which must be installed.',
  arrays: 'The server has no Linux software RAID and no pool of ZFS.',
  sockets: 'No program listens for connections.',
  mounts: 'The agent found no file systems that store data.',
  sessions: 'No user is logged in.',
  processes: 'The agent counts no processes. Choose which ones in its settings.',
  problems: 'The agent could read everything that it reports.',
}

type ReportedSession = NonNullable<AgentReport['sessions']>[number]

type Mount = NonNullable<AgentReport['mounts']>[number]

function mountView(mount: Mount, left: ReadonlyMap<string, number>) {
  const hours = left.get(mount.path) ?? mostHoursLeft
  return { ...mount, hours_left: hours < mostHoursLeft ? Math.round(hours * 10) / 10 : null }
}

const sessionView = ({ since, ...session }: ReportedSession) => ({ ...session, since_at: instant(since) })

/** Returns what the agent of a server reported, except metrics and facts. @throws Problem 404 */
export async function getInventory(ctx: Ctx, id: string): Promise<ServerInventoryView> {
  const { read } = ctx.hub
  await findRow(read, ctx, serverRows, id)
  const agent = await agentOf(read, id)
  const rows = agent ? await partRows(read, agent.id, partNames) : []
  const partOf = (name: PartName) => {
    const found = rows.find(row => row.name === name)
    return {
      items: found ? [...found.data] : null,
      reported_at: instant(found?.at ?? null),
      reason: found ? (found.data.length > 0 ? null : whyEmpty[name]) : whyNotReported(agent),
    }
  }
  const [sessions, mounts] = [partOf('sessions'), partOf('mounts')]
  const left = agent ? await hoursLeftOf(ctx.hub, id) : new Map<string, number>()
  return {
    agent_id: agent?.id ?? null,
    observed_at: instant(agent?.lastReportAt ?? null),
    stale: agent !== undefined && agent.state !== 'reporting',
    ...(Object.fromEntries(partNames.map(name => [name, partOf(name)])) as Pick<ServerInventoryView, PartName>),
    mounts: { ...mounts, items: (mounts.items as Mount[] | null)?.map(one => mountView(one, left)) ?? null },
    sessions: { ...sessions, items: (sessions.items as ReportedSession[] | null)?.map(sessionView) ?? null },
  }
}
