import type { AccountCheck } from '../../../adapters/adapter'
import { Type } from '@sinclair/typebox'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { grouped, Words } from '../../../core/shapes'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { autoTtl, batchesOf, batchOf, bodyOf, maxRecordsOf, sizeOf } from './cloudflare-changes'
import { CloudflareClient, CloudflareRefusal } from './cloudflare-client'
import { foreignOfRows, recordsOfRows, rrsetsOfRecords, unsupportedTypes, type CloudflareRecord } from './cloudflare-records'
import { unsupportedAtCloudflare } from './cloudflare-rules'
import { mayHaveApplied } from '../../../adapters/failure'
import {
  ProviderError,
  resultOf,
  skippedBy,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type AdapterContext,
  type UnsupportedRrset,
} from './provider'
import { isUnchanged } from './same-rrset'
import { parseCreatedZone, parseZones } from './zone-listing'
import { rrsetKey } from '../zones/names'

const plans = ['free', 'pro', 'business', 'enterprise'] as const
const publicApi = 'https://api.cloudflare.com/client/v4'

const form = settingsForm({
  api_token: apiToken('API token with the Zone:Read and DNS:Edit permissions for the zones.'),
  account_id: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{32}$',
      'x-rule': 'must be 32 hexadecimal digits.',
      description: 'Limits the provider to zones of this account. Required to create zones.',
    }),
  ),
  ...grouped('Connection', {
    plan: Type.Optional(
      Words(plans, {
        default: 'free',
        description:
          'Cloudflare plan of the zones. `free` allows 200 record changes per batch, other plans 3,500; `enterprise` allows TTLs from 30 seconds.',
      }),
    ),
    base_url: baseUrl(publicApi),
  }),
})
type CloudflareSettings = SettingsOf<typeof form>

/** Zones at Cloudflare, via its API (developers.cloudflare.com/api). */
export const cloudflare: ProviderKind<CloudflareSettings> = {
  kind: 'cloudflare',
  title: 'Cloudflare',
  ...form,
  caps: capsOf('enterprise'),
  validate: validateBaseUrl,
  open: (settings, around) => new Cloudflare(settings, around),
}

class Cloudflare implements DnsProvider {
  readonly caps: Caps
  readonly #client: CloudflareClient

  constructor(
    private readonly settings: CloudflareSettings,
    around: AdapterContext,
  ) {
    const base_url = apiUrl(settings, publicApi)
    this.#client = new CloudflareClient({ base_url, api_token: settings.api_token }, around)
    this.caps = capsOf(settings.plan ?? 'free')
  }

  async check(): Promise<AccountCheck> {
    const { rows, totalCount } = await this.#client.firstPage('/zones', this.#ofAccount(), zonesPerPage)
    const accounts = [...new Set(rows.map(row => (row.account as { name?: unknown } | undefined)?.name))]
    const named = accounts.filter(name => typeof name === 'string').slice(0, 3)
    return {
      detail: `Cloudflare${named.length > 0 ? ` account ${named.join(', ')}` : ''}: ${totalCount} ${totalCount === 1 ? 'zone' : 'zones'}`,
      warnings: [
        ...(totalCount === 0 ? ['The token has access to no zones. It needs the Zone:Read permission.'] : []),
        ...(rows.some(lacksDnsEdit) ? ['The token can’t edit the records of some zones. It needs the DNS:Edit permission.'] : []),
        ...(this.settings.account_id === undefined ? ['Zones can’t be created without account_id.'] : []),
      ],
    }
  }

