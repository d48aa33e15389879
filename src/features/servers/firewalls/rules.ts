import type { FieldProblem } from '../../../core/problem'
import { formatAddress, formatNetwork, inRanges, parseAddress, parseRange, type AddressRange } from '../../../core/net/address'

export const ruleProtocols = ['tcp', 'udp', 'icmp', 'esp', 'gre', 'any'] as const
export type RuleProtocol = (typeof ruleProtocols)[number]
type Direction = 'in' | 'out'

/** A rule as people enter it. Everything that no rule allows is dropped. */
export interface FirewallRule {
  /** Unique within the firewall. */
  id: string
  direction: Direction
  protocol: RuleProtocol
  /** Ports and ranges, such as `443` and `8000-8010`; empty for all ports. */
  ports: string[]
  /** For `in`: CIDRs and dynamic IP sources (`dip_…`, `dip_…/prefix6`). */
  sources: string[]
  /** For `out`: CIDRs. */
  destinations: string[]
  description: string
}

/** A rule whose dynamic IP sources are resolved to networks. */
export interface PlainRule {
  id: string
  direction: Direction
  protocol: RuleProtocol
  ports: string[]
  networks: string[]
}

interface Packet {
  direction: Direction
  protocol: Exclude<RuleProtocol, 'any'>
  /** Destination port; null for protocols without ports. */
  port: number | null
  /** Source of incoming packets, destination of outgoing ones. */
  address: string
}

const maxRules = 50
export const maxNetworks = 100
const maxPorts = 20
const maxPort = 65_535

const sourcePattern = /^(dip_[0-9a-z]{26})(\/prefix6)?$/

/** A dynamic IP source that a rule names: its addresses, or its delegated IPv6 prefix. */
interface DynamicSource {
  sourceId: string
  isPrefix: boolean
}

/** The dynamic IP source that an entry names; null for a network. */
export function dynamicSourceOf(text: string): DynamicSource | null {
  const [, sourceId, prefix] = sourcePattern.exec(text) ?? []
  return sourceId === undefined ? null : { sourceId, isPrefix: prefix !== undefined }
}

/** IDs of the dynamic IP sources that rules name. */
export const namedSources = (rules: readonly FirewallRule[]): string[] => [
  ...new Set(rules.flatMap(rule => rule.sources.flatMap(one => dynamicSourceOf(one)?.sourceId ?? []))),
]

const hasPorts = (protocol: RuleProtocol): boolean => protocol === 'tcp' || protocol === 'udp'

/** Parses a port or a range; null for other texts. */
function portRange(text: string): [number, number] | null {
  const [, low, high = low] = /^(0|[1-9]\d{0,5})(?:-(0|[1-9]\d{0,5}))?$/.exec(text) ?? []
  return low === undefined ? null : [Number(low), Number(high)]
}

/** Returns what is wrong with rules. The message of each problem names the rule. */
export function ruleProblems(rules: readonly FirewallRule[], pointer = '#/rules'): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (rules.length > maxRules)
    problems.push({
      pointer,
      code: 'too_long',
      detail: `can contain at most ${maxRules} rules, but ${rules.length} were given.`,
    })
  const ids = new Set<string>()
  for (const [at, rule] of rules.entries()) {
    const add = (field: string, code: string, detail: string) =>
      problems.push({ pointer: `${pointer}/${at}/${field}`, code, detail: `of the rule ${rule.id} ${detail}` })
    if (ids.has(rule.id)) add('id', 'already_exists', 'is also the ID of another rule. IDs must be unique within the firewall.')
    ids.add(rule.id)
    // What a cloud has may be anything.
    if (!ruleProtocols.includes(rule.protocol)) add('protocol', 'unsupported', `can’t be ${String(rule.protocol)}.`)
    portProblems(rule, add)
    const [field, other] =
      rule.direction === 'in' ? (['sources', 'destinations'] as const) : (['destinations', 'sources'] as const)
    if (rule[other].length > 0)
      add(other, 'not_allowed', `must be empty, because the direction is \`${rule.direction}\`. Use \`${field}\`.`)
    networkProblems(rule, field, add)
  }
  return problems
}

