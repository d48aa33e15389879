import { and, eq, inArray, isNull, ne } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../../access/limiter'
import { callAdapter } from '../../../adapters/call'
import { change } from '../../../core/change'
import type { Ctx } from '../../../core/ctx'
import { pluralize } from '../../../core/pluralize'
import { invalid, Problem } from '../../../core/problem'
import { targetOf } from '../../../core/rows'
import { onePage, type Page } from '../../../core/shapes'
import { cloudKindOf } from '../clouds'
import type { CloudServer } from '../clouds/cloud'
import { isAnother } from '../same-server'
import { lockAccount } from '../spend'
import { servers } from '../tables'
import { accountOf } from './accounts'
import { catalogOf } from './catalog'
import { cloudAccountRows, openCloud } from './open'
import { insertFound } from './sync'
import { cloudAccounts } from './tables'
import type { CloudClaim, UnclaimedServerView } from './unclaimed-shapes'
import type { CloudAccountRow } from './view'

/** Lists the servers of an account that are not in the workspace, by name. @throws Problem 404, 424, 429 */
export async function listUnclaimed(ctx: Ctx, id: string): Promise<Page<UnclaimedServerView>> {
  const account = await accountOf(ctx, id)
  refuseTooManyRequests(ctx, 'cloud-unclaimed', id, 10)
  const others = await unclaimedAt(ctx, account)
  return onePage(
    others
      .map(one => ({
        ref: one.ref,
        name: one.name,
        kind: one.kind,
        status: one.status,
        location: one.location,
        size: one.size,
        addresses: one.addresses.map(({ address }) => address),
        labels: one.labels,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
  )
}

async function unclaimedAt(ctx: Ctx, account: CloudAccountRow): Promise<CloudServer[]> {
  const { servers: seen } = await callAdapter(async () => (await openCloud(ctx.hub, account, true)).list())
  const known = await ctx.hub.read
    .select({ id: servers.id, status: servers.status, ref: servers.providerRef, cloud: servers.cloud })
    .from(servers)
    .where(and(eq(servers.accountId, account.id), isNull(servers.deletedAt)))
  const byRef = new Map(known.map(row => [row.ref, row]))
  const ids = new Set(known.map(one => one.id))
  return seen.filter(one => {
    const row = byRef.get(one.ref)
    return (!row || isAnother(row, one)) && !(one.mark !== null && ids.has(one.mark))
  })
}

/**
 * Adds servers of an account to the workspace.
 * @returns their ids
 * @throws Problem 404, 422 for refs that are not there, 424, 429
 */
export async function claimServers(ctx: Ctx, id: string, { refs }: CloudClaim): Promise<{ server_ids: string[] }> {
  const account = await accountOf(ctx, id)
  refuseTooManyRequests(ctx, 'cloud-unclaimed', id, 10)
  const others = await unclaimedAt(ctx, account)
  const wanted = refs.map(ref => others.find(one => one.ref === ref))
  const problems = refs.flatMap((ref, at) =>
    wanted[at]
      ? []
      : [
          {
            pointer: `#/refs/${at}`,
            code: 'not_found',
            detail: `The account has no server ${ref}, or it is in the workspace already.`,
          },
        ],
  )
  if (problems.length > 0) throw invalid(problems)
  const hasPrices = cloudKindOf(account.kind)!.capabilities.hasPrices
  const catalog = hasPrices ? await callAdapter(() => catalogOf(ctx.hub, account, true)) : null
  return await change(ctx, 'cloud.account.claim', async tx => {
    const locked = await lockAccount(tx, id)
    const { result: n, audits, events, notices } = await insertFound(tx, ctx.hub, locked, wanted as CloudServer[], catalog)
    if (n < refs.length)
      throw new Problem('plan_limit_reached', `The plan allows only ${pluralize(n, 'more servers')}. Nothing was added.`, {
        fields: { limit: 'servers' },
      })
    const added = await tx
      .select({ id: servers.id, micros: servers.priceMicros })
      .from(servers)
      .where(
        and(
          eq(servers.accountId, id),
          isNull(servers.deletedAt),
          ne(servers.status, 'missing'),
          inArray(servers.providerRef, refs),
        ),
      )
    await tx
      .update(cloudAccounts)
      .set({
        unclaimed: Math.max(0, locked.unclaimed - n),
        // They count as servers of the workspace from now on.
        unclaimedMicros: Math.max(0, locked.unclaimedMicros - added.reduce((sum, one) => sum + (one.micros ?? 0), 0)),
        ignoredRefs: locked.ignoredRefs.filter(ref => !refs.includes(ref)),
      })
      .where(eq(cloudAccounts.id, id))
    return {
      result: { server_ids: added.map(one => one.id).sort() },
      target: targetOf(cloudAccountRows.rows, account),
      after: { refs },
      audits: audits ?? [],
      events: events ?? [],
      notices: notices ?? [],
    }
  })
}
