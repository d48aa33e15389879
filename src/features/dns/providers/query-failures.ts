import type { QueryFailed } from '../../../dns/client/failure'
import { ProviderError, type ProviderFailure } from './provider'

const failures: Record<QueryFailed['failure'], ProviderFailure> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  closed: 'unreachable',
  invalid_response: 'invalid_response',
  unsigned: 'invalid_response',
  bad_key: 'unauthorized',
  refused: 'refused',
  incomplete: 'incomplete',
  too_large: 'incomplete',
}

/** Converts a failed DNS query to a provider error. */
export const toProviderError = (error: QueryFailed): ProviderError => new ProviderError(failures[error.failure], error.message)