  async listZones(): Promise<ProviderZone[]> {
    return parseZones(await this.#client.all('/zones', { ...this.#ofAccount(), order: 'name' }, zonesPerPage))
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    const rows = await this.#client.all('/zones', { ...this.#ofAccount(), name }, zonesPerPage)
    const zones = parseZones(rows).filter(zone => zone.name === name)
    if (zones.length > 1)
      throw new ProviderError(
        'refused',
        `There are ${zones.length} zones named ${name} in different accounts. Set account_id to choose one.`,
      )
    return zones[0] ?? null
  }

  async createZone(name: string): Promise<ProviderZone> {
    const { account_id } = this.settings
    if (account_id === undefined) throw new ProviderError('refused', 'Creating zones requires account_id.')
    return parseCreatedZone(await this.#client.post('/zones', { name, account: { id: account_id }, type: 'full' }))
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    const rows = await this.#rows(zone, {})
    return {
      rrsets: [...rrsetsOfRecords(recordsOfRows(rows, zone.name)).values()],
      foreign: foreignOfRows(rows, zone.name),
    }
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    return unsupportedAtCloudflare(rrset)
  }

  /**
   * Applies batches one after another, each atomically. Reads the affected records right before each batch, and changes them by id.
   * Stops at the first batch that fails.
   */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const results: OpResult[] = []
    for (const batch of batchesOf(ops, this.caps.batchOps)) {
      const failed = results.find(one => one.outcome !== 'done')
      if (failed) results.push(...batch.map(op => resultOf(op, 'skipped', 'A previous batch failed.')))
      else results.push(...(await this.#batch(zone, batch, results.length === 0)))
    }
    return results
  }

  /** @param isFirst nothing was sent before, so errors can be thrown */
  async #batch(zone: ProviderZone, ops: readonly Op[], isFirst: boolean): Promise<OpResult[]> {
    const all = (outcome: OpResult['outcome'], detail?: string) => ops.map(op => resultOf(op, outcome, detail))
    if (maxRecordsOf(ops[0]!) > this.caps.batchOps)
      return all(
        'refused',
        `The Cloudflare plan allows ${this.caps.batchOps} record changes per batch, and this change has more.`,
      )
    let isSent = false
    try {
      const there = await this.#affectedRecords(zone, ops)
      const rrsets = rrsetsOfRecords(there)
      const stale = new Set(ops.filter(op => !isUnchanged(op, rrsets.get(rrsetKey(op)))))
      if (stale.size > 0)
        return ops.map(op =>
          stale.has(op)
            ? resultOf(op, 'stale', 'Changed at Cloudflare since it was read.')
            : resultOf(op, 'skipped', 'Another change in the same batch was out of date.'),
        )
      const batch = batchOf(ops, there, zone.name)
      isSent = sizeOf(batch) > 0
      if (isSent) await this.#client.post(`${recordsOf(zone)}/batch`, bodyOf(batch))
      return all('done')
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (isSent && error instanceof CloudflareRefusal)
        return all(error.codes.includes(recordMissing) ? 'stale' : 'refused', error.message)
      if (isSent && mayHaveApplied(error)) return all('unknown', error.message)
      if (isFirst) throw error
      return ops.map(op => skippedBy(op, error))
    }
  }

  /** Reads the records at the names of the steps; queries by name if there are few. */
  async #affectedRecords(zone: ProviderZone, ops: readonly Op[]): Promise<CloudflareRecord[]> {
    const names = [...new Set(ops.map(one => one.name))]
    if (names.length > maxNameQueries) return await this.#records(zone, {})
    const found: CloudflareRecord[] = []
    for (const name of names)
      found.push(...(await this.#records(zone, { 'name.exact': name === '@' ? zone.name : `${name}.${zone.name}` })))
    return found
  }

  async #records(zone: ProviderZone, filter: Record<string, string>): Promise<CloudflareRecord[]> {
    return recordsOfRows(await this.#rows(zone, filter), zone.name)
  }

  #rows(zone: ProviderZone, filter: Record<string, string>): Promise<Record<string, unknown>[]> {
    return this.#client.all(recordsOf(zone), { ...filter, order: 'name', direction: 'asc' }, recordsPerPage)
  }

  #ofAccount(): Record<string, string> {
    return this.settings.account_id === undefined ? {} : { 'account.id': this.settings.account_id }
  }
}

function capsOf(plan: (typeof plans)[number]): Caps {
  // Cloudflare, Batch record changes.
  const batchOps = plan === 'free' ? 200 : 3500
  return {
    unit: 'record',
    atomic: 'batch',
    cas: 'exact',
    unsupported: unsupportedTypes,
    // Cloudflare, TTL.
    ttl: { min: plan === 'enterprise' ? 30 : 60, max: 86_400, auto: autoTtl },
    batchOps,
    recordsMax: batchOps,
    rechunksTxt: true,
    alias: 'native',
    apexNs: 'hidden',
    // Together 1,200 requests in five minutes (Cloudflare, Rate limits).
    pace: { perSecond: 2, burst: 600 },
  }
}

// Maximum of the API, so that most lists fit on one page (developers.cloudflare.com/api, List Zones).
const zonesPerPage = 50
// The limit is 5,000,000 (developers.cloudflare.com/api, List DNS Records).
const recordsPerPage = 5000
const maxNameQueries = 5

/** Zones list the permissions of the token. */
const lacksDnsEdit = ({ permissions }: Record<string, unknown>): boolean =>
  Array.isArray(permissions) && permissions.length > 0 && !permissions.includes('#dns_records:edit')

function recordsOf({ ref }: ProviderZone): string {
  if (ref === null) throw new ProviderError('zone_not_found', 'The Cloudflare id of the zone is unknown.')
  return `/zones/${encodeURIComponent(ref)}/dns_records`
}

// “Record does not exist”: it was deleted since it was read.
const recordMissing = 81_044