type Add = (field: string, code: string, detail: string) => void

function portProblems({ ports, protocol }: FirewallRule, add: Add): void {
  if (ports.length > 0 && !hasPorts(protocol)) add('ports', 'not_allowed', `must be empty for the protocol ${protocol}.`)
  if (ports.length > maxPorts) add('ports', 'too_long', `can contain at most ${maxPorts} ports, but ${ports.length} were given.`)
  for (const [at, text] of ports.entries()) {
    const range = portRange(text)
    if (!range)
      add(`ports/${at}`, 'pattern', `must be a port such as 443 or a range such as 8000-8010, not ${JSON.stringify(text)}.`)
    else if (range.some(port => port < 1 || port > maxPort))
      add(`ports/${at}`, 'out_of_range', `must be between 1 and ${maxPort}, not ${text}.`)
    else if (range[0] > range[1])
      add(`ports/${at}`, 'order', `must start with the lower port: ${range[1]}-${range[0]} instead of ${text}.`)
    else if (ports.indexOf(text) < at) add(`ports/${at}`, 'duplicate', `contains ${text} twice.`)
  }
}

function networkProblems(rule: FirewallRule, field: 'sources' | 'destinations', add: Add): void {
  const networks = rule[field]
  if (networks.length === 0)
    add(field, 'required', 'must contain at least one network. To allow all addresses, use 0.0.0.0/0 and ::/0.')
  if (networks.length > maxNetworks)
    add(field, 'too_long', `can contain at most ${maxNetworks} entries, but ${networks.length} were given.`)
  const seen = new Set<string>()
  for (const [at, text] of networks.entries()) {
    if (field === 'sources' && dynamicSourceOf(text)) {
      if (seen.has(text)) add(`${field}/${at}`, 'duplicate', `contains ${text} twice.`)
      seen.add(text)
      continue
    }
    const range = parseRange(text)
    if (!range) {
      const kinds = field === 'sources' ? ', or the ID of a dynamic IP source' : ''
      add(
        `${field}/${at}`,
        'pattern',
        `must be a network such as 203.0.113.0/24 or 2001:db8::/32${kinds}, not ${JSON.stringify(text)}.`,
      )
      continue
    }
    // The notation is IPv6, but the packets are IPv4.
    if (range[0].kind() === 'ipv4' && text.includes(':')) {
      add(`${field}/${at}`, 'mixed_families', `must not mix address families: use ${formatNetwork(range)} instead of ${text}.`)
      continue
    }
    const network = formatNetwork(range)
    if (!network.startsWith(`${formatAddress(range[0])}/`))
      add(`${field}/${at}`, 'host_bits', `must be a network address: ${text} has host bits. Use ${network}.`)
    if (seen.has(network)) add(`${field}/${at}`, 'duplicate', `contains ${network} twice.`)
    seen.add(network)
  }
}

/** The canonical form of valid rules: networks have a prefix length and standard notation, ranges of one port become that port. */
export const canonicalRules = (rules: readonly FirewallRule[]): FirewallRule[] =>
  rules.map(rule => ({
    ...rule,
    ports: rule.ports.map(canonicalPort),
    sources: rule.sources.map(one => (dynamicSourceOf(one) ? one : canonicalNetwork(one))),
    destinations: rule.destinations.map(canonicalNetwork),
  }))

function canonicalPort(text: string): string {
  const [low, high] = portRange(text)!
  return low === high ? String(low) : `${low}-${high}`
}

const canonicalNetwork = (text: string): string => formatNetwork(parseRange(text)!)

/** What one entry of a rule allows. A set of rules is equal to another one if their entries are. */
export interface Allowed {
  direction: Direction
  protocol: RuleProtocol
  /** A port or a range; null for all ports. */
  port: string | null
  network: string
}

const keyOf = ({ direction, protocol, port, network }: Allowed): string => `${direction} ${protocol} ${port ?? '*'} ${network}`

