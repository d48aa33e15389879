import { requestsInFlight } from '../../access/concurrency'
import { limiterOf } from '../../access/limiter'
import { tokenRequests, workspaceRequests, type Bucket } from '../../access/rate-limits'
import { limitNames, type CountedLimit, type LimitName } from '../../access/limit-table'
import { countedResources, countOf } from '../../access/plans'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { deliveriesLastMinute } from '../webhooks/sending/workspace-rate'
import type { LimitView } from './shapes'

/** How much of a limit is used and, for a rate, when the full quota is available again (ms UTC). */
interface Usage {
  used: number | null
  fullAt?: number
}

/** All limits of the caller's workspace, in the order of the plans. Usage of limits per token is the value of the caller's token. */
export async function listLimits(ctx: Ctx): Promise<{ data: LimitView[] }> {
  return { data: await Promise.all(limitNames.map(name => limitView(ctx, name))) }
}

async function limitView(ctx: Ctx, name: LimitName): Promise<LimitView> {
  const max = ctx.limits[name] ?? null
  const type = countedResources.get(name as CountedLimit)
  const { used, fullAt }: Usage = type
    ? { used: await countOf(ctx.hub.read, type, ctx.workspaceId) }
    : ((await usageOf[name]?.(ctx, max)) ?? { used: null })
  return {
    limit: name,
    max,
    used,
    remaining: max === null || used === null ? null : Math.max(0, max - used),
    resets_at: used && fullAt !== undefined ? instant(Math.ceil(fullAt)) : null,
  }
}

/** How the usage of rates is counted. Other limits, such as retention, have no usage. */
const usageOf: Partial<Record<LimitName, (ctx: Ctx, max: number | null) => Usage | Promise<Usage>>> = {
  requests_per_minute_per_token: (ctx, max) => (isToken(ctx) ? rate(ctx, tokenRequests(ctx.actor.id, max)) : { used: null }),
  requests_per_hour_per_workspace: (ctx, max) => rate(ctx, workspaceRequests(ctx.workspaceId, max)),
  concurrent_requests_per_token: (ctx, max) => ({
    used: isToken(ctx) && max !== null ? requestsInFlight(ctx.hub, ctx.actor.id) : null,
  }),
  deliveries_per_minute: (ctx, max) =>
    max === null ? { used: null } : deliveriesLastMinute(ctx.hub.read, ctx.workspaceId, ctx.hub.clock.now()),
}

const isToken = (ctx: Ctx): boolean => ctx.actor.type === 'token'

function rate(ctx: Ctx, bucket: Bucket): Usage {
  const usage = limiterOf(ctx.hub).usage(bucket, ctx.hub.clock.now())
  return usage ? { used: usage.used, fullAt: usage.fullAtMs } : { used: null }
}
