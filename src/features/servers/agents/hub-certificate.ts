import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Hub } from '../../../core/hub'

/** The certificate of this hub, if no certificate authority confirms it. Agents accept no other one then. */
export async function selfSignedCertificate({ config, baseUrl, log }: Hub): Promise<X509Certificate | null> {
  if (config.tlsCert === null || !baseUrl.startsWith('https:')) return null
  try {
    const certificate = new X509Certificate(await readFile(config.tlsCert))
    return certificate.issuer === certificate.subject ? certificate : null
  } catch (error) {
    log.warn({ err: error }, 'the certificate of the hub could not be read, so install commands don’t pin it')
    return null
  }
}
