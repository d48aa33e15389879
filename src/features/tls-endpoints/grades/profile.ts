import type { ProtocolVersion } from '../../../checks/tls-probe/facts'
import type { ServerFacts } from './server-facts'

// Server Side TLS by Mozilla, version 5.8: https://ssl-config.mozilla.org/guidelines/5.8.json

/** From the strictest to none. */
export const profiles = ['modern', 'intermediate', 'old', 'none'] as const
export type Profile = (typeof profiles)[number]

const tls13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256']
const ecdhe = (suites: readonly string[]): string[] =>
  suites.flatMap(one => [`TLS_ECDHE_ECDSA_WITH_${one}`, `TLS_ECDHE_RSA_WITH_${one}`])
const intermediate = [...tls13, ...ecdhe(['AES_128_GCM_SHA256', 'AES_256_GCM_SHA384', 'CHACHA20_POLY1305_SHA256'])]
const old = [
  ...intermediate,
  ...ecdhe(['AES_128_CBC_SHA256', 'AES_128_CBC_SHA', 'AES_256_CBC_SHA384', 'AES_256_CBC_SHA']),
  ...[
    'AES_128_GCM_SHA256',
    'AES_256_GCM_SHA384',
    'AES_128_CBC_SHA256',
    'AES_256_CBC_SHA256',
    'AES_128_CBC_SHA',
    'AES_256_CBC_SHA',
  ].map(one => `TLS_RSA_WITH_${one}`),
  'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
]

interface Requirements {
  versions: readonly ProtocolVersion[]
  suites: ReadonlySet<string>
  /** Least bits of the keys of certificates; null if keys of this type are not allowed. */
  keys: { rsa: number | null; ec: number }
}

const requirements: Readonly<Record<Exclude<Profile, 'none'>, Requirements>> = {
  modern: { versions: ['1.3'], suites: new Set(tls13), keys: { rsa: null, ec: 256 } },
  intermediate: { versions: ['1.2', '1.3'], suites: new Set(intermediate), keys: { rsa: 2048, ec: 256 } },
  old: { versions: ['1.0', '1.1', '1.2', '1.3'], suites: new Set(old), keys: { rsa: 2048, ec: 256 } },
}

/**
 * The strictest configuration that a server meets with its versions, suites, and keys. How long the certificate and HSTS are valid is
 * not considered.
 */
export const profileOf = (server: ServerFacts): Profile =>
  profiles.find(one => one === 'none' || meets(server, requirements[one]))!

const meets = ({ versions, suites, chains }: ServerFacts, required: Requirements): boolean =>
  versions.every(one => required.versions.includes(one)) &&
  suites.every(one => required.suites.has(one.name)) &&
  chains.every(({ key: { type, bits } }) => {
    const least = type === 'rsa' || type === 'ec' ? required.keys[type] : null
    return least !== null && bits !== null && bits >= least
  })
