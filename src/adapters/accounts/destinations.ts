import { destinationProblem, workspacePolicy } from '../../access/network-policy'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { parseAddress } from '../../core/net/address'
import { EgressRefused } from '../../core/net/egress'
import { egressOf } from '../../core/net/hub-egress'
import { invalid } from '../../core/problem'
import type { Settings } from '../../core/sealed-settings'

/**
 * Refuses a URL with an IP address of this hub, which would fail for every call. Hostnames and the rest of the network policy are
 * checked when connecting.
 * @throws Problem 422 at the URL
 */
export async function refuseOwnAddress(ctx: Ctx, settings: Settings, read: Reader = ctx.hub.read): Promise<void> {
  const policy = await workspacePolicy(read, ctx.workspaceId, false)
  for (const [member, value] of Object.entries(settings)) {
    const url = /(^|_)url$/.test(member) && typeof value === 'string' ? URL.parse(value) : null
    const host = url?.hostname === 'localhost' ? '127.0.0.1' : url?.hostname.replace(/^\[(.*)\]$/, '$1')
    if (!url || !host || !parseAddress(host)) continue
    try {
      await egressOf(ctx.hub).vetHost(host, Number(url.port || (url.protocol === 'https:' ? 443 : 80)), policy)
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error
      if (error.isSelf) throw invalid([destinationProblem(`#/settings/${member}`, error)])
    }
  }
}
