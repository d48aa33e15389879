import type { AskFailed } from '../../../core/dns-client/failure'
import { ProviderError, type ProviderFailure } from './provider'

const failures: Record<AskFailed['failure'], ProviderFailure> = {
  unreachable: 'unreachable',
  timeout: 'timeout',
  closed: 'unreachable',
  invalid_answer: 'invalid_answer',
  unsigned: 'invalid_answer',
  bad_key: 'unauthorized',
  refused: 'refused',
  incomplete: 'incomplete',
  too_large: 'incomplete',
}

/** Of a name server that gave no answer that can be used. */
export const providerErrorOf = (error: AskFailed): ProviderError => new ProviderError(failures[error.failure], error.message)
