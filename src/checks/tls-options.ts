import { createPrivateKey, X509Certificate } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import { canonicalHost } from '../core/net/host-name'
import { Line, Prose, Shape, Words } from '../core/shapes'
import { CheckInputRefused } from './check'
import { tlsVersions, type TlsWish } from './tls-connect'

/** Option of types whose target is a host: who is believed to be there. */
export const serverName = Type.Optional(
  Line({
    minLength: 1,
    maxLength: 253,
    description: 'Name that is asked for (SNI) and that the certificate must be for, in place of the host of the target.',
    examples: ['www.example.com'],
  }),
)

/** The name to show and to hold the certificate against. @param host of the target */
export const nameToShow = (servername: string | undefined, host: string): string => canonicalHost(servername ?? host) ?? host

/** @throws CheckInputRefused */
export function refuseServerName(servername: string | undefined): void {
  if (servername !== undefined && canonicalHost(servername) === null)
    throw new CheckInputRefused('/options/servername', 'must be a host name or an address.')
}

/** Options of every type that speaks TLS. */
export const tlsMembers = {
  verify_tls: Type.Optional(
    Type.Boolean({ default: true, description: 'Whether the certificate must be trusted, valid now and for the name.' }),
  ),
  tls_min_version: Type.Optional(Words(tlsVersions, { default: '1.2', description: 'Lowest version of TLS that is spoken.' })),
  ca: Type.Optional(
    Prose({ maxLength: 65_536, description: 'PEM certificates that are trusted in place of the public authorities.' }),
  ),
  client_certificate: Type.Optional(
    Shape(
      {
        cert: Prose({ maxLength: 65_536, description: 'PEM certificate, with those that lead to its authority.' }),
        key: Prose({ maxLength: 65_536, description: 'PEM private key of it, without a passphrase.' }),
      },
      { description: 'Certificate that is shown to the target, and to no other origin.' },
    ),
  ),
}
const tlsShape = Shape(tlsMembers)
export type TlsMembers = Static<typeof tlsShape>

/** Of those options, what is sealed. */
export const tlsSecrets = ['/client_certificate/key'] as const
/** Of those options, what says who is believed to be there. */
export const tlsDestination = ['/verify_tls', '/ca'] as const

/** Option of every type that dials a host. */
export const ipFamily = Type.Optional(
  Type.Union([Type.Literal(4), Type.Literal(6)], { description: 'Version of IP; without it what the resolver puts first.' }),
)

/** How to speak TLS by those options. @param name that the certificate is to be for, without brackets */
export const tlsWish = ({ verify_tls, tls_min_version, ca, client_certificate }: TlsMembers, name: string): TlsWish => ({
  name,
  verify: verify_tls ?? true,
  ...(tls_min_version && { minVersion: tls_min_version }),
  ...(ca !== undefined && { ca }),
  ...(client_certificate && { clientCertificate: client_certificate }),
})

/** What a schema cannot say of certificates and keys. @throws CheckInputRefused */
export function refuseCertificates({ ca, client_certificate: client }: TlsMembers): void {
  const refused = (member: string, rule: string) => new CheckInputRefused(`/options/${member}`, rule)
  if (ca !== undefined) {
    const blocks = pemBlocks(ca)
    if (blocks.length === 0 || !blocks.every(isCertificate)) throw refused('ca', 'must hold PEM certificates and nothing else.')
  }
  if (!client) return
  const [leaf] = pemBlocks(client.cert)
  if (!leaf || !isCertificate(leaf)) throw refused('client_certificate/cert', 'must be a PEM certificate.')
  const fits = isKeyOf(client.key, leaf)
  if (fits === null) throw refused('client_certificate/key', 'must be a PEM private key without a passphrase.')
  if (!fits) throw refused('client_certificate/key', 'must be the private key of the certificate.')
}

const pemBlocks = (text: string): string[] => text.match(/-----BEGIN [A-Z0-9 ]+-----[\s\S]*?-----END [A-Z0-9 ]+-----/g) ?? []

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.byteLength > 0
  } catch {
    return false
  }
}

/** Null: it is no key that can be read. */
function isKeyOf(key: string, certificate: string): boolean | null {
  try {
    return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
  } catch {
    return null
  }
}
