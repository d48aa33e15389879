import type { CheckType, Evidence, Facts } from '../check'
import type { Judgement } from '../conditions/judgement'
import { hidingSecrets, secretsAmong } from '../hiding'

const mostBodyOctets = 4096

/** What was asked and what came back, for people. @param hide of {@link hiding} */
export function evidenceOf(facts: Facts, hide: (text: string) => string): Evidence {
  const body = facts.body === null ? null : hide(facts.body)
  const octets = body === null ? null : Buffer.from(body)
  const isLong = octets !== null && octets.length > mostBodyOctets
  return {
    request: facts.request === null ? null : hide(facts.request),
    address: facts.address,
    status: facts.status,
    headers: facts.headers && Object.fromEntries(Object.entries(facts.headers).map(([name, value]) => [name, hide(value)])),
    // A character that the cut goes through is left out.
    body: isLong ? new TextDecoder().decode(octets.subarray(0, mostBodyOctets), { stream: true }) : body,
    body_truncated: isLong,
    tls: facts.tls && { version: facts.tls.version, cipher: facts.tls.cipher },
    dns: facts.dns && { rcode: facts.dns.rcode, answers: facts.dns.answers.map(hide) },
  }
}

/** The same judgement without secrets in what it found. */
export const hiddenIn = ({ status, error, conditions }: Judgement, hide: (text: string) => string): Judgement => ({
  status,
  error: error && { kind: error.kind, message: hide(error.message) },
  conditions: conditions.map(one => ({ ...one, found: hide(one.found) })),
})

/** Blots out the secrets among options wherever a server sends them back: as they are, and in the forms in which they travel. */
export const hiding = (
  options: Record<string, unknown>,
  type: Pick<CheckType, 'secrets'> | undefined,
): ((text: string) => string) => hidingSecrets(secretsAmong(options, type?.secrets ?? []))
