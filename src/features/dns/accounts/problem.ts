import { lifetime } from '../../../core/net/request-lifetime'
import { Problem } from '../../../core/problem'
import { ProviderError } from '../providers/provider'

/** How long a caller waits for a provider, in milliseconds. What was begun there is ended by limits of its own. */
const longestWaitMs = 30_000

/**
 * Runs what asks a provider for a caller.
 * @throws Problem 424 `provider_failed` with `failure` in place of a ProviderError, and for one that takes too long
 */
export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  const life = lifetime(undefined)
  life.after(longestWaitMs, 'The provider took too long to answer.')
  try {
    return await inTime(life, ask)
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { failure, message, retryAfterMs } = error
    throw new Problem('provider_failed', message, {
      members: { failure },
      ...(retryAfterMs !== null && { headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } }),
    })
  } finally {
    life.release()
  }
}

async function inTime<T>(life: ReturnType<typeof lifetime>, ask: () => Promise<T>): Promise<T> {
  try {
    return await life.orEnd(ask())
  } catch (error) {
    throw life.reason ? new ProviderError('timeout', life.reason.message) : error
  }
}
