import { limiterOf } from '../../access/limiter'
import type { Bucket } from '../../access/rate-limits'
import { sha256Hex } from '../../core/crypto'
import type { Hub } from '../../core/hub'
import { hasOtherHubs } from '../../core/live-hubs'
import type { Settings } from '../../core/sealed-settings'
import type { Pace } from '../adapter'
import type { AdapterContext } from '../context'
import { AdapterError } from '../failure'

// Longer waits are reported instead, so that other zones get their turn.
const maxWaitMs = 30_000
const backgroundShare = 0.8
const daySeconds = 86_400

/**
 * Limits the rate of requests to an account. A read waits for its turn for up to 30 seconds, and is then refused as `throttled`
 * without being sent. Changes never wait, because that would interrupt a step, or give others time to change what was just compared:
 * later reads wait for them too. Changes above the limit of a day are refused.
 * @param account its kind of resource, such as `dns-provider`, its id, and its settings
 * @param isInteractive a person waits for the response, so the share reserved for people can be used
 */
export async function paced(
  hub: Hub,
  account: { type: string; id: string; settings: Settings },
  pace: Pace | undefined,
  context: AdapterContext,
  isInteractive: boolean,
): Promise<AdapterContext> {
  if (!pace) return context
  const share = (await hasOtherHubs(hub)) ? 0.5 : 1
  const { perSecond, burst, writesPerDay } = pace
  const limits = (name: string, key: string, quota: number, windowSeconds: number): Bucket[] => {
    const bucket = (suffix: string, part: number): Bucket => ({
      name: `${name}${suffix}`,
      key,
      quota: Math.max(1, Math.floor(quota * part)),
      windowSeconds,
    })
    return [bucket('', share), ...(isInteractive ? [] : [bucket('-background', share * backgroundShare)])]
  }
  const [requestsOf, counted] = pace.sharedBy
    ? ['shared-requests', sha256Hex(pace.sharedBy(account.settings))]
    : [`${account.type}-requests`, account.id]
  const requests = limits(requestsOf, counted, burst, Math.max(1, Math.round(burst / perSecond)))
  // Half can be used at once and half is restored within a day, so that no 24 hours have more.
  const writes = writesPerDay === undefined ? [] : limits(`${account.type}-writes`, account.id, writesPerDay / 2, daySeconds)
  const requestAtOnce: AdapterContext['request'] = async (request, limitsOfRequest) => {
    limiterOf(hub).owe(requests, hub.clock.now())
    return await context.request(request, limitsOfRequest)
  }
  return {
    ...context,
    requestAtOnce,
    async request(request, limitsOfRequest) {
      const isWrite = request.method !== undefined && request.method !== 'GET' && request.method !== 'HEAD'
      await turn(hub, isWrite ? writes : requests, isWrite ? 0 : maxWaitMs)
      return await (isWrite ? requestAtOnce(request, limitsOfRequest) : context.request(request, limitsOfRequest))
    },
  }
}

async function turn(hub: Hub, buckets: readonly Bucket[], waitsMs: number): Promise<void> {
  for (let leftMs = waitsMs; ;) {
    const verdict = limiterOf(hub).take(buckets, hub.clock.now())
    if (verdict.allowed) return
    const waitMs = verdict.retryAfterSeconds * 1000
    if (waitMs > leftMs)
      throw new AdapterError(
        'throttled',
        'Too many requests to the provider. Bailiwick keeps below its rate limit.',
        waitMs,
        false,
      )
    leftMs -= waitMs
    await new Promise<void>(resolve => hub.clock.after(waitMs, resolve))
  }
}
