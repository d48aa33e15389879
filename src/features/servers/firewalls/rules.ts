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

/** The rules of a firewall, and networks that it blocks: packets from them are dropped, whatever rules allow. */
export interface RuleSet {
  rules: FirewallRule[]
  /** CIDRs. */
  blocks: string[]
}

/** A rule whose dynamic IP sources are resolved to networks. */
export interface PlainRule {
  /** `block`: drops what comes from its networks, whatever rules of the server's firewalls allow. Absent: allows. */
  action?: 'allow' | 'block'
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

export const maxRules = 50
export const maxNetworks = 100
export const maxBlocks = 100
export const maxPorts = 20
export const maxPort = 65_535
/** How many entries the rules of a firewall can have: networks times ports. Every change compares and checks all of them. */
const maxEntries = 2000
/** How many entries all firewalls of a server can have. */
export const maxServerEntries = 5000

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

/** How many entries a rule has. A dynamic IP source counts as one, and ports count for each network. */
const entryCountOf = ({ ports, sources, destinations }: FirewallRule): number =>
  Math.max(1, ports.length) * (sources.length + destinations.length)

/** How many entries rules and blocks have. */
export const entryCount = ({ rules, blocks }: RuleSet): number =>
  rules.reduce((sum, one) => sum + entryCountOf(one), blocks.length)

const hasPorts = (protocol: RuleProtocol): boolean => protocol === 'tcp' || protocol === 'udp'

/** Parses a port or a range; null for other texts. */
export function portRange(text: string): [number, number] | null {
  const [, low, high = low] = /^(0|[1-9]\d{0,5})(?:-(0|[1-9]\d{0,5}))?$/.exec(text) ?? []
  return low === undefined ? null : [Number(low), Number(high)]
}

/** Returns what is wrong with rules and blocks, in sentences. */
export function ruleProblems({ rules, blocks }: RuleSet): FieldProblem[] {
  const pointer = '#/rules'
  const problems = blockProblems(blocks)
  if (rules.length > maxRules)
    problems.push({
      pointer,
      code: 'too_many',
      detail: `A firewall can have at most ${maxRules} rules, but ${rules.length} were given.`,
    })
  const ids = new Set<string>()
  let entries = blocks.length
  for (const [at, rule] of rules.entries()) {
    const add = (field: string, code: string, detail: string) =>
      problems.push({ pointer: `${pointer}/${at}/${field}`, code, detail })
    if (ids.has(rule.id)) add('id', 'already_exists', `Another rule has the ID ${rule.id}, too. Each rule needs its own ID.`)
    ids.add(rule.id)
    // What a cloud has may be anything.
    if (!ruleProtocols.includes(rule.protocol))
      add('protocol', 'unsupported', `The protocol ${String(rule.protocol)} is not supported.`)
    portProblems(rule, add)
    const [field, other] =
      rule.direction === 'in' ? (['sources', 'destinations'] as const) : (['destinations', 'sources'] as const)
    if (rule[other].length > 0)
      add(other, 'not_allowed', `A rule with the direction \`${rule.direction}\` can’t have \`${other}\`. Use \`${field}\`.`)
    networkProblems(rule, field, add)
    const count = entryCountOf(rule)
    if (entries <= maxEntries && entries + count > maxEntries)
      add(
        field,
        'too_many',
        `Up to this rule, the firewall has ${entries + count} entries (networks × ports). At most ${maxEntries} are possible.`,
      )
    entries += count
  }
  return problems
}

type Add = (field: string, code: string, detail: string) => void

function portProblems({ ports, protocol }: FirewallRule, add: Add): void {
  if (ports.length > 0 && !hasPorts(protocol))
    add('ports', 'not_allowed', `A rule for the protocol ${protocol} can’t have ports.`)
  if (ports.length > maxPorts)
    add('ports', 'too_many', `A rule can have at most ${maxPorts} ports, but ${ports.length} were given.`)
  for (const [at, text] of ports.entries()) {
    const range = portRange(text)
    if (!range)
      add(`ports/${at}`, 'pattern', `Not a port: ${JSON.stringify(text)}. Use a port such as 443, or a range such as 8000-8010.`)
    else if (range.some(port => port < 1 || port > maxPort))
      add(`ports/${at}`, 'out_of_range', `Ports must be between 1 and ${maxPort}, not ${text}.`)
    else if (range[0] > range[1])
      add(`ports/${at}`, 'order', `The range ${text} must start with the lower port: ${range[1]}-${range[0]}.`)
    else if (ports.indexOf(text) < at) add(`ports/${at}`, 'duplicate', `The port ${text} is listed twice.`)
  }
}

function networkProblems(rule: FirewallRule, field: 'sources' | 'destinations', add: Add): void {
  const networks = rule[field]
  if (networks.length === 0)
    add(field, 'required', 'A rule needs at least one network. To allow all addresses, use 0.0.0.0/0 and ::/0.')
  if (networks.length > maxNetworks)
    add(field, 'too_many', `A rule can have at most ${maxNetworks} networks, but ${networks.length} were given.`)
  listProblems(networks, field === 'sources', (at, code, detail) => add(`${field}/${at}`, code, detail))
}

function blockProblems(blocks: readonly string[]): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (blocks.length > maxBlocks)
    problems.push({
      ...{ pointer: '#/blocks', code: 'too_many' },
      detail: `A firewall can block at most ${maxBlocks} networks, but ${blocks.length} were given.`,
    })
  listProblems(blocks, false, (at, code, detail) => problems.push({ pointer: `#/blocks/${at}`, code, detail }))
  return problems
}

