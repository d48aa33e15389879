import { Type, type Static } from '@sinclair/typebox'
import { invalid } from '../../../core/problem'
import { Line, Shape, Words } from '../../../core/shapes'
import { autoTtl, batchesOf, batchOf, bodyOf, isAsRead, mostOf, sizeOf } from './cloudflare-changes'
import { CloudflareClient, CloudflareRefusal } from './cloudflare-client'
import { recordsOfRows, rrsetsOfRecords, unsupportedTypes, type CloudflareRecord } from './cloudflare-records'
import { unfitForCloudflare } from './cloudflare-rules'
import { Unanswered, urlProblem } from './json-http'
import {
  ProviderError,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderCheck,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type Surroundings,
  type Unfit,
} from './provider'
import { stepKey } from './same-rrset'
import { zoneMade, zonesTold } from './zone-told'

const plans = ['free', 'pro', 'business', 'enterprise'] as const
const publicApi = 'https://api.cloudflare.com/client/v4'

const settings = Shape({
  api_token: Type.String({
    minLength: 20,
    maxLength: 400,
    pattern: '^[\\x21-\\x7e]+$',
    'x-rule': 'must be of printable ASCII without blanks.',
    description: 'API token with the permissions Zone:Read and DNS:Edit for the zones. Never shown.',
    writeOnly: true,
  }),
  account_id: Type.Optional(
    Type.String({
      pattern: '^[0-9a-f]{32}$',
      'x-rule': 'must be 32 hexadecimal digits.',
      description: 'Account whose zones are meant, of those that the token may see. Needed to make zones.',
    }),
  ),
  plan: Type.Optional(
    Words(plans, {
      default: 'free',
      description:
        'Plan of the zones: `free` allows 200 changes of records in one batch, the others 3500; `enterprise` TTLs from 30 seconds.',
    }),
  ),
  base_url: Type.Optional(
    Line({
      maxLength: 1000,
      description: `Where the API is, for what stands between; by itself ${publicApi}.`,
      default: publicApi,
    }),
  ),
})
type CloudflareSettings = Static<typeof settings>

/** Zones at Cloudflare, by its API (developers.cloudflare.com/api). */
export const cloudflare: ProviderKind<CloudflareSettings> = {
  kind: 'cloudflare',
  title: 'Cloudflare',
  settings,
  secrets: ['api_token'],
  destination: ['base_url'],
  caps: capsOf('enterprise'),
  refuse({ base_url }) {
    const problem = base_url === undefined ? null : urlProblem('base_url', base_url)
    if (problem) throw invalid([problem])
  },
  open: (given, around) => new Cloudflare(given, around),
}

class Cloudflare implements DnsProvider {
  readonly caps: Caps
  readonly #client: CloudflareClient

  constructor(
    private readonly given: CloudflareSettings,
    around: Surroundings,
  ) {
    const base_url = (given.base_url ?? publicApi).replace(/\/+$/, '')
    this.#client = new CloudflareClient({ base_url, api_token: given.api_token }, around)
    this.caps = capsOf(given.plan ?? 'free')
  }

  async check(): Promise<ProviderCheck> {
    const { rows, totalCount } = await this.#client.first('/zones', this.#ofAccount(), zonesPerPage)
    const accounts = [...new Set(rows.map(row => (row.account as { name?: unknown } | undefined)?.name))]
    const named = accounts.filter(name => typeof name === 'string').slice(0, 3)
    return {
      detail: `Cloudflare${named.length > 0 ? ` account ${named.join(', ')}` : ''}: ${totalCount} ${totalCount === 1 ? 'zone' : 'zones'}`,
      warnings: [
        ...(totalCount === 0 ? ['The token sees no zones: it needs Zone:Read for those that are meant.'] : []),
        ...(rows.some(lacksDnsEdit) ? ['The token may not edit the records of some zones: it needs DNS:Edit.'] : []),
        ...(this.given.account_id === undefined ? ['Without account_id no zones can be made.'] : []),
      ],
    }
  }

