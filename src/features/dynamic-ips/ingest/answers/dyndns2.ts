import {
  addressesOf,
  challenge,
  plainAnswer,
  type Answer,
  type HostOutcome,
  type Outcome,
  type ReportedOutcome,
} from '../outcome'

// A status other than 200 for a mistake of a person, or than 401 and 503, ends some clients or is ignored by them.
const codes: Record<HostOutcome['result'], string> = {
  changed: 'good',
  unchanged: 'nochg',
  failed: 'dnserr',
  nohost: 'nohost',
  notfqdn: 'notfqdn',
}

/** One line for each host, in the order of the request. Never with the name of a host, because clients search for words. */
export function answerDyndns2(outcome: Outcome): Answer {
  switch (outcome.kind) {
    case 'reported':
      return plainAnswer(200, linesOf(outcome).join(''))
    case 'unauthorized':
      return plainAnswer(401, 'badauth\n', challenge)
    case 'refused':
      return plainAnswer(200, `${outcome.code}\n`)
    case 'later':
      return plainAnswer(503, '911\n', { 'Retry-After': String(outcome.retryAfterSeconds) })
  }
}

function linesOf(outcome: ReportedOutcome): string[] {
  if (outcome.hosts.length === 0) return [line(outcome.changed ? 'good' : 'nochg', addressesOf(outcome.shown))]
  return outcome.hosts.map(host => {
    const isDone = host.result === 'changed' || host.result === 'unchanged'
    return line(codes[host.result], isDone ? addressesOf(host) : '')
  })
}

const line = (code: string, addresses: string): string => (addresses === '' ? `${code}\n` : `${code} ${addresses}\n`)