function listProblems(
  networks: readonly string[],
  canBeDynamic: boolean,
  add: (at: number, code: string, detail: string) => void,
): void {
  const seen = new Set<string>()
  for (const [at, text] of networks.entries()) {
    if (canBeDynamic && dynamicSourceOf(text)) {
      if (seen.has(text)) add(at, 'duplicate', `The source ${text} is listed twice.`)
      seen.add(text)
      continue
    }
    const range = parseRange(text)
    if (!range) {
      const kinds = canBeDynamic ? ', or the ID of a dynamic IP source' : ''
      add(at, 'pattern', `Not a network: ${JSON.stringify(text)}. Use a CIDR such as 203.0.113.0/24 or 2001:db8::/32${kinds}.`)
      continue
    }
    // The notation is IPv6, but the packets are IPv4.
    if (range[0].kind() === 'ipv4' && text.includes(':')) {
      add(at, 'mixed_families', `The network ${text} mixes address families. Use ${formatNetwork(range)}.`)
      continue
    }
    const network = formatNetwork(range)
    if (!network.startsWith(`${formatAddress(range[0])}/`))
      add(at, 'host_bits', `The network ${text} has host bits. Use ${network}.`)
    if (seen.has(network)) add(at, 'duplicate', `The network ${network} is listed twice.`)
    seen.add(network)
  }
}

/** The canonical form of valid rules: networks have a prefix length and standard notation, ranges of one port become that port. */
export const canonicalRules = ({ rules, blocks }: RuleSet): RuleSet => ({
  rules: rules.map(rule => ({
    ...rule,
    ports: rule.ports.map(canonicalPort),
    sources: rule.sources.map(one => (dynamicSourceOf(one) ? one : canonicalNetwork(one))),
    destinations: rule.destinations.map(canonicalNetwork),
  })),
  blocks: blocks.map(canonicalNetwork),
})

function canonicalPort(text: string): string {
  const [low, high] = portRange(text)!
  return low === high ? String(low) : `${low}-${high}`
}

const canonicalNetwork = (text: string): string => formatNetwork(parseRange(text)!)

/** What one entry of a rule allows or blocks. A set of rules is equal to another one if their entries are. */
export interface Entry {
  action: 'allow' | 'block'
  direction: Direction
  protocol: RuleProtocol
  /** A port or a range; null for all ports. */
  port: string | null
  network: string
}

const keyOf = ({ action, direction, protocol, port, network }: Entry): string =>
  `${action} ${direction} ${protocol} ${port ?? '*'} ${network}`

/** The entries of rules, each once, in a fixed order. Order and grouping of rules mean nothing. */
export function entriesOf(rules: readonly PlainRule[]): Entry[] {
  const all = new Map<string, Entry>()
  for (const { action = 'allow', direction, protocol, ports, networks } of rules)
    for (const network of networks)
      for (const port of ports.length === 0 ? [null] : ports) {
        const one: Entry = { action, direction, protocol, port: port === `1-${maxPort}` ? null : port, network }
        all.set(keyOf(one), one)
      }
  return [...all.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

/** Which entries a change of rules adds and removes. */
export function ruleChanges(before: readonly PlainRule[], after: readonly PlainRule[]): { added: Entry[]; removed: Entry[] } {
  const [old, current] = [entriesOf(before), entriesOf(after)]
  const [oldKeys, currentKeys] = [new Set(old.map(keyOf)), new Set(current.map(keyOf))]
  return { added: current.filter(one => !oldKeys.has(keyOf(one))), removed: old.filter(one => !currentKeys.has(keyOf(one))) }
}

/** Blocks as a rule. */
export const blockingRules = (blocks: readonly string[]): PlainRule[] =>
  blocks.length === 0
    ? []
    : [{ action: 'block', id: 'blocks', direction: 'in', protocol: 'any', ports: [], networks: [...blocks] }]

/** Whether two sets of rules allow and block the same. */
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

/** The rules of all firewalls of a server. Null: it has none. */
export type Rules = readonly PlainRule[] | null

/**
 * Whether a packet that opens a connection passes. Without firewalls, everything does. Outgoing packets are only restricted by
 * firewalls with outgoing rules.
 */
export function passes(rules: Rules, packet: Packet): boolean {
  if (rules === null) return true
  const address = parseAddress(packet.address)!
  const own = rules.filter(one => one.direction === packet.direction)
  if (own.some(one => one.action === 'block' && inRanges(address, one.networks.map(rangeOf)))) return false
  const relevant = own.filter(one => one.action !== 'block')
  if (packet.direction === 'out' && relevant.length === 0) return true
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
export const guardCodes = [
  'cuts_ssh',
  'cuts_caller',
  'cuts_monitors',
  'cuts_agent',
  'opens_everything',
  'opens_sensitive',
] as const
export type GuardCode = (typeof guardCodes)[number]
