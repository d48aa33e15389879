import type { Chains } from './chains'
import type { Exchanges } from './exchange'
import type { CipherSuite, OfferedSuite, ProtocolVersion, VersionFacts } from './facts'
import { maxSuitesForOldServers, protocolVersionAlert, type Handshakes, type Outcome } from './handshakes'
import { clientHello2 } from './hello'
import { Ssl2Reader } from './ssl2'
import { suiteOf, suites13, suites2, suitesBefore13 } from './suites'

type Version = Exclude<ProtocolVersion, 'ssl2'>

/**
 * Finds the suites that a server accepts in a version: what it chooses is not offered again, until it refuses.
 * @param failed called with the error if the scan of the version ends early, and some suites are known
 * @param first the outcome of {@link firstOutcome}, if it is known
 * @throws ExchangeFailed if none is
 */
export async function scanVersion(
  handshakes: Handshakes,
  version: Version,
  failed: (error: unknown) => void,
  first?: Outcome,
): Promise<VersionFacts> {
  const found: OfferedSuite[] = []
  let complete = true
  try {
    const refusal = await eliminate(handshakes, version, suitesOf(version), found, first)
    if (found.length === 0 && refusal.kind === 'refused' && !rejectsVersion(refusal)) await insist(handshakes, version, found)
  } catch (error) {
    if (found.length === 0) throw error
    failed(error)
    complete = false
  }
  return found.length > 0 ? { status: 'offered', suites: found, order: null, complete } : { status: 'not_offered' }
}

/** What a server makes of all suites of a version. @throws ExchangeFailed */
export const firstOutcome = (handshakes: Handshakes, version: Version): Promise<Outcome> =>
  handshakes.start({ version, suites: suitesOf(version) })

/** Whether a server rejects the version of an offer, and with it every older one. */
export const rejectsVersion = (outcome: Outcome): boolean => outcome.kind === 'refused' && outcome.alert === protocolVersionAlert

const suitesOf = (version: Version): readonly number[] => (version === '1.3' ? suites13 : suitesBefore13)

/** @returns the outcome that ended it: a refusal, or another version */
async function eliminate(
  handshakes: Handshakes,
  version: Version,
  suites: readonly number[],
  found: OfferedSuite[],
  first?: Outcome,
): Promise<Outcome> {
  let remaining = suites
  let hasClosed = false
  for (let known = first; ; known = undefined) {
    const outcome = known ?? (await handshakes.start({ version, suites: remaining }))
    if (outcome.kind === 'refused') {
      // Servers under load close connections too, so a known one is asked twice.
      if (outcome.alert !== null || found.length === 0 || hasClosed) return outcome
      hasClosed = true
      continue
    }
    const { flight } = outcome
    if (flight.version !== version) return outcome
    found.push({ ...flight.suite, ephemeral: flight.ephemeral })
    remaining = remaining.filter(id => id !== flight.suite.id)
    if (remaining.length === 0) return { kind: 'refused', alert: null }
  }
}

/** Asks in another way, after a refusal that may have had other reasons than the version. */
async function insist(handshakes: Handshakes, version: Version, found: OfferedSuite[]): Promise<void> {
  const all = suitesOf(version)
  if (version === '1.3') {
    handshakes.sendsKey = true
    await eliminate(handshakes, version, all, found)
    return
  }
  if (handshakes.acceptsLongLists) return
  const accepted: OfferedSuite[] = []
  for (let from = 0; from < all.length; from += maxSuitesForOldServers)
    await eliminate(handshakes, version, all.slice(from, from + maxSuitesForOldServers), accepted)
  // The parts do not tell the order across them.
  if (accepted.length > 0)
    await eliminate(
      handshakes,
      version,
      accepted.map(one => one.id),
      found,
    )
}

/**
 * Finds out who decides between suites, by offering them the other way around. Offers compression as well.
 * @throws ExchangeFailed
 */
export async function orderOf(
  handshakes: Handshakes,
  version: Version,
  suites: readonly CipherSuite[],
): Promise<'server' | 'client' | null> {
  const compression = version !== '1.3'
  if (suites.length < 2 && !compression) return null
  const reversed = suites.toReversed()
  // Some servers with an own order let clients without AES in hardware choose ChaCha20, by offering it first.
  const first = reversed.findIndex(one => one.cipher !== 'CHACHA20')
  if (first > 0) reversed.unshift(...reversed.splice(first, 1))
  const outcome = await handshakes.start({ version, suites: reversed.map(one => one.id), compression })
  if (outcome.kind === 'refused' || outcome.flight.version !== version || suites.length < 2) return null
  const chosen = outcome.flight.suite.id
  if (chosen === suites[0]!.id) return 'server'
  return chosen === reversed[0]!.id ? 'client' : null
}

/** @throws ExchangeFailed */
export async function scanSsl2(exchanges: Exchanges, chains: Chains): Promise<VersionFacts> {
  const answer = await exchanges.ask(clientHello2(suites2), new Ssl2Reader(suites2))
  // A server without a suite accepts no connection.
  if (answer === 'closed' || answer === 'refused' || answer.suites.length === 0) return { status: 'not_offered' }
  if (answer.certificate) chains.add({ certificates: [answer.certificate], count: 1 }, 'ssl2', 'rsa')
  // Clients choose from the server's list (section 1.2 of the specification).
  const suites = answer.suites.map(id => ({ ...suiteOf.get(id)!, ephemeral: null }))
  return { status: 'offered', suites, order: suites.length > 1 ? 'client' : null, complete: true }
}