/** Everything that rules allow, each entry once, in a fixed order. Order and grouping of rules mean nothing. */
export function allowedBy(rules: readonly PlainRule[]): Allowed[] {
  const all = new Map<string, Allowed>()
  for (const { direction, protocol, ports, networks } of rules)
    for (const network of networks)
      for (const port of ports.length === 0 ? [null] : ports) {
        const one = { direction, protocol, port: port === `1-${maxPort}` ? null : port, network }
        all.set(keyOf(one), one)
      }
  return [...all.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

/** What a change of rules allows and no longer allows. */
export function ruleChanges(before: readonly PlainRule[], after: readonly PlainRule[]): { added: Allowed[]; removed: Allowed[] } {
  const [old, current] = [allowedBy(before), allowedBy(after)]
  const [oldKeys, currentKeys] = [new Set(old.map(keyOf)), new Set(current.map(keyOf))]
  return { added: current.filter(one => !oldKeys.has(keyOf(one))), removed: old.filter(one => !currentKeys.has(keyOf(one))) }
}

/** Whether two sets of rules allow the same. */
export function isSameSet(a: readonly PlainRule[], b: readonly PlainRule[]): boolean {
  const { added, removed } = ruleChanges(a, b)
  return added.length === 0 && removed.length === 0
}

/**
 * Resolves dynamic IP sources.
 * @param networksOf the current networks of a source for a rule
 */
export const resolvedRules = (
  rules: readonly FirewallRule[],
  networksOf: (named: DynamicSource, ruleId: string) => readonly string[],
): PlainRule[] =>
  rules.map(({ id, direction, protocol, ports, sources, destinations }) => ({
    ...{ id, direction, protocol, ports },
    networks:
      direction === 'out'
        ? destinations
        : [
            ...new Set(
              sources.flatMap(one => {
                const named = dynamicSourceOf(one)
                return named ? networksOf(named, id) : [one]
              }),
            ),
          ],
  }))

/** Rules by which packets are judged fast. Null: the server has no firewall. */
type Rules = readonly PlainRule[] | null

/**
 * Whether a packet that opens a connection passes. Without firewalls, everything does. Outgoing packets are only restricted by
 * firewalls with outgoing rules.
 */
export function passes(rules: Rules, packet: Packet): boolean {
  if (rules === null) return true
  const relevant = rules.filter(one => one.direction === packet.direction)
  if (packet.direction === 'out' && relevant.length === 0) return true
  const address = parseAddress(packet.address)!
  return relevant.some(rule => allowsPort(rule, packet.protocol, packet.port) && inRanges(address, rule.networks.map(rangeOf)))
}

const rangeOf = (network: string): AddressRange => parseRange(network)!

const allowsPort = ({ protocol, ports }: PlainRule, wanted: RuleProtocol, port: number | null): boolean =>
  protocol === 'any' ||
  (protocol === wanted &&
    (ports.length === 0 ||
      (port !== null &&
        ports.some(text => {
          const [low, high] = portRange(text)!
          return port >= low && port <= high
        }))))

/** Reasons that hold back a change until each is allowed by its code. */
export const guardCodes = ['cuts_ssh', 'cuts_caller', 'cuts_monitors', 'opens_everything', 'opens_sensitive'] as const
export type GuardCode = (typeof guardCodes)[number]

export interface GuardReason {
  code: GuardCode
  /** Message that names the servers or ports. */
  detail: string
}

/** A server whose rules change. */
export interface GuardedServer {
  name: string
  /** What its firewalls allow together; null without firewalls. */
  before: Rules
  after: Rules
  /** TCP ports that its monitors find up. */
  monitors: readonly { name: string; port: number }[]
}

/** Ports of services that are attacked as soon as anyone can reach them. */
const sensitivePorts = [22, 2375, 3306, 3389, 5432, 5900, 6379, 8006, 9200, 10_250, 27_017]
const world = ['0.0.0.0/0', '::/0']

/** Returns the reasons to hold back a change. @param caller address of the client that asks for it; null if unknown */
export function guardReasons(servers: readonly GuardedServer[], caller: string | null): GuardReason[] {
  const reasons: GuardReason[] = []
  const add = (code: GuardCode, affected: readonly string[], detail: (names: string) => string) => {
    if (affected.length > 0) reasons.push({ code, detail: detail(listed(affected)) })
  }
  const named = (is: (one: GuardedServer) => boolean) => servers.filter(is).map(one => one.name)
  add(
    'cuts_ssh',
    named(one => hasTcpSource(one.before, 22) && !hasTcpSource(one.after, 22)),
    names => `No address could connect to port 22 (SSH) of ${names}.`,
  )
  if (caller !== null && parseAddress(caller))
    add(
      'cuts_caller',
      named(one => losesWay(one, caller)),
      names => `Your address ${caller} could no longer connect to ports of ${names} that it can connect to now.`,
    )
  add(
    'cuts_monitors',
    servers.flatMap(({ name, before, after, monitors }) =>
      monitors
        .filter(({ port }) => hasTcpSource(before, port) && !hasTcpSource(after, port))
        .map(monitor => `“${monitor.name}” (port ${monitor.port} of ${name})`),
    ),
    names => `Monitors that are up would go down: ${names}.`,
  )
  add(
    'opens_everything',
    named(one => opensEverything(one.after) && !opensEverything(one.before)),
    names => `Everyone could connect to all ports of ${names}.`,
  )
  const opened = (one: GuardedServer) =>
    opensEverything(one.after)
      ? []
      : sensitivePorts.filter(port => isWorldOpen(one.after, port) && !isWorldOpen(one.before, port))
  add(
    'opens_sensitive',
    servers.flatMap(one => opened(one).map(port => `${port} of ${one.name}`)),
    names => `Everyone could connect to these sensitive ports: ${names}.`,
  )
  return reasons
}

const maxListed = 5
const listed = (names: readonly string[]): string =>
  names.length <= maxListed ? names.join(', ') : `${names.slice(0, maxListed).join(', ')}, and ${names.length - maxListed} others`

const incoming = (rules: readonly PlainRule[]) => rules.filter(one => one.direction === 'in')

const hasTcpSource = (rules: Rules, port: number): boolean =>
  rules === null || incoming(rules).some(one => one.networks.length > 0 && allowsPort(one, 'tcp', port))

/**
 * Whether an address loses a port that a rule allowed. The first firewall of a server is
 * expected to close ports, but not all.
 */
function losesWay({ before, after }: GuardedServer, caller: string): boolean {
  const address = parseAddress(caller)!
  if (after === null) return false
  const reaches = (one: PlainRule) => inRanges(address, one.networks.map(rangeOf))
  const remaining = incoming(after).filter(reaches)
  if (before === null) return remaining.length === 0
  // Which networks contain the address no longer matters.
  const reaching = incoming(before)
    .filter(reaches)
    .map(one => ({ ...one, networks: [caller] }))
  return allowedBy(reaching).some(({ protocol, port }) => {
    const ports = port === null ? (hasPorts(protocol) ? [1, maxPort] : [null]) : portRange(port)!
    // A range can only be cut at an end of a range.
    const edges = remaining.flatMap(one =>
      one.ports.flatMap(text => portRange(text)!.flatMap(edge => [edge - 1, edge, edge + 1])),
    )
    const [low, high] = [ports[0]!, ports.at(-1)!]
    const probes = low === null ? [null] : [low, high, ...edges.filter(edge => edge > low && edge < high!)]
    const protocols = protocol === 'any' ? (['tcp', 'udp', 'icmp', 'esp', 'gre'] as const) : [protocol]
    return protocols.some(one => probes.some(probe => !remaining.some(rule => allowsPort(rule, one, probe))))
  })
}

const isWorld = (rule: PlainRule): boolean => rule.networks.some(one => world.includes(one))

const opensEverything = (rules: Rules): boolean =>
  rules === null ||
  incoming(rules).some(one => isWorld(one) && (one.protocol === 'any' || (one.protocol === 'tcp' && coversAllPorts(one.ports))))

const coversAllPorts = (ports: readonly string[]): boolean => ports.length === 0 || ports.includes(`1-${maxPort}`)

const isWorldOpen = (rules: Rules, port: number): boolean =>
  rules === null || incoming(rules).some(one => isWorld(one) && allowsPort(one, 'tcp', port))
