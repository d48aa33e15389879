import { underWay } from '../../access/concurrency'
import { limiterOf } from '../../access/limiter'
import { tokenRequests, workspaceRequests, type Bucket } from '../../access/rate-limits'
import { countTokens } from '../../access/tokens'
import { limitNames, type LimitName } from '../../access/workspace-shapes'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countZones } from '../dns/zones'
import { countHeartbeats } from '../heartbeats/heartbeats'
import { countMonitors } from '../monitors/count'
import { countEndpoints } from '../webhooks/endpoints'
import { deliveriesOfMinute } from '../webhooks/workspace-pace'
import type { LimitView } from './shapes'

/** How much of a limit is used, and for a rate when the whole of it is back (ms UTC). */
interface Usage {
  used: number | null
  wholeAt?: number
}

/** Every limit of the caller's workspace, in the order of the plans. Those of a token are the caller's own. */
export async function listLimits(ctx: Ctx): Promise<{ data: LimitView[] }> {
  return { data: await Promise.all(limitNames.map(name => limitView(ctx, name))) }
}

async function limitView(ctx: Ctx, name: LimitName): Promise<LimitView> {
  const max = ctx.limits[name] ?? null
  const { used, wholeAt } = (await usages[name]?.(ctx, max)) ?? { used: null }
  return {
    limit: name,
    max,
    used,
    remaining: max === null || used === null ? null : Math.max(0, max - used),
    resets_at: used && wholeAt !== undefined ? instant(Math.ceil(wholeAt)) : null,
  }
}

/** What is counted of each limit; the others, such as days of keeping, are not used up. */
const usages: Partial<Record<LimitName, (ctx: Ctx, max: number | null) => Usage | Promise<Usage>>> = {
  requests_per_minute_per_token: (ctx, max) => (isToken(ctx) ? rate(ctx, tokenRequests(ctx.actor.id, max)) : { used: null }),
  requests_per_hour_per_workspace: (ctx, max) => rate(ctx, workspaceRequests(ctx.workspaceId, max)),
  concurrent_requests_per_token: (ctx, max) => ({ used: isToken(ctx) && max !== null ? underWay(ctx.hub, ctx.actor.id) : null }),
  deliveries_per_minute: (ctx, max) =>
    max === null ? { used: null } : deliveriesOfMinute(ctx.hub.read, ctx.workspaceId, ctx.hub.clock.now()),
  tokens: async ctx => ({ used: await countTokens(ctx.hub.read, ctx.workspaceId) }),
  heartbeats: async ctx => ({ used: await countHeartbeats(ctx.hub.read, ctx.workspaceId) }),
  monitors: async ctx => ({ used: await countMonitors(ctx.hub.read, ctx.workspaceId) }),
  dns_zones: async ctx => ({ used: await countZones(ctx.hub.read, ctx.workspaceId) }),
  webhook_endpoints: async ctx => ({ used: await countEndpoints(ctx.hub.read, ctx.workspaceId) }),
}

const isToken = (ctx: Ctx): boolean => ctx.actor.type === 'token'

function rate(ctx: Ctx, bucket: Bucket): Usage {
  const usage = limiterOf(ctx.hub).usage(bucket, ctx.hub.clock.now())
  return usage ? { used: usage.used, wholeAt: usage.wholeAtMs } : { used: null }
}
