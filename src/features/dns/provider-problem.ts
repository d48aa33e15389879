import { Problem } from '../../core/problem'
import { ProviderError } from './providers/provider'

/** Runs what asks a provider for a caller. @throws Problem 424 `provider_failed` with `failure` in place of a ProviderError */
export async function asked<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    const { failure, message, retryAfterMs } = error
    throw new Problem('provider_failed', message, {
      members: { failure },
      ...(retryAfterMs !== null && { headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } }),
    })
  }
}
