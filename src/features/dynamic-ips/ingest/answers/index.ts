import type { Dialect } from '../call'
import type { Answer, Outcome } from '../outcome'
import { answerDuckDns } from './duckdns'
import { answerDyndns2 } from './dyndns2'
import { answerDynv6 } from './dynv6'

/** The text response to an outcome in each dialect. The JSON API has problems instead; the history shows the words of dyndns2. */
const dialects: Record<Dialect, (outcome: Outcome) => Answer> = {
  dyndns2: answerDyndns2,
  duckdns: answerDuckDns,
  dynv6: answerDynv6,
  json: answerDyndns2,
}

export const answerOf = (dialect: Dialect, outcome: Outcome): Answer => dialects[dialect](outcome)
