import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

x509.cryptoProvider.set(crypto)

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }

/** A certificate with its private key. */
export interface MadeCertificate {
  der: Uint8Array
  pem: string
  /** PKCS8 as PEM. */
  keyPem: string
  keys: CryptoKeyPair
  subject: string
}

interface Options {
  /** Distinguished name; `CN=` and the first name by default. */
  subject?: string
  names?: readonly string[]
  notBefore?: Date
  notAfter?: Date
  /** Default: self-signed. */
  issuer?: MadeCertificate
  isCa?: boolean
  pathLength?: number
  /** Another certificate whose key it gets. */
  keysOf?: MadeCertificate
  serial?: string
  extensions?: x509.Extension[]
}

/** Creates a certificate with a key on the curve P-256, with a library of its own rather than with what is tested. */
export async function makeCertificate(options: Options): Promise<MadeCertificate> {
  const { names = [], issuer, isCa = false, keysOf } = options
  const keys = keysOf?.keys ?? ((await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as CryptoKeyPair)
  const subject = options.subject ?? `CN=${names[0] ?? 'Test'}`
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: options.serial ?? `00${crypto.randomUUID().replaceAll('-', '')}`,
    subject,
    issuer: issuer?.subject ?? subject,
    notBefore: options.notBefore ?? new Date('2026-01-01T00:00:00Z'),
    notAfter: options.notAfter ?? new Date('2046-01-01T00:00:00Z'),
    signingAlgorithm: algorithm,
    publicKey: keys.publicKey,
    signingKey: (issuer?.keys ?? keys).privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(isCa, options.pathLength, true),
      ...(isCa ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true)] : []),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names.map(sanOf))] : []),
      ...(options.extensions ?? []),
    ],
  })
  const key = await crypto.subtle.exportKey('pkcs8', keys.privateKey)
  return {
    ...{ der: new Uint8Array(certificate.rawData), pem: `${certificate.toString('pem')}\n`, keys, subject },
    keyPem: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`,
  }
}

const sanOf = (name: string): x509.JsonGeneralName => ({ type: /^[\d.]+$|:/.test(name) ? 'ip' : 'dns', value: name })
