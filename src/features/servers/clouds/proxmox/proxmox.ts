import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../../adapters/adapter'
import { urlProblem } from '../../../../adapters/json-http'
import { destination, secret, settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { checkWithFingerprint } from '../../../../adapters/presented-certificate'
import { parseFingerprint } from '../../../../core/net/fingerprint'
import { invalid, type FieldProblem } from '../../../../core/problem'
import { grouped, Line } from '../../../../core/shapes'
import { isObject } from '../../../../dns/octets'
import { ruleProtocols, type PlainRule } from '../../firewalls/rules'
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
  type ServerVerb,
  type Started,
} from '../cloud'
import { refuseTooMany, withinLimits } from '../reading-limits'
import { accountState, type AccountState } from './account-state'
import { imagesOf, networksOf } from './catalog'
import { ProxmoxClient } from './client'
import { Commands } from './commands'
import { ProxmoxFirewalls, proxmoxRules } from './firewalls'
import { isBeingCloned } from './guests'
import { KnownGuests } from './known-guests'
import type { ProxmoxOperation } from './operation'
import { parseNotes } from './notes'
import { canAudit, missingPrivileges } from './privileges'
import { ProxmoxSnapshots } from './snapshots'
import { Steps } from './steps'
import { Vmids } from './vmids'

const identifier = '^[A-Za-z0-9][A-Za-z0-9._-]*$'
const form = settingsForm({
  url: Line({
    ...destination,
    minLength: 1,
    maxLength: 2048,
    description: 'URL of a node or a proxy in front of the cluster, without the path of the API.',
    examples: ['https://pve1.example.net:8006'],
  }),
  token_id: Type.String({
    pattern: '^[^\\s:/!=]+@[A-Za-z][A-Za-z0-9.-]*![A-Za-z][A-Za-z0-9._-]+$',
    maxLength: 200,
    'x-rule': 'must be a user, a realm, and the name of a token, such as `bailiwick@pve!hub`.',
    description: 'ID of the API token: `user@realm!name`.',
    examples: ['bailiwick@pve!hub'],
  }),
  token_secret: Type.String({
    ...secret,
    pattern: '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$',
    'x-rule': 'must be the UUID that Proxmox showed when the token was created.',
    description: 'Secret of the API token. Stored encrypted.',
    writeOnly: true,
  }),
  fingerprint: Type.Optional(
    Line({
      ...destination,
      maxLength: 200,
      description:
        'SHA-256 fingerprint of the certificate of the node. Required for self-signed certificates, which Proxmox has by default; leave it out for one of a public CA.',
      examples: ['5E:2B:7A:…'],
    }),
  ),
  ...grouped('New servers', {
    pool: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+){0,2}$',
        maxLength: 100,
        'x-rule': 'must be the name of a resource pool.',
        description: 'Resource pool that new servers are added to.',
      }),
    ),
    storage: Type.Optional(
      Type.String({
        pattern: identifier,
        maxLength: 100,
        'x-rule': 'must be the ID of a storage.',
        description:
          'Storage for the disks of new servers, which are then full copies of the template. Default: linked clones on the storage of the template.',
      }),
    ),
    bridge: Type.Optional(
      Type.String({
        pattern: identifier,
        maxLength: 40,
        'x-rule': 'must be the name of a bridge or VNet.',
        description: 'Bridge that new servers are connected to, if no network is chosen. Default: the bridge of the template.',
      }),
    ),
  }),
})
type Settings = SettingsOf<typeof form>

const label = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'
const capabilities: CloudCapabilities = {
  verbs: [
    ...(['provision', 'power_on', 'power_off', 'shutdown', 'reboot', 'power_cycle', 'suspend', 'resume'] as const),
    ...(['rename', 'resize', 'set_protection', 'set_labels', 'delete', 'snapshot', 'restore_snapshot'] as const),
  ],
  names: {
    pattern: `^(?=.{1,253}$)${label}(?:\\.${label})*$`,
    rule: 'must be a DNS name: letters, digits, and hyphens, in labels of at most 63 characters.',
  },
  uniqueNames: false,
  sizes: 'free',
  needsLocation: false,
  sshKeys: 'optional',
  // The API can't create the files that hold user data; it only refers to those of a storage for snippets.
  userData: false,
  networks: true,
  addressFamilies: true,
  backups: false,
  protection: ['delete'],
  resizableIn: ['off'],
  rebuildableIn: [],
  hasPrices: false,
  labels: true,
  marksAreLabels: false,
  // Disks belong to their guest.
  volumes: null,
  snapshots: { memory: true, surviveServer: false, labels: false },
  firewallProtocols: ruleProtocols,
  firewallBlocks: true,
  firewallsOfNew: 'before_start',
}

