import type { PlainRule, RuleProtocol } from './rules'

/** What the firewalls of a server allow, and what its agent needs in addition. */
export interface HostRules {
  /** Including rules that block. */
  rules: readonly (PlainRule & { firewallId: string })[]
  /** What always passes, also if there are rules for outgoing traffic, so that the agent can reach the hub. */
  agent: {
    /** ID of the user that it runs as; null if unknown, which is only possible without rules for outgoing traffic. */
    uid: number | null
    /** Port of the hub: the only one that the agent may connect to if it runs as root, because much else does too. */
    hubPort: number
    /** Whether the hub has a name. The name may get other addresses, so DNS must pass. */
    isHubNamed: boolean
  }
  /**
   * Interfaces to other networks. New connections from there to published ports need a rule; those from other interfaces, such as of
   * containers, always pass. If it is empty, only blocks apply to published ports.
   */
  uplinks: readonly string[]
}

const table = 'inet bailiwick'
/** Adding an empty table first lets the deletion succeed if there is none. */
const withoutTable = `table ${table} {}\ndelete table ${table}\n`
const families = [4, 6] as const
type Family = (typeof families)[number]
/** Numbers assigned by IANA, because hosts may have no /etc/protocols. */
const protocolNumbers: Readonly<Record<Exclude<RuleProtocol, 'any'>, Record<Family, number>>> = {
  tcp: { 4: 6, 6: 6 },
  udp: { 4: 17, 6: 17 },
  icmp: { 4: 1, 6: 58 },
  esp: { 4: 50, 6: 50 },
  gre: { 4: 47, 6: 47 },
}

/**
 * Generates the table of nftables that enforces firewalls on a host, as input of `nft -f`, which replaces the table in one step. Nothing
 * else on the host is changed. As a drop is final in any table, rules of others stay in effect. Each line is one statement, and each rule
 * one counter per address family, with the comment `fw_….rule`.
 */
export function nftRuleset({ rules: all, agent, uplinks }: HostRules): string {
  const sets: string[] = []
  const rules = all.filter(one => one.action !== 'block')
  const blocks = all.filter(one => one.action === 'block').flatMap(one => one.networks)
  const incoming = rules.filter(one => one.direction === 'in')
  const outgoing = rules.filter(one => one.direction === 'out')
  const matchesOf = new Map(rules.map((rule, at) => [rule, networkMatches(`r${at}`, rule.networks, sets)]))
  const blocked = networkMatches('blocks', blocks, sets)
  if (uplinks.length > 0) sets.push(set('uplinks', 'ifname', '', uplinks.map(quoted)))
  const accepted = (some: typeof rules, side: Side) =>
    some.flatMap(rule =>
      families.flatMap(family =>
        (matchesOf.get(rule)![family] ?? []).flatMap(match =>
          protocolMatches(rule, family).map(
            protocol => `${[match(side), protocol].filter(Boolean).join(' ')} counter accept ${comment(rule)}`,
          ),
        ),
      ),
    )
  const dropped = families.flatMap(family =>
    (blocked[family] ?? []).map(match => `${match('saddr')} counter drop comment "blocks"`),
  )
  const chains = [
    chain('in', 'input', [
      'ct state established,related accept',
      'iifname "lo" accept',
      // Without these, addresses can't be resolved or obtained, and large packets get lost.
      'icmp type { destination-unreachable, time-exceeded } accept',
      `icmpv6 type { ${[...neighborTypes, 'nd-router-advert', 'mld-listener-query', ...errorTypes].join(', ')} } accept`,
      'udp sport 67 udp dport 68 accept',
      'ip6 saddr fe80::/10 udp sport 547 udp dport 546 accept',
      ...dropped,
      ...accepted(incoming, 'saddr'),
      'counter drop comment "default"',
    ]),
    ...(outgoing.length === 0
      ? []
      : [
          chain('out', 'output', [
            'ct state established,related accept',
            'oifname "lo" accept',
            'icmp type { destination-unreachable, time-exceeded } accept',
            `icmpv6 type { ${[...neighborTypes, 'nd-router-solicit', 'mld2-listener-report', ...errorTypes].join(', ')} } accept`,
            'udp sport 68 udp dport 67 accept',
            'udp sport 546 udp dport 547 accept',
            ...agentMatches(agent).map(one => `${one} accept`),
            ...accepted(outgoing, 'daddr'),
            'counter drop comment "default"',
          ]),
        ]),
    // Ports that containers publish never reach the other chain: the packets are forwarded, to another port.
    chain('forwarded', 'forward', [
      'ct state established,related accept',
      ...dropped.map(one => `ct status dnat ${one}`),
      ...incoming.flatMap(rule =>
        families.flatMap(family =>
          (matchesOf.get(rule)![family] ?? []).flatMap(match =>
            publishedMatches(rule, family).map(published =>
              ['ct status dnat', published, match('saddr'), 'counter accept', comment(rule)].filter(Boolean).join(' '),
            ),
          ),
        ),
      ),
      // Without known uplinks, this would also drop what containers send to each other, and what a router forwards.
      ...(uplinks.length > 0 ? ['ct status dnat ct direction original iifname @uplinks counter drop comment "default"'] : []),
    ]),
  ]
  return `${withoutTable}table ${table} {\n${[...sets, ...chains].join('')}}\n`
}

