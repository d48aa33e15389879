import { certificateDetails, type CertificateDetails } from '../../../checks/certificate-details'
import { invalid, type FieldProblem } from '../../../core/problem'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { AgentCertificates } from '../../../wire/agent-certificates'
import { certificateLimits } from '../../../wire/agent-limits'

/** What an agent found, with parsed certificates by SHA-256. */
export interface FoundCertificates extends Pick<AgentCertificates, 'files' | 'served'> {
  certificates: ReadonlyMap<string, { details: CertificateDetails; der: Uint8Array }>
}

const maxProblems = 20

/** Parses the certificates of a report, in several turns of the event loop. @throws Problem 422 */
export async function parseCertificates({ files, served, certificates }: AgentCertificates): Promise<FoundCertificates> {
  const problems: FieldProblem[] = []
  const add = (pointer: string, code: string, detail: string) =>
    problems.push({ pointer: `#/certificates/${pointer}`, code, detail })
  const found = new Map<string, { details: CertificateDetails; der: Uint8Array }>()
  let bytes = 0
  for (const [at, base64] of certificates.entries()) {
    const parsed = certificateDetails(Buffer.from(base64, 'base64'))
    if (isTurnOver()) await yieldToEventLoop()
    if (!parsed) {
      add(`certificates/${at}`, 'format', 'must be an X.509 certificate as DER in base64.')
      continue
    }
    const { raw: der, ...details } = parsed
    bytes += der.length
    found.set(details.sha256, { details, der })
  }
  if (bytes > certificateLimits.totalBytes)
    add('certificates', 'too_large', `must have at most ${certificateLimits.totalBytes} bytes altogether as DER.`)
  for (const [name, rows] of [
    ['files', files],
    ['served', served],
  ] as const)
    for (const [at, { chain }] of rows.entries()) {
      const place = chain.findIndex(sha256 => !found.has(sha256))
      if (place >= 0 && problems.length < maxProblems)
        add(`${name}/${at}/chain/${place}`, 'not_found', 'must be the SHA-256 of one of the certificates.')
    }
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
  return { files, served, certificates: found }
}
