import { and, asc, eq, gt, notInArray } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import { formatAddress, parseAddress } from '../../core/net/address'
import { canonicalHost } from '../../core/net/host-name'
import { accessCondition, canAccess } from '../../core/resource-access'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { targetHost } from './definition/reach'
import { monitorTypeOf } from './definition/types'
import { latestOf } from './live/latest'
import { below } from './relations'
import { monitors } from './tables'

/** A monitor whose target is at an address of a server. */
interface MonitorAtAddress {
  id: string
  name: string
  type: string
  target: string
  /** The address of the server, or the name that has it. */
  address: string
  depends_on: readonly string[]
}

interface MonitorsOfServer {
  /** The monitor that follows the server. Null if there is none, or the caller has no access to it. */
  followedBy: string | null
  found: MonitorAtAddress[]
}

/** Each row has options as JSON, which are parsed in one turn of the event loop. */
const rowsPerPage = 200
const maxRead = 20_000
const maxFound = 200

/**
 * Finds the monitors whose targets are at a server: at one of its addresses, at a name that has one, or where the last check by this
 * hub connected to one. Resolves nothing. Monitors that the monitor of the server depends on are left out.
 * @param names in lower case, that have an address of the server
 */
export async function monitorsOfServer(
  ctx: Ctx,
  serverId: string,
  addresses: readonly string[],
  names: ReadonlySet<string>,
): Promise<MonitorsOfServer> {
  const { read } = ctx.hub
  const { id, name, type, target, options, dependsOn } = monitors
  const own = new Set(addresses.map(sameText))
  const [following] = await read
    .select({ id, type, dependsOn, options })
    .from(monitors)
    .where(and(eq(monitors.workspaceId, ctx.workspaceId), eq(monitors.type, 'server'), eq(monitors.target, serverId)))
    .orderBy(asc(monitors.id))
    .limit(1)
  const excluded = new Set(following ? below(following) : [])
  const found: MonitorAtAddress[] = []
  let last = ''
  for (let count = 0; count < maxRead && found.length < maxFound;) {
    const rows = await read
      .select({ id, name, type, target, options, dependsOn })
      .from(monitors)
      .where(
        and(
          ...[eq(monitors.workspaceId, ctx.workspaceId), notInArray(monitors.type, ['server', 'group'])],
          ...[gt(monitors.id, last), accessCondition(ctx, monitors.id)],
        ),
      )
      .orderBy(asc(monitors.id))
      .limit(rowsPerPage)
    for (const row of rows) {
      if (isTurnOver()) await yieldToEventLoop()
      if (excluded.has(row.id)) continue
      const host = sameText(targetHost(monitorTypeOf(row.type), row) ?? '')
      const contacted = sameText(latestOf(ctx.hub).get(row.id)?.result.address ?? '')
      const address = [host, contacted].find(one => own.has(one) || names.has(one))
      if (address === undefined) continue
      const { dependsOn: depends_on, options: _, ...monitor } = row
      found.push({ ...monitor, address, depends_on })
    }
    if (rows.length < rowsPerPage) break
    count += rows.length
    last = rows.at(-1)!.id
  }
  return {
    followedBy: following && canAccess(ctx, following.id) ? following.id : null,
    found: found.slice(0, maxFound),
  }
}

/** An address or name in the form in which it can be compared. */
function sameText(host: string): string {
  const canonical = canonicalHost(host) ?? host
  const address = parseAddress(canonical)
  return address ? formatAddress(address) : canonical
}
