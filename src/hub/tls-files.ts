import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { BadSetting, type Config } from '../core/config'
import { sha256Hex } from '../core/crypto'

/** A certificate chain and its key, as their files hold them. */
export interface TlsFiles {
  cert: string
  key: string
  /** Tells whether the files have changed. */
  fingerprint: string
}

/**
 * What the files of the settings hold; null where HTTPS is not served directly.
 * @throws BadSetting that names the setting whose file cannot be read
 */
export function readTls({ tlsCert, tlsKey }: Config): TlsFiles | null {
  if (!tlsCert || !tlsKey) return null
  const [cert, key] = [read('BAILIWICK_TLS_CERT', tlsCert), read('BAILIWICK_TLS_KEY', tlsKey)]
  return { cert, key, fingerprint: sha256Hex(cert + key) }
}

/**
 * Whether HTTPS can be served with the files. Returns the certificate of the hub, which is the first of the chain.
 * @throws BadSetting that names the setting whose file is wrong
 */
export function checkTls({ tlsCert, tlsKey }: Config, { cert, key }: TlsFiles): X509Certificate {
  const certificate = parsed(() => new X509Certificate(cert), `BAILIWICK_TLS_CERT: ${tlsCert} holds no certificate in PEM form.`)
  const privateKey: KeyObject = parsed(
    () => createPrivateKey(key),
    `BAILIWICK_TLS_KEY: ${tlsKey} holds no private key in PEM form, or one with a passphrase.`,
  )
  if (!certificate.checkPrivateKey(privateKey))
    throw new BadSetting(`BAILIWICK_TLS_KEY: ${tlsKey} is not the key of the first certificate in ${tlsCert}.`)
  return certificate
}

function read(variable: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new BadSetting(`${variable}: the file cannot be read (${(error as Error).message}).`)
  }
}

function parsed<T>(parse: () => T, otherwise: string): T {
  try {
    return parse()
  } catch {
    throw new BadSetting(otherwise)
  }
}
