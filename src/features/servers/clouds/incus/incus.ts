import type { AccountCheck } from '../../../../adapters/adapter'
import { checkWithFingerprint } from '../../../../adapters/presented-certificate'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import { flatMapInTurns } from '../../../../core/time-slices'
import { isObject } from '../../../../dns/octets'
import type { PlainRule } from '../../firewalls/rules'
import {
  CloudError,
  type AdapterContext,
  type Catalog,
  type Cloud,
  type CloudCapabilities,
  type CloudFirewall,
  type CloudKind,
  type CloudServer,
  type CloudSnapshot,
  type FirewallDetachment,
  type FirewallOutcome,
  type FirewallReading,
  type Operation,
  type Polled,
  type Reading,
  type ServerCommand,
  type ServerOrder,
  type ServerUsage,
  type Started,
} from '../cloud'
import { withinLimits } from '../reading-limits'
import { readCatalog } from './catalog'
import { IncusClient, objectOf } from './client'
import { IncusCommands } from './commands'
import { IncusFirewalls, incusRules } from './firewalls'
import { Instances } from './instances'
import { checkTrustToken, joinIncus } from './join'
import { names } from './orders'
import { coresOf, refOf, serverOf, serversOf, usageOf, type Instance } from './readings'
import { incusForm, validateIncusSettings, type IncusSettings } from './settings'
import { IncusSnapshots } from './snapshots'
import { IncusVolumes, volumeCapabilities } from './volumes'

const capabilities: CloudCapabilities = {
  verbs: [
    'provision',
    'power_on',
    'power_off',
    'shutdown',
    'reboot',
    'power_cycle',
    'suspend',
    'resume',
    'rename',
    'resize',
    'rebuild',
    'set_labels',
    'set_protection',
    'delete',
    'snapshot',
    'restore_snapshot',
  ],
  names,
  uniqueNames: true,
  sizes: 'free',
  needsLocation: false,
  sshKeys: 'optional',
  userData: true,
  networks: true,
  addressFamilies: false,
  backups: false,
  protection: ['delete'],
  resizableIn: ['running', 'off', 'suspended'],
  rebuildableIn: ['off'],
  hasPrices: false,
  labels: true,
  marksAreLabels: false,
  volumes: volumeCapabilities,
  snapshots: { memory: true, surviveServer: false, labels: false },
  firewallProtocols: ['tcp', 'udp', 'icmp', 'any'],
  firewallBlocks: true,
  firewallsOfNew: 'running',
}

/** Containers and virtual machines in a project of Incus, or of LXD 5.0 and later. */
export const incus: CloudKind<IncusSettings> = {
  kind: 'incus',
  title: 'Incus and LXD',
  ...incusForm,
  capabilities,
  syncSeconds: 30,
  validate: validateIncusSettings,
  join: joinIncus,
  open: (settings, around) => new Incus(settings, around),
}

/** Cores by the URL of the account. */
const hosts = new Map<string, { cores: number | null; readAt: number }>()
const hostsValidMs = 3_600_000
const maxHosts = 500

class Incus implements Cloud {
  readonly #client: IncusClient
  readonly #instances: Instances
  readonly #commands: IncusCommands
  readonly #firewalls: IncusFirewalls
  readonly #project: string
  readonly volumes: IncusVolumes
  readonly snapshots: IncusSnapshots

