import { createEgress, systemResolve } from '../core/net/egress'
import { FetchFailed } from '../core/net/fetch-failure'
import { guardedFetch, type FetchLimits, type GuardedRequest, type GuardedResponse } from '../core/net/guarded-fetch'

/**
 * Sends a request on behalf of the local user, who may reach private addresses. Tries every address of a name: a server may
 * listen on only one of the addresses of `localhost`.
 * @throws FetchFailed
 */
export async function fetchUnrestricted(request: GuardedRequest, limits: FetchLimits): Promise<GuardedResponse> {
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
      // Without a connection nothing was sent, so it is safe to try another address.
      if (!(error instanceof FetchFailed) || error.errorClass !== 'connect' || turn + 1 >= addresses) throw error
    }
  }
}
