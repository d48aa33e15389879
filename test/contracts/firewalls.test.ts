import { expect, test } from 'bun:test'
import type { Cloud, CloudKind } from '../../src/features/servers/clouds/cloud'
import { inRanges, parseAddress, parseRange } from '../../src/core/net/address'
import { hetzner } from '../../src/features/servers/clouds/hetzner/hetzner'
import { incus } from '../../src/features/servers/clouds/incus/incus'
import { proxmox } from '../../src/features/servers/clouds/proxmox/proxmox'
import { blockingRules, passes } from '../../src/features/servers/firewalls/rules'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { hetznerUnderTest } from '../support/clouds/hetzner-under-test'
import { IncusDouble } from '../support/clouds/incus-double'
import { incusDoubleUnderTest } from '../support/clouds/incus-double-under-test'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { proxmoxUnderTest } from '../support/clouds/proxmox-under-test'
import { generator } from '../support/random'
import { probes, randomRules, type Probe } from '../support/random-rules'

type Packet = { direction: 'in' | 'out' } & Probe

/** Whether the ACLs of the first interface let a packet pass, as Incus documents it. */
function isAllowedByIncus(double: IncusDouble, { direction, protocol, port, address }: Packet): boolean {
  const nic = double.instances[0]!.devices.eth0
  const acls = nic?.['security.acls']?.split(',') ?? []
  if (acls.length === 0) return true
  const way = direction === 'in' ? 'ingress' : 'egress'
  const name = protocol === 'icmp' ? (address.includes(':') ? 'icmp6' : 'icmp4') : protocol
  const rules = acls.flatMap(one => double.acls.get(one)![way]) as Record<string, string>[]
  const actions = rules
    .filter(rule => {
      const ports = rule.destination_port?.split(',').map(one => one.split('-').map(Number))
      const networks = rule[direction === 'in' ? 'source' : 'destination']!.split(',').map(one => parseRange(one)!)
      return (
        (rule.protocol === undefined || rule.protocol === name) &&
        (ports === undefined || (port !== null && ports.some(([low = 0, high = low]) => port >= low && port <= high))) &&
        inRanges(parseAddress(address)!, networks)
      )
    })
    .map(rule => rule.action)
  // Whatever their order.
  return !actions.includes('drop') && (actions.includes('allow') || nic![`security.acls.default.${way}.action`] === 'allow')
}

test('every kind of cloud lets the same packets pass, for random rules', async () => {
  const random = generator(20_261_127)
  const doubles = [new HetznerCloudDouble(), new IncusDouble(), new ProxmoxCloud()] as const
  const [atHetzner, atIncus, atProxmox] = doubles
  for (const one of doubles) await one.start()
  try {
    atHetzner.project.actionMs = () => 0
    const targets: [kind: CloudKind, cloud: Cloud, ref: string, isAllowed: (packet: Packet) => boolean][] = []
    for (const [kind, one] of [
      [hetzner, hetznerUnderTest(atHetzner)] as const,
      [proxmox, proxmoxUnderTest(atProxmox)] as const,
    ]) {
      const ref = await one.outside.create('web')
      targets.push([kind, one.cloud, ref, packet => one.firewalls!.isAllowed!(ref, packet)])
    }
    const instance = atIncus.create('web')
    instance.status = 'Running'
    const { cloud: ofIncus } = await incusDoubleUnderTest(atIncus)
    targets.push([incus, ofIncus, instance.config['volatile.uuid']!, packet => isAllowedByIncus(atIncus, packet)])
    const id = 'fw_00000000000000000000000001'
    for (let set = 0; set < 200; set++) {
      const all = randomRules(random, ['in', 'in', 'out'])
      const blocks = random(3) === 0 ? blockingRules(['10.1.0.0/16', '2001:db9::/32']) : []
      for (const [{ kind, capabilities: can }, cloud, ref, isAllowed] of targets) {
        // What a cloud can't enforce is refused before.
        const rules = all.filter(one => can.firewallProtocols.includes(one.protocol)).concat(can.firewallBlocks ? blocks : [])
        const firewall = { id, name: 'web', rules, refs: [ref], detach: [] }
        while ((await cloud.setFirewall!(firewall)).state === 'applying') continue
        for (const probe of probes)
          for (const direction of ['in', 'out'] as const) {
            const packet = { ...probe, direction }
            expect([set, kind, packet, isAllowed(packet)]).toEqual([set, kind, packet, passes(rules, packet)])
          }
      }
    }
  } finally {
    for (const one of doubles) one.stop()
  }
}, 180_000)
