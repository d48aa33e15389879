import { certificateDetails, type CertificateDetails } from '../../../checks/certificate-details'
import { invalid, type FieldProblem } from '../../../core/problem'
import { isTurnOver, runInSlices, yieldToEventLoop } from '../../../core/time-slices'
import type { AgentCertificates } from '../../../wire/agent-certificates'
import { certificateLimits } from '../../../wire/agent-limits'
import { newerOnDisk, type NewerFile } from './newer-on-disk'

/** What an agent found, with parsed certificates by SHA-256. */
export interface FoundCertificates extends Pick<AgentCertificates, 'files' | 'served'> {
  certificates: ReadonlyMap<string, { details: CertificateDetails; der: Uint8Array }>
  /** The files that replace what ports present, by the SHA-256 of the latter. */
  newer: ReadonlyMap<string, NewerFile>
}

const maxProblems = 20

/**
 * Parses the certificates of a report, in several turns of the event loop.
 * @param now the time (ms UTC)
 * @throws Problem 422
 */
export async function parseCertificates(
  { files, served, certificates }: AgentCertificates,
  now: number,
): Promise<FoundCertificates> {
  const problems: FieldProblem[] = []
  const add = (pointer: string, code: string, detail: string) =>
    problems.push({ pointer: `#/certificates/${pointer}`, code, detail })
  const found = new Map<string, { details: CertificateDetails; der: Uint8Array }>()
  const bytes = certificates.reduce((sum, base64) => sum + Buffer.byteLength(base64, 'base64'), 0)
  if (bytes > certificateLimits.totalBytes) {
    add('certificates', 'too_large', `must have at most ${certificateLimits.totalBytes} bytes altogether as DER.`)
    throw invalid(problems)
  }
  for (const [at, base64] of certificates.entries()) {
    const parsed = certificateDetails(Buffer.from(base64, 'base64'))
    if (isTurnOver()) await yieldToEventLoop()
    if (!parsed) {
      add(`certificates/${at}`, 'format', 'must be an X.509 certificate as DER in base64.')
      continue
    }
    const { raw: der, ...details } = parsed
    found.set(details.sha256, { details, der })
  }
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
  const leaf = ({ chain }: { chain: readonly string[] }) => {
    const one = found.get(chain[0] ?? '')
    return one ? [one.details] : []
  }
  const onDisk = files.flatMap(file => leaf(file).map(certificate => ({ path: file.path, certificate })))
  const newer = await runInSlices(newerOnDisk(new Set(served.flatMap(leaf)), onDisk, now))
  return { files, served, certificates: found, newer }
}
