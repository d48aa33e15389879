import type { CheckType, Evidence, Facts } from '../check'
import type { Evaluation } from '../conditions/evaluation'
import { secretRedactor, secretValues, type Redact } from '../redaction'

const maxBodyBytes = 4096
// More than is shown: redacted text is shorter.
const maxRedacted = 65_536
const maxHeaders = 100

/** What was sent and received, for people. @param redact from {@link redactorFor} */
export function evidenceOf(facts: Facts, redact: Redact): Evidence {
  const body = facts.body === null ? null : redact(facts.body, maxRedacted)
  const octets = body === null ? null : Buffer.from(body)
  const isLong = octets !== null && (octets.length > maxBodyBytes || facts.body!.length > maxRedacted)
  return {
    request: facts.request === null ? null : redact(facts.request),
    address: facts.address,
    status: facts.status,
    headers:
      facts.headers &&
      Object.fromEntries(
        Object.entries(facts.headers)
          .slice(0, maxHeaders)
          .map(([name, value]) => [name, redact(value)]),
      ),
    // A character that was cut in half is dropped.
    body: isLong ? new TextDecoder().decode(octets.subarray(0, maxBodyBytes), { stream: true }) : body,
    body_truncated: isLong,
    tls: facts.tls && { version: facts.tls.version, cipher: facts.tls.cipher },
    dns: facts.dns && { rcode: facts.dns.rcode, answers: facts.dns.answers.map(answer => redact(answer)) },
  }
}

/** The same evaluation with secrets redacted. */
export const redactedEvaluation = ({ status, error, conditions }: Evaluation, redact: Redact): Evaluation => ({
  status,
  error: error && { kind: error.kind, message: redact(error.message) },
  conditions: conditions.map(one => ({ ...one, found: redact(one.found) })),
})

/** Returns a function that redacts the secret options wherever a server echoes them, also in common encodings. */
export const redactorFor = (options: Record<string, unknown>, type: Pick<CheckType, 'secrets'> | undefined): Redact =>
  secretRedactor(secretValues(options, type?.secrets ?? []))
