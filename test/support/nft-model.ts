import { inRanges, parseAddress, parseRange } from '../../src/core/net/address'

/** A packet that opens a connection, as a host sees it. */
export interface HostPacket {
  hook: 'input' | 'output' | 'forward'
  protocol: 'tcp' | 'udp' | 'icmp' | 'esp' | 'gre'
  source: string
  destination: string
  /** Destination port, before a translation of the destination; null for protocols without ports. */
  port: number | null
  interface?: string
  /** ID of the user that sends it. */
  uid?: number
}

interface Chain {
  hook: string
  rules: string[]
}

const numbers: Record<string, string> = { '6': 'tcp', '17': 'udp', '1': 'icmp', '58': 'icmp', '50': 'esp', '47': 'gre' }

/**
 * Judges packets by a table of nftables, as far as generated tables use its language: each line of a chain is a rule, whose matches must
 * all apply. Throws an error for anything else, so that nothing is ignored silently.
 */
export class NftModel {
  readonly #sets = new Map<string, string[]>()
  readonly #chains: Chain[] = []
  /** Packets by verdict and comment of rules with a counter, such as `accept fw_….r1`. */
  readonly counters = new Map<string, number>()

  constructor(text: string) {
    let set: string | null = null
    let chain: Chain | null = null
    for (const line of text.split('\n').map(one => one.trim())) {
      const [word, name] = line.split(' ')
      if (line === '' || line === 'table inet bailiwick {}' || line === 'table inet bailiwick {') continue
      if (line === 'delete table inet bailiwick') {
        this.#sets.clear()
        this.#chains.length = 0
      } else if (word === 'set') set = name!
      else if (word === 'chain') this.#chains.push((chain = { hook: '', rules: [] }))
      else if (line === '}') set = chain = null
      else if (set !== null) {
        const [, elements] = /^elements = \{ (.*) \}$/.exec(line) ?? []
        if (elements !== undefined) this.#sets.set(set, elements.split(', '))
        else if (!/^(type (ipv[46]_addr|ifname)|flags interval|auto-merge)$/.test(line)) throw new Error(`unknown: ${line}`)
      } else if (chain && word === 'type')
        chain.hook = /^type filter hook (\w+) priority filter - 5; policy accept;$/.exec(line)![1]!
      else if (chain) chain.rules.push(line)
      else throw new Error(`unknown: ${line}`)
    }
  }

  passes(packet: HostPacket): boolean {
    for (const chain of this.#chains) {
      if (chain.hook !== packet.hook) continue
      const rule = chain.rules.find(one => this.#applies(one, packet))
      if (!rule) continue
      const [, counter, verdict, comment] = /(counter )?(accept|drop)(?: comment "([^"]*)")?$/.exec(rule)!
      const key = `${verdict} ${comment}`
      if (counter) this.counters.set(key, (this.counters.get(key) ?? 0) + 1)
      if (verdict === 'drop') return false
    }
    return true
  }

  #applies(rule: string, packet: HostPacket): boolean {
    let rest = rule.replace(/ ?(counter )?(accept|drop)( comment "[^"]*")?$/, '')
    while (rest !== '') {
      const [match, applies] = this.#match(rest, packet)
      if (!applies) return false
      rest = rest.slice(match.length).trimStart()
    }
    return true
  }

  /** The first match of a rule, and whether it applies. */
  #match(
    text: string,
    { hook, protocol, source, destination, port, uid, interface: via = 'eth0' }: HostPacket,
  ): [string, boolean] {
    const value = String.raw`(\{ [^}]* \}|\S+)`
    const is = (pattern: string) => new RegExp(`^${pattern}(?= |$)`).exec(text)
    const family = source.includes(':') ? 6 : 4
    let found: RegExpExecArray | null
    // The packet is the first of its connection.
    if ((found = is('ct state established,related'))) return [found[0], false]
    if ((found = is('ct status dnat'))) return [found[0], hook === 'forward']
    if ((found = is('ct direction original'))) return [found[0], true]
    if ((found = is(`[io]ifname ${value}`))) return [found[0], this.#elements(found[1]!).includes(`"${via}"`)]
    if ((found = is(`icmp(?:v6)? type ${value}`))) return [found[0], false]
    if ((found = is('meta nfproto ipv([46])'))) return [found[0], family === Number(found[1])]
    if ((found = is('meta l4proto (\\d+)'))) return [found[0], numbers[found[1]!] === protocol]
    if ((found = is('meta skuid (\\d+)'))) return [found[0], hook === 'output' && Number(found[1]) === uid]
    if ((found = is('(tcp|udp) sport \\d+'))) return [found[0], false]
    if ((found = is(`ct original proto-dst ${value}`))) return [found[0], this.#hasPort(found[1]!, port)]
    if ((found = is(`(tcp|udp) dport ${value}`))) return [found[0], found[1] === protocol && this.#hasPort(found[2]!, port)]
    if ((found = is(`(ip6?) ([sd])addr ${value}`))) {
      if (family !== (found[1] === 'ip6' ? 6 : 4)) return [found[0], false]
      const ranges = this.#elements(found[3]!).map(one => parseRange(one)!)
      return [found[0], inRanges(parseAddress(found[2] === 's' ? source : destination)!, ranges)]
    }
    throw new Error(`unknown: ${text}`)
  }

  #elements(text: string): string[] {
    if (text.startsWith('@')) return this.#sets.get(text.slice(1))!
    return text.startsWith('{') ? text.slice(2, -2).split(', ') : [text]
  }

  #hasPort(text: string, port: number | null): boolean {
    return this.#elements(text).some(one => {
      const [low, high = low] = one.split('-').map(Number)
      return port !== null && port >= low! && port <= high!
    })
  }
}
