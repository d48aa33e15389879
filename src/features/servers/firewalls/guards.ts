import { formatAddress, parseAddress, parseRange } from '../../../core/net/address'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { guardCodes, maxPort, passes, portRange, type GuardCode, type PlainRule, type RuleProtocol, type Rules } from './rules'

export interface GuardReason {
  code: GuardCode
  /** Message that names the servers or ports. */
  detail: string
}

/** Where agents send reports. The address is null if the URL of the hub has a name. */
export interface HubAddress {
  address: string | null
  port: number
}

export type AddressFamily = 4 | 6
export const addressFamilies = [4, 6] as const satisfies readonly AddressFamily[]

/** A server whose rules change. */
export interface GuardedServer {
  name: string
  /** What its firewalls allow together; null without firewalls. Servers with the same rules should share them. */
  before: Rules
  after: Rules
  /** Address families that it has, as far as that is known; otherwise both. */
  families: readonly AddressFamily[]
  /** TCP ports that its monitors find up, and over which address families. */
  monitors: readonly { name: string; port: number; families: readonly AddressFamily[] }[]
  /** Where its agent must reach the hub; null without an agent, or if the agent enforces the rules, which always lets itself through. */
  hub: HubAddress | null
}

/** Ports of services that are attacked as soon as anyone can reach them. */
const sensitivePorts = [22, 2375, 3306, 3389, 5432, 5900, 6379, 8006, 9200, 10_250, 27_017]
const world = { 4: networkSpan('0.0.0.0/0'), 6: networkSpan('::/0') }
const protocols = ['tcp', 'udp', 'icmp', 'esp', 'gre'] as const satisfies readonly RuleProtocol[]

/**
 * Returns the reasons to hold back a change, without blocking the event loop.
 * @param caller address of the client that asks for it; null if unknown
 */
export async function guardReasons(servers: readonly GuardedServer[], caller: string | null): Promise<GuardReason[]> {
  const address = caller === null ? null : parseAddress(caller)
  const span = address && networkSpan(formatAddress(address))
  const facts = new Map<PlainRule, Facts>()
  const known = new Map<Rules, Openings>()
  const openings = async (rules: Rules): Promise<Openings | null> => {
    if (rules === null) return null
    const found = known.get(rules)
    if (found) return found
    const incoming: Facts[] = []
    for (const rule of rules)
      if (rule.direction === 'in') {
        const own = facts.get(rule) ?? factsOf(rule, span)
        facts.set(rule, own)
        incoming.push(own)
        if (isTurnOver()) await yieldToEventLoop()
      }
    const computed = openingsOf(incoming)
    known.set(rules, computed)
    return computed
  }
  const reachable = new Map<Rules, readonly AddressFamily[]>()
  const waysToHub = (rules: Rules, hub: HubAddress): readonly AddressFamily[] => {
    const found = reachable.get(rules) ?? familiesToHub(rules, hub)
    reachable.set(rules, found)
    return found
  }
  const affected = new Map<GuardCode, string[]>(guardCodes.map(code => [code, []]))
  for (const { name, before: was, after: is, families, monitors, hub } of servers) {
    const [before, after] = [await openings(was), await openings(is)]
    const add = (code: GuardCode, one: string) => affected.get(code)!.push(one)
    const addOver = (code: GuardCode, one: string, some: readonly AddressFamily[]) => {
      if (some.length > 0) add(code, some.length === 1 ? `${one} over IPv${some[0]}` : one)
    }
    const openTo = (port: number, found: Openings | null) => addressFamilies.filter(one => isOpen(found, 'anyone', one, port))
    if (isCutOff(openTo(22, before), openTo(22, after), families)) add('cuts_ssh', name)
    if (address !== null && losesWay(before, after)) add('cuts_caller', name)
    for (const one of monitors) {
      const lost = openTo(one.port, before).filter(family => !isOpen(after, 'anyone', family, one.port))
      // A name can have addresses of both families, and whichever the resolver returns first is checked.
      if (lost.some(family => one.families.includes(family)))
        add('cuts_monitors', `“${one.name}” (port ${one.port} of ${name}${lost.length === 1 ? ` over IPv${lost[0]}` : ''})`)
    }
    if (hub && isCutOff(waysToHub(was, hub), waysToHub(is, hub), families)) add('cuts_agent', name)
    const newlyOpen = addressFamilies.filter(one => opensEverything(after, one) && !opensEverything(before, one))
    addOver('opens_everything', name, newlyOpen)
    const restricted = addressFamilies.filter(one => !opensEverything(after, one))
    for (const port of sensitivePorts) {
      const opened = restricted.filter(one => isOpen(after, 'world', one, port) && !isOpen(before, 'world', one, port))
      addOver('opens_sensitive', `${port} of ${name}`, opened)
    }
    if (isTurnOver()) await yieldToEventLoop()
  }
  return [...affected]
    .filter(([, names]) => names.length > 0)
    .map(([code, names]) => ({ code, detail: details[code](listed(names), caller) }))
}

