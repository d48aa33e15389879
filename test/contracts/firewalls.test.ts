import { expect, test } from 'bun:test'
import type { Cloud } from '../../src/features/servers/clouds/cloud'
import { inRanges, parseAddress, parseRange } from '../../src/core/net/address'
import { passes } from '../../src/features/servers/firewalls/rules'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { hetznerUnderTest } from '../support/clouds/hetzner-under-test'
import { IncusDouble } from '../support/clouds/incus-double'
import { incusDoubleUnderTest } from '../support/clouds/incus-double-under-test'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { proxmoxUnderTest } from '../support/clouds/proxmox-under-test'
import { generator } from '../support/random'
import { probedPorts, randomRules, senders } from '../support/random-rules'

type Packet = { direction: 'in'; protocol: 'tcp'; port: number; address: string }

/** Whether the ACL of the first interface lets a packet pass, as Incus documents it. */
function isAllowedByIncus(double: IncusDouble, { port, address }: Packet): boolean {
  const nic = double.instances[0]!.devices.eth0
  const acls = nic?.['security.acls']?.split(',') ?? []
  if (acls.length === 0 || nic!['security.acls.default.ingress.action'] !== 'drop') return true
  const rules = acls.flatMap(name => double.acls.get(name)!.ingress) as Record<string, string>[]
  return rules.some(
    ({ protocol, source = '', destination_port: allowed }) =>
      (protocol === undefined || protocol === 'tcp') &&
      (allowed === undefined ||
        allowed.split(',').some(one => {
          const [low = 0, high = low] = one.split('-').map(Number)
          return port >= low && port <= high
        })) &&
      inRanges(
        parseAddress(address)!,
        source.split(',').map(one => parseRange(one)!),
      ),
  )
}

test('every kind of cloud lets the same packets pass, for random rules', async () => {
  const random = generator(20_261_127)
  const doubles = [new HetznerCloudDouble(), new IncusDouble(), new ProxmoxCloud()] as const
  const [hetzner, incus, proxmox] = doubles
  for (const one of doubles) await one.start()
  try {
    hetzner.project.actionMs = () => 0
    const [atHetzner, atProxmox] = [hetznerUnderTest(hetzner), proxmoxUnderTest(proxmox)]
    const atIncus = await incusDoubleUnderTest(incus)
    const instance = incus.create('web')
    instance.status = 'Running'
    const targets: [cloud: Cloud, ref: string, isAllowed: (packet: Packet) => boolean][] = []
    for (const one of [atHetzner, atProxmox]) {
      const ref = await one.outside.create('web')
      targets.push([one.cloud, ref, packet => one.firewalls!.isAllowed!(ref, packet)])
    }
    targets.push([atIncus.cloud, instance.config['volatile.uuid']!, packet => isAllowedByIncus(incus, packet)])
    const id = 'fw_00000000000000000000000001'
    for (let set = 0; set < 200; set++) {
      const rules = randomRules(random)
      for (const [at, [cloud, ref, isAllowed]] of targets.entries()) {
        const firewall = { id, name: 'web', rules, refs: [ref], detach: [] }
        while ((await cloud.setFirewall!(firewall)).state === 'applying') continue
        for (const port of probedPorts)
          for (const address of senders) {
            const packet = { direction: 'in', protocol: 'tcp', port, address } as const
            expect([set, at, port, address, isAllowed(packet)]).toEqual([set, at, port, address, passes(rules, packet)])
          }
      }
    }
  } finally {
    for (const one of doubles) one.stop()
  }
}, 60_000)
