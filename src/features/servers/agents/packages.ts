import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import { findRow } from '../../../core/rows'
import type { AgentReport } from '../../../wire/agent'
import { serverRows } from '../view'
import type { ServerPackagesView } from './inventory-shapes'
import { partRows } from './parts'
import { agentOf, whyNotReported } from './rows'

const foundNone = 'The agent found no packages of dpkg, rpm, or apk.'

/** Returns the packages that are installed on a server, or those whose names contain a text. @throws Problem 404 */
export async function getPackages(ctx: Ctx, id: string, { q = '' }: { q?: string }): Promise<ServerPackagesView> {
  const { read } = ctx.hub
  await findRow(read, ctx, serverRows, id)
  const agent = await agentOf(read, id)
  const [found] = agent ? await partRows(read, agent.id, ['packages']) : []
  const all = (found?.data ?? []) as NonNullable<AgentReport['packages']>
  const searched = q.toLowerCase()
  return {
    agent_id: agent?.id ?? null,
    observed_at: instant(agent?.lastReportAt ?? null),
    stale: agent !== undefined && agent.state !== 'reporting',
    reported_at: instant(found?.at ?? null),
    reason: !found ? whyNotReported(agent) : all.length === 0 ? foundNone : null,
    total: all.length,
    packages: searched === '' ? all : all.filter(one => one.name.toLowerCase().includes(searched)),
  }
}
