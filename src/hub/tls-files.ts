import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { InvalidSetting, type Config } from '../core/config'
import { sha256Hex } from '../core/crypto'

/** A certificate chain and its key, as read from their files. */
export interface TlsFiles {
  cert: string
  key: string
  /** Changes if the files change. */
  fingerprint: string
}

/** Let's Encrypt certificates are renewed 30 days ahead, so this close to expiry the renewal must have failed. */
export const expiringSoonMs = 14 * 24 * 3_600_000

/**
 * Reads the configured files. Returns null if HTTPS is not configured.
 * @throws InvalidSetting if a file can't be read
 */
export function readTls({ tlsCert, tlsKey }: Config): TlsFiles | null {
  if (!tlsCert || !tlsKey) return null
  const [cert, key] = [read('BAILIWICK_TLS_CERT', tlsCert), read('BAILIWICK_TLS_KEY', tlsKey)]
  return { cert, key, fingerprint: sha256Hex(cert + key) }
}

/**
 * Checks that HTTPS can be served with the files. Returns the certificate of the hub, which is the first in the chain.
 * @throws InvalidSetting if a file is invalid
 */
export function checkTls({ tlsCert, tlsKey }: Config, { cert, key }: TlsFiles): X509Certificate {
  const certificate = parsed(
    () => new X509Certificate(cert),
    `BAILIWICK_TLS_CERT: ${tlsCert} does not contain a certificate in PEM format.`,
  )
  const privateKey: KeyObject = parsed(
    () => createPrivateKey(key),
    `BAILIWICK_TLS_KEY: ${tlsKey} does not contain a private key in PEM format without a passphrase.`,
  )
  if (!certificate.checkPrivateKey(privateKey))
    throw new InvalidSetting(`BAILIWICK_TLS_KEY: ${tlsKey} does not match the first certificate in ${tlsCert}.`)
  return certificate
}

function read(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new InvalidSetting(`${variable}: can’t read the file (${(error as Error).message}).`)
  }
}

function parsed<T>(parse: () => T, message: string): T {
  try {
    return parse()
  } catch {
    throw new InvalidSetting(message)
  }
}
