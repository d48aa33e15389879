import { createEgress, systemResolve } from '../core/net/egress'
import { FetchFailed } from '../core/net/fetch-failure'
import { guardedFetch, type FetchLimits, type GuardedRequest, type GuardedResponse } from '../core/net/guarded-fetch'

/**
 * A request that the user of this machine asks for: private addresses are theirs to reach. A name with several addresses is tried
 * at each of them, since `localhost` may be served on one alone.
 * @throws FetchFailed
 */
export async function callAnywhere(request: GuardedRequest, limits: FetchLimits): Promise<GuardedResponse> {
  for (let turn = 0; ; turn++) {
    let addresses = 1
    const egress = createEgress({
      ownListeners: () => [],
      async resolve(name) {
        const found = await systemResolve(name)
        addresses = found.length
        return [...found.slice(turn), ...found.slice(0, turn)]
      },
    })
    try {
      return await guardedFetch(request, {
        egress,
        policy: { allowPrivate: true, allowRanges: [], requireHttps: false },
        limits,
      })
    } catch (error) {
      // Where no connection was made nothing was sent, so another address may be asked.
      if (!(error instanceof FetchFailed) || error.errorClass !== 'connect' || turn + 1 >= addresses) throw error
    }
  }
}