  constructor(
    private readonly settings: IncusSettings,
    private readonly around: AdapterContext,
  ) {
    const { url = '', fingerprint, client_certificate = '', client_key = '', project = 'default' } = settings
    this.#project = project
    this.#client = new IncusClient(
      {
        url,
        project,
        pin: fingerprint === undefined ? undefined : (parseFingerprint(fingerprint) ?? undefined),
        clientCertificate: { cert: client_certificate, key: client_key },
      },
      around,
    )
    this.#instances = new Instances(this.#client)
    this.#commands = new IncusCommands(this.#client, this.#instances, settings)
    this.volumes = new IncusVolumes(this.#client, this.#instances, this.#commands, settings)
    this.snapshots = new IncusSnapshots(this.#client, this.#instances, this.#commands)
    this.#firewalls = new IncusFirewalls(this.#client)
  }

  async check(): Promise<AccountCheck> {
    if (this.settings.trust_token !== undefined) return await checkTrustToken(this.settings, this.around)
    return await checkWithFingerprint(() => this.#check(), this.settings, this.around)
  }

  async #check(): Promise<AccountCheck> {
    const server = await this.#server()
    const { server: program, server_version, server_name } = isObject(server.environment) ? server.environment : {}
    await this.#refuseMissingProject()
    const { profiles = ['default'], storage_pool, network } = this.settings
    const warnings = await Promise.all([
      ...profiles.map(one => this.#missing('profile', '/profiles', one)),
      this.#missing('storage pool', '/storage-pools', storage_pool),
      this.#missing('network', '/networks', network),
    ])
    const version = String(server_version)
    const title = program === 'lxd' ? 'LXD' : 'Incus'
    const isOld = program === 'lxd' && Number.parseInt(version, 10) < 5
    return {
      detail: `${title} ${version} on ${String(server_name)}${this.#project === 'default' ? '' : `, project ${this.#project}`}`,
      warnings: [...(isOld ? [`LXD ${version} is too old. Version 5.0 or later is required.`] : []), ...warnings.flat()],
    }
  }

  async list(): Promise<Reading> {
    const [instances, server] = await Promise.all([this.#instances.all(), this.#server()])
    // A project that doesn't exist has no instances, without an error.
    if (instances.length === 0) await this.#refuseMissingProject()
    const extensions: unknown = server.api_extensions
    if (!Array.isArray(extensions)) throw new CloudError('invalid_response', 'The response has no API extensions.')
    return {
      servers: await withinLimits(await serversOf(instances)),
      usage: await this.#usageOf(instances),
      lacks: extensions.includes('instances_rebuild') ? [] : ['rebuild'],
      rate: null,
    }
  }

  async get(ref: string): Promise<CloudServer | null> {
    const instance = await this.#instances.byRef(ref)
    return instance && serverOf(instance)
  }

  async find({ mark, name }: Pick<ServerOrder, 'mark' | 'name'>): Promise<CloudServer | null> {
    const instance = (await this.#instances.byMark(mark)) ?? (await this.#instances.byName(name))
    return instance && serverOf(instance)
  }

  async catalog(): Promise<Catalog> {
    return await readCatalog(this.#client)
  }

  async start(ref: string | null, command: ServerCommand): Promise<Started> {
    return await this.#commands.start(ref, command)
  }

  async continueProvision(ref: string, order: ServerOrder): Promise<Started> {
    return await this.#commands.continueProvision(ref, order)
  }

  async newerSnapshots(snapshotRef: string): Promise<CloudSnapshot[] | null> {
    return await this.snapshots.newerThan(snapshotRef)
  }

  async poll(operation: Operation): Promise<Polled> {
    return await this.#commands.poll(operation)
  }

  async setFirewall(firewall: CloudFirewall): Promise<FirewallOutcome> {
    return await this.#firewalls.set(firewall)
  }

  async removeFirewall(id: string, detach: readonly FirewallDetachment[]): Promise<Pick<FirewallOutcome, 'state'>> {
    return { state: (await this.#firewalls.remove(id, detach)) ? 'applied' : 'applying' }
  }

  async readFirewalls(
    firewalls: readonly Pick<CloudFirewall, 'id'>[],
  ): Promise<{ firewalls: FirewallReading[]; unread: string[] }> {
    return { firewalls: await this.#firewalls.read(firewalls.map(one => one.id)), unread: [] }
  }

  firewallRules(rules: readonly PlainRule[]): PlainRule[] {
    return incusRules(rules)
  }

  /** Reads what the server is. Anyone may, so that tells whether the certificate is trusted. */
  async #server(): Promise<Record<string, unknown>> {
    const server = objectOf(await this.#client.get(''))
    if (server.auth === 'trusted') return server
    if (server.auth !== 'untrusted') throw new CloudError('invalid_response', 'The response was not sent by Incus or LXD.')
    throw new CloudError('unauthorized', 'The server doesn’t trust the client certificate. It may have been removed there.')
  }

  async #usageOf(instances: readonly Instance[]): Promise<Map<string, ServerUsage>> {
    const isUnlimited = instances.some(one => one.cpuNanoseconds !== null && coresOf(one.expandedConfig['limits.cpu']) === null)
    const cores = isUnlimited ? await this.#hostCores() : null
    return new Map(
      await flatMapInTurns(instances, one => {
        const usage = usageOf(one, cores)
        return usage ? [[refOf(one), usage] as const] : []
      }),
    )
  }

  /** The cores of the host, read at most once an hour; null if the certificate doesn’t allow that. */
  async #hostCores(): Promise<number | null> {
    const { url = '' } = this.settings
    const now = this.around.clock.now()
    const known = hosts.get(url)
    if (known && known.readAt > now - hostsValidMs) return known.cores
    const cores = await this.#client.find('/resources').then(
      found => (isObject(found?.cpu) && typeof found.cpu.total === 'number' ? found.cpu.total : null),
      () => null,
    )
    hosts.delete(url)
    hosts.set(url, { cores, readAt: now })
    if (hosts.size > maxHosts) hosts.delete(hosts.keys().next().value!)
    return cores
  }

  async #refuseMissingProject(): Promise<void> {
    if (await this.#client.find(`/projects/${encodeURIComponent(this.#project)}`)) return
    throw new CloudError('refused', `The project ${this.#project} doesn’t exist.`, null, false)
  }

  async #missing(title: string, path: string, name: string | undefined): Promise<string[]> {
    if (name === undefined || (await this.#client.find(`${path}/${encodeURIComponent(name)}`))) return []
    return [`The ${title} ${name} doesn’t exist, so no servers can be created.`]
  }
}