const details: Record<GuardCode, (names: string, caller: string | null) => string> = {
  cuts_ssh: names => `No address could connect to port 22 (SSH) of ${names}.`,
  cuts_caller: (names, caller) =>
    `Your address ${caller} could no longer connect to ports of ${names} that it can connect to now.`,
  cuts_monitors: names => `Monitors that are up would go down: ${names}.`,
  cuts_agent: names => `The agent could no longer reach the hub from ${names}.`,
  opens_everything: names => `Everyone could connect to all ports of ${names}.`,
  opens_sensitive: names => `Everyone could connect to these sensitive ports: ${names}.`,
}

/** The address families over which the hub can be reached. */
function familiesToHub(rules: Rules, { address, port }: HubAddress): readonly AddressFamily[] {
  if (address !== null)
    return passes(rules, { direction: 'out', protocol: 'tcp', port, address }) ? [networkSpan(address).family] : []
  const outgoing = rules?.filter(one => one.direction === 'out') ?? []
  if (outgoing.length === 0) return addressFamilies
  const opening = outgoing.filter(rule => covers(joined(spansOf(rule, 'tcp'), nextPort), [port, port]))
  return addressFamilies.filter(family => opening.some(one => one.networks.some(network => familyOf(network) === family)))
}

/** Whether a way is lost, and none remains over an address family that the server has. */
const isCutOff = (
  before: readonly AddressFamily[],
  after: readonly AddressFamily[],
  families: readonly AddressFamily[],
): boolean => before.some(one => !after.includes(one)) && !families.some(one => after.includes(one))

const maxListed = 5
const listed = (names: readonly string[]): string =>
  names.length <= maxListed ? names.join(', ') : `${names.slice(0, maxListed).join(', ')}, and ${names.length - maxListed} others`

type Span<N> = readonly [low: N, high: N]
/** Open ports by protocol, sorted and disjoint. A protocol without ports is open if all ports are. */
type Ports = Record<(typeof protocols)[number], Span<number>[]>

/** Which ports rules open, and to whom. */
interface Openings {
  /** To at least one address, by address family. */
  anyone: Record<AddressFamily, Ports>
  /** To all addresses of a family. */
  world: Record<AddressFamily, Ports>
  caller: Ports
}

/** What is known of a rule, which many servers can share. */
interface Facts {
  isBlock: boolean
  opens: Ports
  networks: NetworkSpan[]
  /** The address families whose addresses its networks contain completely. */
  worldOf: readonly AddressFamily[]
  includesCaller: boolean
}

function factsOf(rule: PlainRule, caller: NetworkSpan | null): Facts {
  const networks = rule.networks.map(networkSpan)
  const covered = coverageOf(networks)
  return {
    isBlock: rule.action === 'block',
    opens: Object.fromEntries(protocols.map(one => [one, joined(spansOf(rule, one), nextPort)])) as Ports,
    networks,
    worldOf: addressFamilies.filter(one => covered(world[one])),
    includesCaller:
      caller !== null && networks.some(({ family, span }) => family === caller.family && covers([span], caller.span)),
  }
}

