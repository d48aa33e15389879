import type { EphemeralKey, ProtocolVersion } from '../../../checks/tls-probe/facts'
import type { ChainFacts, ServerFacts } from './server-facts'

// Points of the SSL Labs Server Rating Guide, version 2009r.

/** The parts of a score, each from 0 to 100. */
export interface ScoreParts {
  protocol: number
  key_exchange: number
  cipher: number
}

/** A key that protects connections, with its points. `what`: for people, such as “DH parameters (1024 bits)”. */
interface RatedKey {
  what: string
  points: number
}

/** The score from 0 to 100, rounded down. If one of the parts is 0, so is the score. */
export const scoreOf = ({ protocol, key_exchange, cipher }: ScoreParts): number =>
  protocol * key_exchange * cipher === 0 ? 0 : Math.floor((3 * protocol + 3 * key_exchange + 4 * cipher) / 10)

/** The three parts of the score of a server that speaks TLS. */
export function scoreParts(server: ServerFacts): ScoreParts {
  return {
    protocol: betweenBestAndWorst(server.versions.map(version => versionPoints[version])),
    key_exchange: Math.min(100, ...ratedKeys(server).map(one => one.points)),
    cipher: betweenBestAndWorst(server.suites.map(suite => cipherPoints(suite.bits))),
  }
}

const versionPoints: Readonly<Record<ProtocolVersion, number>> = {
  ssl2: 0,
  ssl3: 80,
  '1.0': 90,
  '1.1': 95,
  '1.2': 100,
  '1.3': 100,
}

const cipherPoints = (bits: number): number => (bits === 0 ? 0 : bits < 128 ? 20 : bits < 256 ? 80 : 100)

/** The average of the best and the worst. A server that offers something without any protection gets nothing. */
const betweenBestAndWorst = (points: readonly number[]): number => {
  const worst = Math.min(...points)
  return points.length === 0 || worst === 0 ? 0 : (Math.max(...points) + worst) / 2
}

/** Everything that the key exchange depends on: keys of certificates, temporary keys, and groups. */
export function ratedKeys({ chains, suites, facts }: ServerFacts): RatedKey[] {
  return [
    ...chains.flatMap(certificateKey),
    ...suites.flatMap(suite => (suite.authentication === 'anonymous' ? [{ what: `${suite.name} (anonymous)`, points: 0 }] : [])),
    ...suites.flatMap(suite => (suite.ephemeral ? ephemeralKey(suite.ephemeral) : exportKey(suite))),
    ...facts.groups.flatMap(({ kind, bits, name }) =>
      kind === 'mlkem'
        ? []
        : [{ what: `${name} (${bits} bits)`, points: kind === 'dh' ? integerPoints(bits) : curvePoints(bits) }],
    ),
  ]
}

function certificateKey({ key: { type, bits }, subject }: ChainFacts): RatedKey[] {
  if (bits === null || type === 'other') return []
  const points = type === 'ec' ? curvePoints(bits) : integerPoints(bits)
  return [{ what: `${type.toUpperCase()} key of ${subject} (${bits} bits)`, points }]
}

function ephemeralKey({ kind, bits, group }: EphemeralKey): RatedKey[] {
  if (kind === 'mlkem') return []
  if (kind === 'ec' || kind === 'hybrid') return [{ what: `${group ?? 'Curve'} (${bits} bits)`, points: curvePoints(bits) }]
  const what = kind === 'dh' ? (group ?? 'DH parameters') : 'Temporary RSA key'
  return [{ what: `${what} (${bits} bits)`, points: integerPoints(bits) }]
}

/** Export suites have keys of at most 512 bits, also if they could not be read. */
const exportKey = ({ key_exchange: kind, name }: { key_exchange: string; name: string }): RatedKey[] =>
  kind.endsWith('_export') ? [{ what: `${name} (export)`, points: 40 }] : []

/** RSA, DSA, and Diffie-Hellman. */
const integerPoints = (bits: number): number => (bits < 512 ? 20 : bits < 1024 ? 40 : bits < 2048 ? 80 : bits < 4096 ? 90 : 100)

/** Elliptic curves of the same strength. */
const curvePoints = (bits: number): number => (bits < 110 ? 20 : bits < 123 ? 40 : bits < 163 ? 80 : bits < 225 ? 90 : 100)
