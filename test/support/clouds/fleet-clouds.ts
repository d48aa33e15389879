import { X509Certificate } from 'node:crypto'
import { createClientCertificate } from '../../../src/features/servers/clouds/incus/client-certificate'
import { parseNotes } from '../../../src/features/servers/clouds/proxmox/notes'
import type { ApiDouble } from '../api-double'
import { certificateChain } from '../certificate-chain'
import { hetznerOrder, hetznerVolume, incusOrder, proxmoxOrder, type Machine } from './fleet'
import { HetznerCloudDouble } from './hetzner-cloud'
import { IncusProxy } from './incus-proxy'
import { IncusServer } from './incus-server'
import { ProxmoxCloud } from './proxmox-cloud'
import { template } from './proxmox-under-test'

/** A cloud on which a fleet of servers is created. */
export interface FleetCloud {
  /** Where its API is, and can lose requests and responses. */
  api: ApiDouble
  kind: string
  settings: object
  order: object
  actions: readonly string[]
  /** What volumes are created with; null to create neither volumes nor snapshots. */
  volumeOrder: object | null
  machines(): Machine[] | Promise<Machine[]>
  /** Its volumes and snapshots; absent if none are created. */
  storage?(): { volumes: Machine[]; snapshots: Machine[] }
  /** How many machines were created in all, including deleted ones. */
  creations(): number
  /** How many reboots and power cycles were carried out. */
  restarts(): number
  monthlyMicros(): number
  /** Requests of ours that its API doesn’t allow. */
  offences(): string[]
  stop(): Promise<void>
}

export async function hetznerFleet(): Promise<FleetCloud> {
  const double = new HetznerCloudDouble()
  // Requests are limited by other tests.
  double.remaining = 1_000_000
  double.project.actionMs = () => 300
  await double.start()
  return {
    api: double,
    kind: 'hetzner',
    settings: { api_token: double.token, base_url: double.url },
    order: hetznerOrder,
    actions: ['provision', 'power_off', 'power_on', 'reboot', 'power_cycle', 'snapshot'],
    volumeOrder: hetznerVolume,
    machines() {
      double.project.settle()
      return [...double.project.servers.values()].map(one => ({
        ref: String(one.id),
        name: one.name,
        mark: one.labels.bailiwick ?? null,
      }))
    },
    storage() {
      const { volumes, images } = double.project
      const shown = ({ id, name, labels }: { id: number; name: string | null; labels: Record<string, string> }): Machine => ({
        ref: String(id),
        name: name ?? '',
        mark: labels.bailiwick ?? null,
      })
      return {
        volumes: [...volumes.values()].map(shown),
        snapshots: [...images.values()].filter(one => one.type === 'snapshot').map(shown),
      }
    },
    creations: () => [...double.project.actions.values()].filter(one => one.command === 'create_server').length,
    restarts: () => [...double.project.actions.values()].filter(one => /^re(?:boot|set)_server$/.test(one.command)).length,
    monthlyMicros: () => double.bill().monthlyMicros,
    offences: () => double.offences,
    stop: async () => double.stop(),
  }
}

export async function proxmoxFleet(): Promise<FleetCloud> {
  const { chain, key } = await certificateChain('127.0.0.1', { intermediate: 30, leaf: 30 })
  const double = new ProxmoxCloud({ cert: chain, key })
  const fingerprint = new X509Certificate(chain).fingerprint256
  template(double, 9000, 'debian-12')
  double.tasks.durationMs = 150
  await double.start()
  return {
    api: double,
    kind: 'proxmox',
    settings: { url: double.address, token_id: double.tokenId, token_secret: double.secret, fingerprint },
    order: proxmoxOrder,
    actions: ['provision', 'power_off', 'power_on', 'power_cycle'],
    volumeOrder: null,
    machines() {
      double.tasks.settle()
      return [...double.guests.values()]
        .filter(one => !one.template)
        .map(one => ({
          ref: String(one.vmid),
          name: one.config.name ?? '',
          mark: parseNotes(one.config.description ?? '', one.vmid).mark,
        }))
    },
    creations: () => double.tasks.all.filter(one => one.type === 'qmclone' && one.exitstatus === 'OK').length,
    restarts: () => double.tasks.all.filter(one => /^qmre(?:boot|set)$/.test(one.type)).length,
    monthlyMicros: () => 0,
    offences: () => [],
    stop: async () => double.stop(),
  }
}

/** A real server, behind a proxy. */
export async function incusFleet(): Promise<FleetCloud> {
  const { chain, key } = await certificateChain('127.0.0.1', { intermediate: 30, leaf: 30 })
  const server = await IncusServer.start('incus')
  const proxy = await new IncusProxy(server, { cert: chain, key }).start()
  const lifecycle = server.lifecycle()
  const count = (event: string) => lifecycle.events().filter(one => one === event).length
  const client = await createClientCertificate('bailiwick', Date.now())
  return {
    api: proxy,
    kind: 'incus',
    settings: {
      url: proxy.url,
      fingerprint: new X509Certificate(chain).fingerprint256,
      client_certificate: client.certificate,
      client_key: client.key,
    },
    order: incusOrder,
    actions: ['provision', 'power_off', 'power_on', 'power_cycle'],
    volumeOrder: null,
    async machines() {
      const instances: { name: string; config: Record<string, string> }[] = await server.call('GET', '/1.0/instances?recursion=1')
      return instances.map(({ name, config }) => ({
        ref: config['volatile.uuid'] ?? '',
        name,
        mark: config['user.bailiwick.server'] ?? null,
      }))
    },
    creations: () => count('instance-created'),
    restarts: () => count('instance-restarted'),
    monthlyMicros: () => 0,
    offences: () => [],
    async stop() {
      proxy.stop()
      await lifecycle.stop()
      await server.stop()
    },
  }
}
