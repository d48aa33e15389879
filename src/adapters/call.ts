import { lifetime } from '../core/net/request-lifetime'
import { Problem } from '../core/problem'
import { AdapterError } from './failure'

/** How long a request waits for an external system, in milliseconds. Calls have their own timeouts. */
const maxWaitMs = 30_000

/**
 * Calls an external system on behalf of a request.
 * @throws Problem 424 `provider_failed` with `failure` instead of a AdapterError, also on a timeout
 */
export async function callAdapter<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await callWithin(maxWaitMs, call)
  } catch (error) {
    if (!(error instanceof AdapterError)) throw error
    const { failure, message, retryAfterMs } = error
    throw new Problem('provider_failed', message, {
      fields: { failure },
      ...(retryAfterMs !== null && { headers: { 'Retry-After': String(Math.ceil(retryAfterMs / 1000)) } }),
    })
  }
}

/** Calls an external system, and waits no longer than a time. @throws AdapterError */
export async function callWithin<T>(ms: number, call: () => Promise<T>): Promise<T> {
  const life = lifetime(undefined)
  life.after(ms, 'The provider did not respond in time.')
  try {
    return await life.orEnd(call())
  } catch (error) {
    throw life.reason ? new AdapterError('timeout', life.reason.message) : error
  } finally {
    life.release()
  }
}