/** Packets by which the agent reaches the hub. The addresses of the hub may change, and the hub may see others than the agent. */
const agentMatches = ({ uid, hubPort, isHubNamed }: HostRules['agent']): string[] => [
  ...(uid === null ? [] : [uid === 0 ? `meta skuid 0 tcp dport ${hubPort}` : `meta skuid ${uid}`]),
  ...(isHubNamed ? ['udp dport 53', 'tcp dport 53'] : []),
]

/** Removes the table: the host accepts what it accepted before it had firewalls. */
export const noRuleset = withoutTable

/** Needed to find the hardware addresses of neighbors. */
const neighborTypes = ['nd-neighbor-solicit', 'nd-neighbor-advert']
const errorTypes = ['destination-unreachable', 'packet-too-big', 'time-exceeded', 'parameter-problem']

type Side = 'saddr' | 'daddr'
/** The matches of networks by address family: one if there are any, none otherwise. */
type NetworkMatches = Partial<Record<Family, ((side: Side) => string)[]>>

/** Adds a set of the networks of each family. */
function networkMatches(name: string, networks: readonly string[], sets: string[]): NetworkMatches {
  const matches: NetworkMatches = {}
  for (const family of families) {
    const own = networks.filter(one => one.includes(':') === (family === 6))
    if (own.length === 0) continue
    if (own.some(one => one.endsWith('/0'))) {
      matches[family] = [() => `meta nfproto ipv${family}`]
      continue
    }
    sets.push(set(`${name}_${family}`, `ipv${family}_addr`, '    flags interval\n    auto-merge\n', own))
    matches[family] = [side => `${family === 6 ? 'ip6' : 'ip'} ${side} @${name}_${family}`]
  }
  return matches
}

/** The match of a protocol and its ports; empty if everything matches. */
function protocolMatches({ protocol, ports }: PlainRule, family: Family): string[] {
  if (protocol === 'any') return ['']
  const ranges = mergedRanges(ports)
  if (ranges.length === 0) return [`meta l4proto ${protocolNumbers[protocol][family]}`]
  return [`${protocol} dport { ${ranges.join(', ')} }`]
}

/** The matches of published ports: the ones that the packets were sent to. nft can't print sets of them. */
function publishedMatches({ protocol, ports }: PlainRule, family: Family): string[] {
  if (protocol === 'any') return ['']
  const number = `meta l4proto ${protocolNumbers[protocol][family]}`
  const ranges = mergedRanges(ports)
  return ranges.length === 0 ? [number] : ranges.map(one => `${number} ct original proto-dst ${one}`)
}

/** Ports and ranges without overlaps, which sets don't accept. Empty for all ports. */
function mergedRanges(ports: readonly string[]): string[] {
  const merged: [number, number][] = []
  const ranges = ports.map(one => {
    const [low, high = low] = one.split('-').map(Number)
    return [low!, high!] as [number, number]
  })
  for (const [low, high] of ranges.toSorted(([a], [b]) => a - b)) {
    const last = merged.at(-1)
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high)
    else merged.push([low, high])
  }
  return merged.map(([low, high]) => (low === high ? `${low}` : `${low}-${high}`))
}

const comment = ({ firewallId, id }: { firewallId: string; id: string }): string => `comment ${quoted(`${firewallId}.${id}`)}`
const quoted = (text: string): string => `"${text}"`

const set = (name: string, type: string, options: string, elements: readonly string[]): string =>
  `  set ${name} {\n    type ${type}\n${options}    elements = { ${elements.join(', ')} }\n  }\n`

/** Filters before the tables of others, so that counters count everything. */
const chain = (name: string, hook: string, lines: readonly string[]): string =>
  `  chain ${name} {\n    type filter hook ${hook} priority filter - 5; policy accept;\n${lines.map(one => `    ${one}\n`).join('')}  }\n`
