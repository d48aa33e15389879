import type { CheckType, Evidence, Facts } from '../check'
import type { Judgement } from '../conditions/judgement'
import { hidingSecrets } from '../hiding'

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
export function hiding(options: Record<string, unknown>, type: Pick<CheckType, 'secrets'> | undefined): (text: string) => string {
  const secrets = (type?.secrets ?? []).flatMap(pointer => valuesAt(options, pointer.replace(/^\//, '').split('/')))
  return hidingSecrets(secrets)
}

/** Strings at a JSON pointer (RFC 6901), in which `*` stands for every member of a list or an object. */
function valuesAt(value: unknown, [member, ...rest]: string[]): string[] {
  if (member === undefined) return leavesOf(value)
  if (typeof value !== 'object' || value === null) return []
  if (member === '*') return Object.values(value).flatMap(one => valuesAt(one, rest))
  return valuesAt((value as Record<string, unknown>)[member.replaceAll('~1', '/').replaceAll('~0', '~')], rest)
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}
