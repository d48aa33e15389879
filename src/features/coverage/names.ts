import type { ScanProtocol } from '../../checks/tls-probe/facts'
import { globOf } from '../../core/glob'

/** Which names are expected to have a certificate. */
export const coverages = ['all', 'watched', 'off'] as const
type Coverage = (typeof coverages)[number]

/** Why a name is expected to have one. */
export const causes = ['record', 'mail', 'monitor', 'agent'] as const
export type Cause = (typeof causes)[number]

/** A record of an active zone. Names are in lower case A-labels, without a trailing dot. */
export interface NamedRecord {
  /** Its name and the name of the zone. */
  name: string
  zoneId: string
  type: string
  /** The host of an MX record, or the target of a CNAME record; null for most others. */
  target: string | null
  /** Whether the provider answers for it with a certificate of its own. */
  isProxied: boolean
}

/** Where a name should be served. */
interface ExpectedPlace {
  port: number
  protocol: ScanProtocol
}

/** A server that is watched at a name. */
interface WatchedName extends ExpectedPlace {
  name: string
}

export interface NameSources {
  coverage: Coverage
  /** Patterns of names that are left out, in which `*` stands for any text. */
  ignore: readonly string[]
  /** Ports at which the names of records are looked for. */
  ports: readonly number[]
  /** The active zones by name. */
  zones: ReadonlyMap<string, { id: string }>
  records: Iterable<NamedRecord>
  /** What monitors connect to with TLS. */
  monitors: Iterable<WatchedName>
  /** Names for which servers with an agent present a certificate. */
  agents: Iterable<string>
}

/** A name that should have a valid certificate. */
export interface ExpectedName {
  name: string
  /** The zone with the longest name that contains it; null if there is none. */
  zoneId: string | null
  because: readonly Cause[]
  places: readonly ExpectedPlace[]
}

export const maxName = 253

/**
 * Finds the names that should have a certificate, by name. Leaves out wildcards, names with a label that begins with `_`, names without a
 * dot, IP addresses, and hosts of mail servers outside of all zones. Works in steps.
 */
export function* expectedNames(sources: NameSources): Generator<void, Map<string, ExpectedName>> {
  const { coverage, zones } = sources
  const found = new Map<string, { because: Set<Cause>; places: Map<string, ExpectedPlace> }>()
  if (coverage === 'off') return new Map()
  const ignored = sources.ignore.map(globOf)
  const proxied = new Set<string>()
  const add = (name: string, cause: Cause, places: readonly ExpectedPlace[]) => {
    if (!isHostname(name) || ignored.some(fits => fits(name))) return
    let one = found.get(name)
    if (!one) found.set(name, (one = { because: new Set(), places: new Map() }))
    one.because.add(cause)
    for (const place of places) one.places.set(`${place.port}/${place.protocol}`, place)
  }
  const web = sources.ports.map(port => ({ port, protocol: 'tls' as const }))
  let steps = 0
  if (coverage === 'all')
    for (const { name, type, target, isProxied } of sources.records) {
      if (isProxied) proxied.add(name)
      else if (type !== 'MX') add(name, 'record', web)
      else if (target !== null && zoneIdOf(target, zones) !== null) add(target, 'mail', [{ port: 25, protocol: 'smtp' }])
      if (++steps % stepSize === 0) yield
    }
  // A name with a record that is proxied has others only if they are proxied too.
  for (const name of proxied) found.delete(name)
  for (const { name, port, protocol } of sources.monitors) {
    add(name, 'monitor', [{ port, protocol }])
    if (++steps % stepSize === 0) yield
  }
  for (const name of sources.agents) {
    add(name, 'agent', web)
    if (++steps % stepSize === 0) yield
  }
  const expected = new Map<string, ExpectedName>()
  for (const [name, { because, places }] of found) {
    expected.set(name, { name, zoneId: zoneIdOf(name, zones), because: [...because], places: [...places.values()] })
    if (++steps % stepSize === 0) yield
  }
  return expected
}

const stepSize = 200

/** Names of public certificates have letters, digits, and hyphens (RFC 5280 section 4.2.1.6); the last label isn’t a number. */
const isHostname = (name: string): boolean =>
  name.length <= maxName && /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+(?=[a-z])[a-z0-9-]{1,63}$/.test(name)

/** The id of the zone with the longest name that contains a name; null if there is none. */
export function zoneIdOf(name: string, zones: ReadonlyMap<string, { id: string }>): string | null {
  for (let rest = name; ;) {
    const zone = zones.get(rest)
    if (zone) return zone.id
    const dot = rest.indexOf('.')
    if (dot < 0) return null
    rest = rest.slice(dot + 1)
  }
}

/** By itself, by a wildcard for its first label (RFC 9525 section 6.3), or not at all. */
export const covers = ['full', 'wildcard', 'none'] as const
export type Covered = (typeof covers)[number]

/** How certificate names cover a name. */
export function coverOf(name: string, names: Pick<ReadonlySet<string>, 'has'>): Covered {
  if (names.has(name)) return 'full'
  const dot = name.indexOf('.')
  return dot > 0 && names.has(`*${name.slice(dot)}`) ? 'wildcard' : 'none'
}
