import type { Ctx } from '../../core/ctx'
import { findRow } from '../../core/rows'
import { listRecords } from '../dns/records/listing'
import { monitorsOfServer } from '../monitors/at-addresses'
import type { ServerMonitorsView } from './monitor-shapes'
import { addressesOf, serverRows } from './view'

/** Names with the addresses of a server, and aliases for them, that are considered. */
const maxNames = 200
/** Names for which aliases are looked for, with one query each. */
const maxAliased = 20

/** Returns the monitors whose targets are at a server, and the monitor that they can depend on. @throws Problem 404 */
export async function listServerMonitors(ctx: Ctx, id: string): Promise<ServerMonitorsView> {
  const server = await findRow(ctx.hub.read, ctx, serverRows, id)
  if (!ctx.permissions.has('monitoring.read')) return { monitor_id: null, data: [] }
  const addresses = addressesOf(server).map(one => one.address)
  const { followedBy, found } = await monitorsOfServer(ctx, id, addresses, await namesOf(ctx, addresses))
  return {
    monitor_id: followedBy,
    data: found.map(({ depends_on: dependsOn, ...one }) => ({
      ...one,
      depends_on: [...dependsOn],
      depends_on_server: followedBy !== null && dependsOn.includes(followedBy),
    })),
  }
}

/** The names of records in the workspace with one of these addresses, and of aliases for them. */
async function namesOf(ctx: Ctx, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  if (!ctx.permissions.has('dns.read')) return names
  const add = async (type: string, content: string, most: number) => {
    if (names.size >= most) return
    const { data } = await listRecords(ctx, { type, content, limit: maxNames })
    for (const { fqdn } of data) if (names.size < most) names.add(fqdn.toLowerCase().replace(/\.$/, ''))
  }
  for (const address of addresses) await add(address.includes(':') ? 'AAAA' : 'A', address, maxNames)
  const most = names.size + maxNames
  for (const name of [...names].slice(0, maxAliased)) await add('CNAME', `${name}.`, most)
  return names
}
