import type { CertificateDetails } from '../../../checks/certificate-details'

/** A certificate in a file. */
interface OnDisk {
  path: string
  certificate: CertificateDetails
}

/**
 * The newest certificate in a file that replaces the one that a port presents: for at least the same names, by the same CA, and with the
 * same type of key. Others are used elsewhere, such as a self-signed one or the second one of a server with two types of keys.
 * @param files valid certificates of servers
 * @returns null if the port presents the newest one
 */
export function newerOnDisk(served: CertificateDetails, files: readonly OnDisk[], now: number): OnDisk | null {
  let newest: OnDisk | null = null
  for (const file of files) {
    const { certificate } = file
    if (certificate.not_before > now || certificate.not_after <= now) continue
    if (certificate.sha256 === served.sha256 || !isNewer(certificate, newest?.certificate ?? served)) continue
    if (replaces(certificate, served)) newest = file
  }
  return newest
}

const isNewer = (one: CertificateDetails, other: CertificateDetails): boolean =>
  one.not_before > other.not_before || (one.not_before === other.not_before && one.not_after > other.not_after)

const replaces = (one: CertificateDetails, other: CertificateDetails): boolean =>
  one.issued_by === other.issued_by &&
  one.key.type === other.key.type &&
  (other.names.length === 0 ? one.subject === other.subject : other.names.every(name => one.names.includes(name)))
