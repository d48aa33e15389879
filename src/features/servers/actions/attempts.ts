import { mayHaveApplied } from '../../../adapters/failure'
import { Problem } from '../../../core/problem'
import type { CommitChunk } from '../../actions/kind'
import type { CloudError } from '../clouds/cloud'

/** What an action knows of its attempts to send a command and to follow it. */
interface Attempted extends Record<string, unknown> {
  /** When the action times out (ms UTC). */
  deadline: number
  /** Whether a command was sent whose outcome is not known. */
  isUncertain: boolean
}

/** Whether a command that was being sent when this happened may have been carried out. */
export const isUncertainAfter = (error: CloudError, isSending: boolean): boolean => isSending && mayHaveApplied(error)

/** Another attempt, not before `at`, nor before the other side allows it. @param state of that attempt */
export function attemptAgain<S extends Attempted>(
  state: S,
  error: CloudError,
  isSending: boolean,
  now: number,
  at: number,
): CommitChunk<S> {
  const next = { ...state, isUncertain: state.isUncertain || isUncertainAfter(error, isSending) }
  return async () => ({
    result: { state: next, at: Math.max(at, now + (error.retryAfterMs ?? 0)), detail: error.message },
  })
}

/** The error of an action that ends because of a failure at the other side. */
export const providerFailed = (error: CloudError): Problem =>
  new Problem('provider_failed', error.message, { fields: { failure: error.failure } })

/** @param by what was to finish: `cloud` */
export const timedOut = (by: string): Problem =>
  new Problem('provider_failed', `The ${by} did not finish in time.`, { fields: { failure: 'timeout' } })

/** The error of a command whose operation the cloud forgot before its result was read. */
export const maybeSucceeded = (): Problem =>
  new Problem('interrupted', 'The cloud no longer knows the operation, so it is not known whether it succeeded.')

/** The error of a command that can’t be repeated, if it is not known whether an earlier attempt was carried out. */
export const maybeCarriedOut = (): Problem =>
  new Problem('interrupted', 'The connection was lost while the request was sent, so it may have been carried out.')
