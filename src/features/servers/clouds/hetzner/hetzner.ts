import type { AccountCheck } from '../../../../adapters/adapter'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../../adapters/api-settings'
import { readNumberedPages } from '../../../../adapters/numbered-pages'
import { settingsForm, type SettingsOf } from '../../../../adapters/settings-form'
import { pluralize } from '../../../../core/pluralize'
import { grouped } from '../../../../core/shapes'
import { isTurnOver, yieldToEventLoop } from '../../../../core/time-slices'
import { HetznerApi, HetznerError, hetznerApi, hetznerPace } from '../../../../vendors/hetzner'
import { ruleProtocols, type PlainRule } from '../../firewalls/rules'
import { markLabel } from '../../labels'
import {
  CloudError,
  type AdapterContext,
  type Catalog,
  type Cloud,
  type CloudCapabilities,
  type CloudFailure,
  type CloudFirewall,
  type CloudKind,
  type CloudSeries,
  type CloudServer,
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
import { maxServers, withinLimits } from '../reading-limits'
import { perPage, priceOf, readCatalog, readPrices } from './catalog'
import { HetznerCommands } from './commands'
import { readMetrics } from './metrics'
import { HetznerFirewalls, hetznerRules } from './firewalls'
import { serverOf } from './readings'
import { HetznerSnapshots } from './snapshots'
import { HetznerVolumes, volumeCapabilities } from './volumes'

const form = settingsForm({
  api_token: apiToken('API token of the Hetzner project with the servers, with read and write permissions.'),
  ...grouped('Connection', {
    base_url: baseUrl(hetznerApi),
  }),
})
type HetznerSettings = SettingsOf<typeof form>

const hostLabel = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?'

const capabilities: CloudCapabilities = {
  verbs: [
    ...(['provision', 'power_on', 'power_off', 'shutdown', 'reboot', 'power_cycle', 'rename', 'resize', 'rebuild'] as const),
    ...([
      'set_protection',
      'enable_rescue',
      'disable_rescue',
      'enable_backups',
      'disable_backups',
      'delete',
      'snapshot',
      'restore_snapshot',
      'set_labels',
    ] as const),
  ],
  names: {
    pattern: `^(?=.{1,253}$)${hostLabel}(?:\\.${hostLabel})*$`,
    rule: 'must be a hostname (RFC 1123): letters, digits, hyphens, and dots, up to 253 characters.',
  },
  uniqueNames: true,
  sizes: 'catalog',
  needsLocation: true,
  sshKeys: 'required',
  userData: true,
  networks: true,
  addressFamilies: true,
  backups: true,
  protection: ['delete', 'rebuild'],
  resizableIn: ['off'],
  rebuildableIn: ['running', 'off'],
  hasPrices: true,
  labels: true,
  marksAreLabels: true,
  volumes: volumeCapabilities,
  snapshots: { memory: false, surviveServer: true, labels: true },
  firewallProtocols: ruleProtocols,
  firewallBlocks: false,
  firewallsOfNew: 'ordered',
}

/** Failures by error codes (docs.hetzner.cloud/reference/cloud, Errors, and those of single operations). */
const failures: Record<string, CloudFailure> = {
  not_found: 'not_found',
  uniqueness_error: 'already_exists',
  locked: 'locked',
  // It changed during the request.
  conflict: 'locked',
  protected: 'protected',
  volume_already_attached: 'invalid',
  resource_in_use: 'invalid',
  resource_limit_exceeded: 'quota',
  resource_unavailable: 'out_of_stock',
  placement_error: 'out_of_stock',
  no_space_left_in_location: 'out_of_stock',
  invalid_input: 'invalid',
  invalid_server_type: 'invalid',
  unsupported_error: 'invalid',
}

/** Servers in a project at Hetzner Cloud. */
export const hetzner: CloudKind<HetznerSettings> = {
  kind: 'hetzner',
  title: 'Hetzner Cloud',
  ...form,
  capabilities,
  syncSeconds: 60,
  pace: hetznerPace,
  validate: validateBaseUrl,
  price: priceOf,
  open: (settings, around) => new Hetzner(settings, around),
}

class Hetzner implements Cloud {
  readonly #api: HetznerApi
  readonly #commands: HetznerCommands
  readonly volumes: HetznerVolumes
  readonly snapshots: HetznerSnapshots
  readonly #firewalls: HetznerFirewalls

  constructor(
    { base_url, api_token }: HetznerSettings,
    private readonly around: AdapterContext,
  ) {
    this.#api = new HetznerApi({ base_url: apiUrl({ base_url }, hetznerApi), api_token }, around, failures)
    this.snapshots = new HetznerSnapshots(this.#api, around.clock)
    this.volumes = new HetznerVolumes(this.#api, around.clock)
    this.#firewalls = new HetznerFirewalls(this.#api, around)
    this.#commands = new HetznerCommands(this.#api, around, this.snapshots, this.#firewalls)
  }

  /** The API doesn’t return the name of the project, so its servers identify it. */
  async check(): Promise<AccountCheck> {
    const { rows, totalCount } = await this.#api.page('/servers?sort=id', 'servers', 1, perPage)
    const names = rows.slice(0, 3).map(row => String(row.name))
    const examples = names.length === 0 ? '' : ` (${names.join(', ')}${totalCount > names.length ? ', …' : ''})`
    return { detail: `Hetzner Cloud, ${pluralize(totalCount, 'servers')}${examples}`, warnings: await this.#warnings() }
  }

  async list(): Promise<Reading> {
    const rows = await readNumberedPages(
      this.around.clock,
      async page => {
        const found = await this.#api.page('/servers?sort=id', 'servers', page, perPage)
        const servers = found.rows.map(row => ({ id: row.id, server: serverOf(row) }))
        if (isTurnOver()) await yieldToEventLoop()
        return { ...found, rows: servers }
      },
      { isById: true, max: maxServers },
    )
    return { servers: await withinLimits(rows.map(row => row.server)), lacks: [], rate: this.#api.rate }
  }

  async get(ref: string): Promise<CloudServer | null> {
    const row = await this.#commands.row(ref)
    return row && serverOf(row)
  }

  async find({ mark, name }: Pick<ServerOrder, 'mark' | 'name' | 'ref'>): Promise<CloudServer | null> {
    const selector = encodeURIComponent(`${markLabel}=${mark}`)
    return (await this.#first(`label_selector=${selector}`)) ?? (await this.#first(`name=${encodeURIComponent(name)}`))
  }

  async metricsOf(ref: string, cores: number, from: number, until: number, stepSeconds: number): Promise<CloudSeries[]> {
    return await readMetrics(this.#api, ref, cores, from, until, stepSeconds)
  }

  async catalog(): Promise<Catalog> {
    return await readCatalog(this.#api, this.around.clock)
  }

  async prices(size: string | null): ReturnType<NonNullable<Cloud['prices']>> {
    return await readPrices(this.#api, this.around.clock, size)
  }

  async start(ref: string | null, command: ServerCommand): Promise<Started> {
    return await this.#commands.start(ref, command)
  }

  async continueProvision(ref: string, order: ServerOrder): Promise<Started> {
    return await this.#commands.continueProvision(ref, order)
  }

  async poll(operation: Operation): Promise<Polled> {
    return await this.#commands.poll(operation)
  }

  async findOperation(ref: string, verb: ServerVerb, since: number): Promise<Operation | null> {
    return await this.#commands.find(ref, verb, since)
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
    return hetznerRules(rules)
  }

  async #first(filter: string): Promise<CloudServer | null> {
    const { rows } = await this.#api.page(`/servers?${filter}&sort=id`, 'servers', 1, perPage)
    return rows.length === 0 ? null : serverOf(rows[0])
  }

  /** A read-only token is refused any change before anything else is checked. There is no server 0. */
  async #warnings(): Promise<string[]> {
    try {
      await this.#api.send('POST', '/servers/0/actions/poweron')
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      if (error instanceof HetznerError && error.code === 'token_readonly') return [error.message]
    }
    return []
  }
}
