import { ruleProtocols, type PlainRule, type RuleProtocol } from '../../src/features/servers/firewalls/rules'
import type { Random } from './random'

/** Addresses that send packets: some are in networks of the random rules, others in none. */
export const senders = ['10.1.2.3', '10.9.9.9', '192.0.2.7', '198.51.100.1', '2001:db8::1', '2001:db9::1']
const networks = ['0.0.0.0/0', '10.0.0.0/8', '10.1.0.0/16', '192.0.2.7/32', '::/0', '2001:db8::/32']
const ports = ['22', '80', '79-81', '443', '1-65535']

/** Ports that packets are sent to: the edges of the ports of random rules, and ports outside. */
const probedPorts = [1, 22, 79, 80, 82, 443, 65_535]

/** A packet that opens a connection. */
export interface Probe {
  protocol: Exclude<RuleProtocol, 'any'>
  /** Source of incoming packets, destination of outgoing ones. */
  address: string
  /** Null for protocols without ports. */
  port: number | null
}

/** Packets of all protocols from all senders. */
export const probes: readonly Probe[] = senders.flatMap(address =>
  (['tcp', 'udp', 'icmp', 'esp', 'gre'] as const).flatMap(protocol =>
    (protocol === 'tcp' || protocol === 'udp' ? probedPorts : [null]).map(port => ({ protocol, address, port })),
  ),
)

/** Up to three rules about the same addresses and ports, so that they overlap. */
export function randomRules(
  random: Random,
  directions: readonly PlainRule['direction'][] = ['in'],
  protocols: readonly RuleProtocol[] = ruleProtocols,
): PlainRule[] {
  const some = <T>(all: readonly T[], max: number): T[] => [
    ...new Set(Array.from({ length: 1 + random(max) }, () => all[random(all.length)]!)),
  ]
  return Array.from({ length: random(4) }, (_, at) => {
    const protocol = some(['tcp', ...protocols] as const, 1)[0]!
    const hasPorts = (protocol === 'tcp' || protocol === 'udp') && random(5) > 0
    const direction = directions.length === 1 ? directions[0]! : directions[random(directions.length)]!
    return { id: `r${at}`, direction, protocol, ports: hasPorts ? some(ports, 2) : [], networks: some(networks, 2) }
  })
}
