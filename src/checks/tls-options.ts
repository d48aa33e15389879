import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import { canonicalHost } from '../core/net/host-name'
import { areCertificates, isCertificate, pemBlocks } from '../core/net/pem'
import { grouped, Line, optionGroup, Prose, Shape, Words } from '../core/shapes'
import { InvalidCheckInput } from './check'
import { tlsVersions, type TlsSettings } from './connect'

/** Labels of the groups of options in forms. */
export const tlsGroup = 'TLS'
export const connectionGroup = 'Connection'

/** Option of types with a host as target: the expected server name. */
export const serverName = Type.Optional(
  Line({
    [optionGroup]: tlsGroup,
    minLength: 1,
    maxLength: 253,
    description: 'Server name to send (SNI) and to verify in the certificate. Default: the host of the target.',
    examples: ['www.example.com'],
  }),
)

/** The name for SNI and certificate verification. @param host of the target */
export const serverNameFor = (server_name: string | undefined, host: string): string => canonicalHost(server_name ?? host) ?? host

/** @throws InvalidCheckInput */
export function validateServerName(server_name: string | undefined): void {
  if (server_name !== undefined && canonicalHost(server_name) === null)
    throw new InvalidCheckInput('/options/server_name', 'must be a hostname or IP address.')
}

/** Options of every type that uses TLS. */
export const tlsOptions = grouped(tlsGroup, {
  verify_tls: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'Verify that the certificate is trusted, currently valid, and matches the name.',
    }),
  ),
  tls_min_version: Type.Optional(Words(tlsVersions, { default: '1.2', description: 'Minimum TLS version.' })),
  ca: Type.Optional(
    Prose({ title: 'CA certificates', maxLength: 65_536, description: 'PEM certificates to trust instead of the public CAs.' }),
  ),
  client_certificate: Type.Optional(
    Shape(
      {
        cert: Prose({ maxLength: 65_536, description: 'PEM certificate, followed by its intermediates.' }),
        key: Prose({ maxLength: 65_536, description: 'Its PEM private key, without a passphrase.' }),
      },
      { description: 'Client certificate for mutual TLS. Presented only to the target, not to other origins.' },
    ),
  ),
})
const tlsShape = Shape(tlsOptions)
export type TlsOptions = Static<typeof tlsShape>

/** The secrets among these options. */
export const tlsSecrets = ['/client_certificate/key'] as const
/** The options among these that decide which server is trusted. */
export const tlsDestination = ['/verify_tls', '/ca'] as const

/** Option of every type that connects to a host. */
export const ipFamily = Type.Optional(
  Type.Union([Type.Literal(4), Type.Literal(6)], {
    [optionGroup]: connectionGroup,
    title: 'IP version',
    description: 'Uses only IPv4 or only IPv6. The default is the first address that the resolver returns, IPv4 or IPv6.',
  }),
)

/** TLS settings from these options. @param name expected server name, without brackets */
export const tlsSettings = ({ verify_tls, tls_min_version, ca, client_certificate }: TlsOptions, name: string): TlsSettings => ({
  name,
  verify: verify_tls ?? true,
  ...(tls_min_version && { minVersion: tls_min_version }),
  ...(ca !== undefined && { ca }),
  ...(client_certificate && { clientCertificate: client_certificate }),
})

/** Validates certificates and keys. @throws InvalidCheckInput */
export function validateCertificates({ ca, client_certificate: client }: TlsOptions): void {
  const invalid = (member: string, rule: string) => new InvalidCheckInput(`/options/${member}`, rule)
  if (ca !== undefined && !areCertificates(ca)) throw invalid('ca', 'must contain only PEM certificates.')
  if (!client) return
  const [leaf] = pemBlocks(client.cert)
  if (!leaf || !isCertificate(leaf)) throw invalid('client_certificate/cert', 'must be a PEM certificate.')
  const fits = isKeyOf(client.key, leaf)
  if (fits === null) throw invalid('client_certificate/key', 'must be a PEM private key without a passphrase.')
  if (!fits) throw invalid('client_certificate/key', 'must match the certificate.')
}

/** Null if the key can't be read. */
function isKeyOf(key: string, certificate: string): boolean | null {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    return null
  }
}
