import type { CertificateDetails } from '../../../checks/certificate-details'

/** A certificate in a file. */
interface OnDisk {
  path: string
  certificate: CertificateDetails
}

/** A file with a certificate that replaces the one that a port presents. */
export interface NewerFile {
  path: string
  sha256: string
}

type Candidate = OnDisk & { names: ReadonlySet<string> }

/** At most this many files are compared with what a port presents, the newest first. Servers have a few copies of a certificate. */
const maxCompared = 20

/**
 * Finds the newest certificate in a file that replaces one that a port presents: for at least the same names, by the same CA, and with the
 * same type of key. Others are used elsewhere, such as a self-signed one or the second one of a server with two types of keys. Works in
 * steps: agents can report hundreds of certificates of both kinds.
 * @param now the time (ms UTC)
 * @returns by SHA-256 of what is presented; those that are the newest ones are missing
 */
export function* newerOnDisk(
  served: Iterable<CertificateDetails>,
  files: readonly OnDisk[],
  now: number,
): Generator<void, Map<string, NewerFile>> {
  const found = new Map<string, NewerFile>()
  const bySha256 = new Map<string, Candidate>()
  for (const file of files) {
    const { sha256, not_before, not_after, names } = file.certificate
    if (not_before > now || not_after <= now || bySha256.has(sha256)) continue
    bySha256.set(sha256, { ...file, names: new Set(names) })
    yield
  }
  const newestFirst = [...bySha256.values()].sort((a, b) => age(b.certificate, a.certificate))
  for (const one of served) {
    let compared = 0
    for (const file of newestFirst) {
      if (age(file.certificate, one) <= 0 || compared === maxCompared) break
      if (!isAlike(file, one)) continue
      compared++
      if (!one.names.every(name => file.names.has(name))) continue
      found.set(one.sha256, { path: file.path, sha256: file.certificate.sha256 })
      break
    }
    yield
  }
  return found
}

const isAlike = ({ certificate, names }: Candidate, served: CertificateDetails): boolean =>
  certificate.issued_by === served.issued_by &&
  certificate.key.type === served.key.type &&
  (served.names.length === 0 ? certificate.subject === served.subject : names.has(served.names[0]!))

/** Positive if the first certificate is newer. */
const age = (one: CertificateDetails, other: CertificateDetails): number =>
  one.not_before - other.not_before || one.not_after - other.not_after