function openingsOf(rules: readonly Facts[]): Openings {
  const allowed = rules.filter(one => !one.isBlock)
  const isBlocked = coverageOf(rules.filter(one => one.isBlock).flatMap(one => one.networks))
  const isCallerBlocked = rules.some(one => one.isBlock && one.includesCaller)
  const portsOf = (some: readonly Facts[]) =>
    Object.fromEntries(
      protocols.map(protocol => [
        protocol,
        joined(
          some.flatMap(one => one.opens[protocol]),
          nextPort,
        ),
      ]),
    ) as Ports
  const byFamily = (isOpening: (rule: Facts, family: AddressFamily) => boolean) => ({
    4: portsOf(allowed.filter(one => isOpening(one, 4))),
    6: portsOf(allowed.filter(one => isOpening(one, 6))),
  })
  return {
    anyone: byFamily(({ networks }, family) => networks.some(one => one.family === family && !isBlocked(one))),
    world: byFamily(({ worldOf }, family) => worldOf.includes(family) && !isBlocked(world[family])),
    caller: portsOf(isCallerBlocked ? [] : allowed.filter(one => one.includesCaller)),
  }
}

interface NetworkSpan {
  family: AddressFamily
  /** From its first to its last address. */
  span: Span<bigint>
}

/** Returns a function that tells whether networks together contain another one completely. */
function coverageOf(networks: readonly NetworkSpan[]): (network: NetworkSpan) => boolean {
  const [ipv4, ipv6] = addressFamilies.map(family =>
    joined(
      networks.filter(one => one.family === family).map(one => one.span),
      one => one + 1n,
    ),
  )
  return ({ family, span }) => covers(family === 4 ? ipv4! : ipv6!, span)
}

function networkSpan(network: string): NetworkSpan {
  const [address, prefix] = parseRange(network)!
  const bytes = address.toByteArray()
  const low = bytes.reduce((sum, one) => (sum << 8n) | BigInt(one), 0n)
  const size = 1n << BigInt(bytes.length * 8 - prefix)
  return { family: bytes.length === 4 ? 4 : 6, span: [low, low + size - 1n] }
}

const familyOf = (network: string): AddressFamily => (network.includes(':') ? 6 : 4)

const nextPort = (one: number): number => one + 1

function spansOf({ protocol, ports }: PlainRule, wanted: RuleProtocol): Span<number>[] {
  if (protocol !== 'any' && protocol !== wanted) return []
  return protocol === 'any' || ports.length === 0 ? [[1, maxPort]] : ports.map(one => portRange(one)!)
}

/** Sorts spans and joins those that overlap or touch. @param next the number after another */
function joined<N extends number | bigint>(spans: readonly Span<N>[], next: (one: N) => N): Span<N>[] {
  const found: Span<N>[] = []
  for (const [low, high] of spans.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))) {
    const last = found.at(-1)
    if (!last || low > next(last[1])) found.push([low, high])
    else if (high > last[1]) found[found.length - 1] = [last[0], high]
  }
  return found
}

/** Whether one of sorted, disjoint spans contains another. */
function covers<N extends number | bigint>(spans: readonly Span<N>[], [low, high]: Span<N>): boolean {
  let [from, to] = [0, spans.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (spans[middle]![0] <= low) from = middle + 1
    else to = middle
  }
  const found = spans[from - 1]
  return found !== undefined && high <= found[1]
}

const isOpen = (openings: Openings | null, to: 'anyone' | 'world', family: AddressFamily, port: number): boolean =>
  openings === null || covers(openings[to][family].tcp, [port, port])

/** Whether all addresses of a family can connect to all ports. */
const opensEverything = (openings: Openings | null, family: AddressFamily): boolean =>
  openings === null || covers(openings.world[family].tcp, [1, maxPort])

/**
 * Whether the caller loses a port that a rule allowed. The first firewall of a server is expected to close ports, but not all.
 */
function losesWay(before: Openings | null, after: Openings | null): boolean {
  if (after === null) return false
  if (before === null) return protocols.every(one => after.caller[one].length === 0)
  return protocols.some(one => before.caller[one].some(span => !covers(after.caller[one], span)))
}
