import { plainAnswer, type Answer, type Outcome } from '../outcome'

/** `OK` or `KO`, always with status 200; with `verbose=true`, four lines. Without a line break at the end, as DuckDNS does it. */
export function answerDuckDns(outcome: Outcome): Answer {
  if (outcome.kind !== 'reported' || outcome.hosts.some(host => host.result !== 'changed' && host.result !== 'unchanged'))
    return plainAnswer(200, 'KO')
  if (!outcome.verbose) return plainAnswer(200, 'OK')
  return plainAnswer(200, ['OK', outcome.ipv4 ?? '', outcome.ipv6 ?? '', outcome.changed ? 'UPDATED' : 'NOCHANGE'].join('\n'))
}
