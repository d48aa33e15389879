import { protocolVersions, type AddressFacts, type OfferedSuite, type ProtocolVersion } from '../../../checks/tls-probe/facts'

/** How a chain of certificates was sent, apart from whether it is trusted. */
export const chainStates = ['ok', 'incomplete', 'misordered', 'superfluous'] as const
type ChainState = (typeof chainStates)[number]

/** Who trusts a chain: the public root stores, or only the authorities that the workspace added. */
export const trusts = ['public', 'private', 'self_signed', 'untrusted'] as const
type Trust = (typeof trusts)[number]

/** What is known about one of the chains that a server sends. Times are ms UTC. */
export interface ChainFacts {
  /** Common name or subject of the server’s certificate. */
  subject: string
  not_before: number
  not_after: number
  /** Names that the certificate is valid for. */
  names: readonly string[]
  /** Whether the scanned host is one of them. */
  covers_host: boolean
  /** `exponent`: public exponent of an RSA key. */
  key: { type: 'rsa' | 'dsa' | 'ec' | 'other'; bits: number | null; exponent: bigint | null }
  /** The hash in the signature of each certificate below the root, such as `sha256`; null if it has none of its own. */
  signatures: readonly { subject: string; hash: string | null }[]
  trust: Trust
  sent: ChainState
  /** Null if it is unknown. */
  revoked: boolean | null
}

/** What the rules look at. */
export interface ServerFacts {
  facts: AddressFacts
  chains: readonly ChainFacts[]
  /** How many further chains start with a certificate that can’t be read. */
  unreadable: number
  /** Offered versions, from the oldest to the newest. */
  versions: readonly ProtocolVersion[]
  /** Offered suites, each with the versions that have it. */
  suites: readonly VersionedSuite[]
}

export interface VersionedSuite extends OfferedSuite {
  versions: readonly ProtocolVersion[]
}

/** Collects what the rules look at. */
export function serverFacts(facts: AddressFacts, chains: readonly ChainFacts[]): ServerFacts {
  const suites = new Map<number, OfferedSuite & { versions: ProtocolVersion[] }>()
  const versions = protocolVersions.filter(one => facts.versions[one].status === 'offered')
  for (const version of versions)
    for (const suite of offeredIn(facts, version)) {
      const known = suites.get(suite.id)
      if (known) known.versions.push(version)
      else suites.set(suite.id, { ...suite, versions: [version] })
    }
  return { facts, chains, unreadable: Math.max(0, facts.chains.length - chains.length), versions, suites: [...suites.values()] }
}

/** Suites in which the server sends no certificate. */
const withoutCertificate: ReadonlySet<OfferedSuite['authentication']> = new Set(['anonymous', 'psk', 'krb5', 'srp', 'eccpwd'])

/** Whether the server has a certificate that the scan did not get, so that nobody knows whether clients can trust it. */
export const lacksCertificate = ({ chains, versions }: AddressFacts): boolean =>
  chains.length === 0 &&
  Object.values(versions).some(
    one => one.status === 'offered' && one.suites.some(suite => !withoutCertificate.has(suite.authentication)),
  )

/** The suites of a version; none if it is not offered. */
export function offeredIn(facts: AddressFacts, version: ProtocolVersion): readonly OfferedSuite[] {
  const found = facts.versions[version]
  return found.status === 'offered' ? found.suites : []
}

/** Names of versions for people. */
export const versionNames: Readonly<Record<ProtocolVersion, string>> = {
  ssl2: 'SSL 2.0',
  ssl3: 'SSL 3.0',
  '1.0': 'TLS 1.0',
  '1.1': 'TLS 1.1',
  '1.2': 'TLS 1.2',
  '1.3': 'TLS 1.3',
}