/** Proxmox VE 8 and later, a node or a cluster, via its HTTP API. */
export const proxmox: CloudKind<Settings> = {
  kind: 'proxmox',
  title: 'Proxmox VE',
  ...form,
  capabilities,
  syncSeconds: 30,
  validate(settings) {
    const problems = [urlProblem('url', settings.url) ?? addressProblem(settings.url), fingerprintProblem(settings)]
    const found = problems.filter(one => one !== null)
    if (found.length > 0) throw invalid(found)
  },
  open: (settings, around) => new Proxmox(settings, around),
}

function addressProblem(url: string): FieldProblem | null {
  const wrong = (detail: string): FieldProblem => ({ pointer: '#/settings/url', code: 'format', detail })
  if (!/^https:/i.test(url)) return wrong('must be an https URL.')
  return /\/api2(?:\/.*)?$/.test(url) ? wrong('must not include the API path, such as /api2/json.') : null
}

const fingerprintProblem = ({ fingerprint }: Settings): FieldProblem | null =>
  fingerprint === undefined || parseFingerprint(fingerprint) !== null
    ? null
    : {
        pointer: '#/settings/fingerprint',
        code: 'format',
        detail: 'must be a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons.',
      }

class Proxmox implements Cloud {
  readonly #client: ProxmoxClient
  readonly #state: AccountState
  readonly #known: KnownGuests
  readonly #vmids: Vmids
  readonly #steps: Steps
  readonly #commands: Commands
  readonly snapshots: ProxmoxSnapshots
  readonly #firewalls: ProxmoxFirewalls