  async listZones(): Promise<ProviderZone[]> {
    return zonesTold(await this.#client.whole('/zones', { ...this.#ofAccount(), order: 'name' }, zonesPerPage))
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    const rows = await this.#client.whole('/zones', { ...this.#ofAccount(), name }, zonesPerPage)
    const zones = zonesTold(rows).filter(zone => zone.name === name)
    if (zones.length > 1)
      throw new ProviderError(
        'refused',
        `The token sees ${zones.length} zones ${name}, in several accounts: account_id tells which.`,
      )
    return zones[0] ?? null
  }

  async createZone(name: string): Promise<ProviderZone> {
    const { account_id } = this.given
    if (account_id === undefined) throw new ProviderError('refused', 'To make a zone, account_id is needed.')
    return zoneMade(await this.#client.post('/zones', { name, account: { id: account_id }, type: 'full' }))
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    return { rrsets: [...rrsetsOfRecords(await this.#records(zone, {})).values()] }
  }

  unfit(rrset: ProviderRrset): Unfit[] {
    return unfitForCloudflare(rrset)
  }

  /**
   * Batches one after another, each all or nothing; what a batch is about is read right before it, and then changed by the ids that
   * were read. The first batch that does not succeed is the last.
   */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const results: OpResult[] = []
    for (const batch of batchesOf(ops, this.caps.batchOps)) {
      const failed = results.find(one => one.outcome !== 'done')
      if (failed) results.push(...batch.map(op => resultOf(op, 'left', 'A batch before it failed.')))
      else results.push(...(await this.#batch(zone, batch, results.length === 0)))
    }
    return results
  }

  /** @param isFirst so that nothing was sent yet, and what goes wrong can be thrown */
  async #batch(zone: ProviderZone, ops: readonly Op[], isFirst: boolean): Promise<OpResult[]> {
    const all = (outcome: OpResult['outcome'], detail?: string) => ops.map(op => resultOf(op, outcome, detail))
    if (mostOf(ops[0]!) > this.caps.batchOps)
      return all('refused', `The plan allows ${this.caps.batchOps} changes of records at once, and this step has more.`)
    let isSent = false
    try {
      const there = await this.#touched(zone, ops)
      const rrsets = rrsetsOfRecords(there)
      const stale = new Set(ops.filter(op => !isAsRead(op, rrsets.get(stepKey(op)))))
      if (stale.size > 0)
        return ops.map(op =>
          stale.has(op)
            ? resultOf(op, 'stale', 'At Cloudflare it is not as it was read.')
            : resultOf(op, 'left', 'Another step of its batch was stale.'),
        )
      const batch = batchOf(ops, there, zone.name)
      isSent = sizeOf(batch) > 0
      if (isSent) await this.#client.post(`${recordsOf(zone)}/batch`, bodyOf(batch))
      return all('done')
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (isSent && error instanceof CloudflareRefusal)
        return all(error.codes.includes(recordMissing) ? 'stale' : 'refused', error.message)
      if (isSent && mayHaveHappened(error)) return all('unknown', error.message)
      if (isFirst) throw error
      return all('left', error.message)
    }
  }

  /** The records of the names that steps are about, asked for by name where that is less than all. */
  async #touched(zone: ProviderZone, ops: readonly Op[]): Promise<CloudflareRecord[]> {
    const names = [...new Set(ops.map(one => one.name))]
    if (names.length > askedByName) return await this.#records(zone, {})
    const found: CloudflareRecord[] = []
    for (const name of names)
      found.push(...(await this.#records(zone, { 'name.exact': name === '@' ? zone.name : `${name}.${zone.name}` })))
    return found
  }

  async #records(zone: ProviderZone, filter: Record<string, string>): Promise<CloudflareRecord[]> {
    const rows = await this.#client.whole(recordsOf(zone), { ...filter, order: 'name', direction: 'asc' }, recordsPerPage)
    return recordsOfRows(rows, zone.name)
  }

  #ofAccount(): Record<string, string> {
    return this.given.account_id === undefined ? {} : { 'account.id': this.given.account_id }
  }
}

function capsOf(plan: (typeof plans)[number]): Caps {
  return {
    unit: 'record',
    atomic: 'batch',
    cas: 'exact',
    unsupported: unsupportedTypes,
    // Cloudflare, TTL.
    ttl: { min: plan === 'enterprise' ? 30 : 60, max: 86_400, auto: autoTtl },
    // Cloudflare, Batch record changes.
    batchOps: plan === 'free' ? 200 : 3500,
    rechunksTxt: true,
    alias: 'native',
    apexNs: 'hidden',
  }
}

// The most that the API gives, so that most lists are one page (developers.cloudflare.com/api, List Zones).
const zonesPerPage = 50
// Up to 5,000,000 are allowed (developers.cloudflare.com/api, List DNS Records).
const recordsPerPage = 5000
const askedByName = 5

/** Zones list what the token may do with them. */
const lacksDnsEdit = ({ permissions }: Record<string, unknown>): boolean =>
  Array.isArray(permissions) && permissions.length > 0 && !permissions.includes('#dns_records:edit')

function recordsOf({ ref }: ProviderZone): string {
  if (ref === null) throw new ProviderError('zone_not_found', 'The id of the zone at Cloudflare is not known.')
  return `/zones/${encodeURIComponent(ref)}/dns_records`
}

const resultOf = ({ name, type }: Op, outcome: OpResult['outcome'], detail?: string): OpResult => ({
  name,
  type,
  outcome,
  ...(detail !== undefined && { detail }),
})

// "Record does not exist": it was removed since it was read.
const recordMissing = 81_044
/** Whether a change was carried out though it was not confirmed: not where the API told why not, or was not reached at all. */
const mayHaveHappened = (error: ProviderError): boolean =>
  error instanceof Unanswered ? error.sent : !['throttled', 'unauthorized', 'zone_not_found'].includes(error.failure)
