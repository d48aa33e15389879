import { plainAnswer, type Answer, type Outcome } from '../outcome'
import { answerDyndns2 } from './dyndns2'

/** The texts of dynv6 for success and for a wrong token. It has none that clients recognize for the rest. */
export function answerDynv6(outcome: Outcome): Answer {
  if (outcome.kind === 'unauthorized') return plainAnswer(401, 'invalid authentication token')
  if (outcome.kind !== 'reported') return answerDyndns2(outcome)
  const failed = outcome.hosts.some(host => host.result !== 'changed' && host.result !== 'unchanged')
  return failed ? answerDyndns2(outcome) : plainAnswer(200, outcome.changed ? 'addresses updated' : 'addresses unchanged')
}