  constructor(
    private readonly settings: Settings,
    private readonly around: AdapterContext,
  ) {
    const url = settings.url.replace(/\/+$/, '')
    this.#client = new ProxmoxClient({ ...settings, url }, around)
    this.#state = accountState(url, settings.token_id)
    this.#known = new KnownGuests(this.#client, around.clock, this.#state)
    this.#vmids = new Vmids(this.#client, around.clock, this.#state)
    this.#steps = new Steps(this.#client, around.clock, settings, this.#state, this.#known, this.#vmids)
    this.#commands = new Commands(this.#client, this.#steps, this.#known, settings.token_id)
    this.snapshots = new ProxmoxSnapshots(this.#steps, this.#known, this.#commands)
    this.#firewalls = new ProxmoxFirewalls(this.#client, this.#steps)
  }

  async check(): Promise<AccountCheck> {
    return await checkWithFingerprint(() => this.#check(), this.settings, this.around)
  }

  async #check(): Promise<AccountCheck> {
    const about = await this.#client.get('/version')
    const version = isObject(about) && typeof about.version === 'string' ? about.version : null
    if (version === null) throw new CloudError('invalid_response', 'The response of Proxmox has no version.')
    const { pool, storage } = this.settings
    const warnings = missingPrivileges(await this.#client.get('/access/permissions'), { pool, storage, version })
    const { nodes, online, guests } = await this.#steps.inventory()
    for (const node of nodes) if (!online.has(node)) warnings.push(`The node ${node} is offline.`)
    if (!guests.some(one => one.template)) warnings.push('There are no templates, so no servers can be created.')
    if (Number.parseInt(version, 10) < 8)
      warnings.push(`Proxmox VE ${version} is older than the versions that are supported, 8 and later.`)
    return {
      detail: `Proxmox VE ${this.#client.message(version)}, ${nodes.length === 1 ? '1 node' : `${nodes.length} nodes`}`,
      warnings,
    }
  }

  async list(): Promise<Reading> {
    const inventory = await this.#steps.inventory()
    if (inventory.guests.length === 0) await this.#refuseBlindness()
    // Before the configuration of each is read.
    refuseTooMany(inventory.guests.length)
    return { servers: await withinLimits(await this.#known.servers(inventory)), usage: inventory.usage, lacks: [], rate: null }
  }

  async get(ref: string): Promise<CloudServer | null> {
    return (await this.getMany([ref]))[0]!
  }

  async getMany(refs: readonly string[]): Promise<(CloudServer | null)[]> {
    const { guests, online } = await this.#steps.inventory()
    const listed = new Map(guests.filter(one => !one.template).map(one => [String(one.vmid), one]))
    const found: (CloudServer | null)[] = []
    for (const ref of refs) {
      const guest = listed.get(ref)
      found.push(guest ? await this.#known.server(guest, online) : null)
    }
    return found
  }

  async find({ mark, name, ref }: Pick<ServerOrder, 'mark' | 'name' | 'ref'>): Promise<CloudServer | null> {
    const inventory = await this.#steps.inventory()
    const guests = inventory.guests.filter(one => !one.template)
    const reserved = guests.find(one => String(one.vmid) === ref)
    // A clone has no mark while it runs, so nobody knows yet whose it is.
    if (reserved && isBeingCloned(reserved)) throw new CloudError('locked', `The guest ${ref} is being cloned.`, 5000, false)
    // Its clone has ended, or never started.
    this.#state.turn.end(Number(ref))
    if (guests.length === 0) await this.#refuseBlindness()
    // Marks are in configurations, and each takes a request. A clone has the reserved VMID and the name, unless it was renamed.
    const possible = guests.filter(one => ref === null || one === reserved || one.name === null || one.name === name)
    await this.#known.readConfigs(possible, inventory)
    const marked = guests.find(one => this.#markOf(one.vmid) === mark)
    const found = marked ?? reserved ?? guests.find(one => one.name === name)
    return found ? await this.#known.server(found, inventory.online) : null
  }

  async catalog(): Promise<Catalog> {
    const { guests, online } = await this.#steps.inventory()
    const bridges = new Map<string, unknown>()
    for (const node of online)
      bridges.set(node, await this.#client.get(`/nodes/${encodeURIComponent(node)}/network`, { type: 'any_bridge' }))
    return {
      locations: [...online].map(node => ({ slug: node, title: node, country: null, city: null })),
      sizes: [],
      images: imagesOf(guests),
      networks: networksOf(bridges),
    }
  }

  async reserveRef(): Promise<string> {
    return String(await this.#vmids.propose())
  }

  async newerSnapshots(snapshotRef: string): Promise<CloudSnapshot[] | null> {
    return await this.snapshots.newerThan(snapshotRef)
  }

  async start(ref: string | null, command: ServerCommand): Promise<Started> {
    return command.verb === 'provision' ? await this.#commands.provision(command.order) : await this.#commands.run(ref!, command)
  }

  async continueProvision(ref: string, order: ServerOrder): Promise<Started> {
    return await this.#commands.continueProvision({ ...order, ref })
  }

  async poll(operation: Operation): Promise<Polled> {
    // Only operations that this adapter started are polled.
    return await this.#steps.advance(operation as unknown as ProxmoxOperation)
  }

  async findOperation(ref: string, verb: ServerVerb, since: number): Promise<Operation | null> {
    return (await this.#commands.findOperation(ref, verb, since)) as Operation | null
  }

  async setFirewall(firewall: CloudFirewall): Promise<FirewallOutcome> {
    return await this.#firewalls.set(firewall)
  }

  async removeFirewall(id: string, detach: readonly FirewallDetachment[]): Promise<Pick<FirewallOutcome, 'state' | 'unreached'>> {
    return await this.#firewalls.remove(id, detach)
  }

  async readFirewalls(
    firewalls: readonly Pick<CloudFirewall, 'id' | 'refs'>[],
  ): Promise<{ firewalls: FirewallReading[]; unread: string[] }> {
    return await this.#firewalls.read(firewalls)
  }

  firewallRules(rules: readonly PlainRule[]): PlainRule[] {
    return proxmoxRules(rules)
  }

  #markOf(vmid: number): string | null {
    return parseNotes(this.#known.configOf(vmid)?.description ?? '', vmid).mark
  }

  /** Without a privilege, Proxmox leaves out guests instead of refusing the list. */
  async #refuseBlindness(): Promise<void> {
    if (!canAudit(await this.#client.get('/access/permissions')))
      throw new CloudError('unauthorized', 'The API token lacks VM.Audit on /vms, so Proxmox lists no guests.')
  }
}
