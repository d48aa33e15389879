import type { AccountCheck } from '../../../adapters/adapter'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { pluralize } from '../../../core/pluralize'
import { grouped } from '../../../core/shapes'
import { flatMapInTurns } from '../../../core/time-slices'
import { isObject } from '../../../dns/octets'
import { fqdnOf, rrsetKey } from '../zones/names'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { DigitalOceanClient } from './digitalocean-client'
import {
  bodyOf,
  digitalOceanTtl,
  foreignOfRows,
  recordsOfRows,
  rrsetsOfRecords,
  unsupportedAtDigitalOcean,
  unsupportedTypes,
  type DigitalOceanRecord,
  type DigitalOceanRrset,
} from './digitalocean-records'
import {
  ProviderError,
  type AdapterContext,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type UnsupportedRrset,
} from './provider'
import { rechunked, valueKey } from './same-rrset'
import { applyInOrder } from './steps-in-order'
import { parseZones } from './zone-listing'

const publicApi = 'https://api.digitalocean.com/v2'

const form = settingsForm({
  api_token: apiToken('Personal access token with the scopes domain:read, create, update, and delete.'),
  ...grouped('Connection', {
    base_url: baseUrl(publicApi),
  }),
})
type DigitalOceanSettings = SettingsOf<typeof form>

const caps: Caps = {
  unit: 'record',
  atomic: 'none',
  // The API has no preconditions: the current state is compared right before writing, and records are changed by id.
  cas: 'none',
  unsupported: unsupportedTypes,
  ttl: digitalOceanTtl,
  // Each step is at least two requests.
  batchOps: 20,
  rechunksTxt: true,
  alias: 'expand',
  apexNs: 'rw',
  // Together 250 requests a minute and 5,000 an hour (docs.digitalocean.com/reference/api, Rate Limit).
  pace: { perSecond: 1.25, burst: 175 },
}

/** Domains of an account at DigitalOcean, via its API. */
export const digitalOcean: ProviderKind<DigitalOceanSettings> = {
  kind: 'digitalocean',
  title: 'DigitalOcean',
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new DigitalOcean(settings, around),
}

class DigitalOcean implements DnsProvider {
  readonly caps = caps
  readonly #client: DigitalOceanClient

  constructor({ base_url, api_token }: DigitalOceanSettings, around: AdapterContext) {
    this.#client = new DigitalOceanClient({ base_url: apiUrl({ base_url }, publicApi), api_token }, around)
  }

  async check(): Promise<AccountCheck> {
    const { length } = await this.listZones()
    return { detail: `DigitalOcean${await this.#account()}: ${pluralize(length, 'domains')}`, warnings: [] }
  }

  async listZones(): Promise<ProviderZone[]> {
    return zonesOf(await this.#client.all('/domains', {}, 'domains', 'name'))
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    try {
      const { domain } = await this.#client.get(`/domains/${encodeURIComponent(name)}`)
      return zonesOf([domain])[0] ?? null
    } catch (error) {
      if (error instanceof ProviderError && error.failure === 'zone_not_found') return null
      throw error
    }
  }

  async createZone(name: string): Promise<ProviderZone> {
    await this.#client.change('POST', '/domains', { name })
    return { name, ref: null }
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    const rows = await this.#rows(zone, {})
    const records = await flatMapInTurns(rows, row => recordsOfRows([row], zone.name))
    const foreign = foreignOfRows(rows, records)
    const rrsets = rrsetsOfRecords(records)
    // A record set with a foreign record is foreign.
    for (const one of foreign) rrsets.delete(rrsetKey(one))
    return { rrsets: [...rrsets.values()].map(({ name, type, ttl, values }) => ({ name, type, ttl, values })), foreign }
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    return unsupportedAtDigitalOcean(rrset)
  }

  /** Applies one rrset after another, each record by a request. */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    return await applyInOrder<DigitalOceanRrset>(ops, {
      look: async name => {
        const rows = await this.#rows(zone, { name: fqdnOf(name, zone.name) })
        const records = recordsOfRows(rows, zone.name)
        const rrsets = rrsetsOfRecords(records)
        // Foreign ones are unlike anything that was read, so that nothing is sent for them.
        for (const one of foreignOfRows(rows, records)) rrsets.set(rrsetKey(one), { ...one, ttl: 0, values: [], records: [] })
        return rrsets
      },
      refusal: op => (op.after ? unsupportedAtDigitalOcean(op.after)[0]?.detail : undefined),
      send: (op, there) => this.#send(zone, op, there?.records ?? []),
    })
  }

  async #send(zone: ProviderZone, op: Op, records: readonly DigitalOceanRecord[]): Promise<'done' | 'stale'> {
    let sent = 0
    for (const { method, id, body } of requestsFor(op, records))
      try {
        await this.#client.change(method, `${recordsOf(zone)}${id === null ? '' : `/${id}`}`, body)
        sent++
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        if (sent > 0)
          throw new ProviderError(
            error.failure,
            `Only some of the records were changed. ${error.message}`,
            error.retryAfterMs,
            true,
          )
        // The records were just read, so it is the record that is missing, not the domain.
        if (id !== null && error.failure === 'zone_not_found') return 'stale'
        throw error
      }
    return 'done'
  }

  async #rows(zone: ProviderZone, query: Record<string, string>): Promise<Record<string, unknown>[]> {
    return await this.#client.all(recordsOf(zone), query, 'domain_records', 'id')
  }

  /** The team and the email address, if the token has the scope account:read. */
  async #account(): Promise<string> {
    try {
      const { account } = await this.#client.get('/account')
      const { email, team } = isObject(account) ? account : {}
      const name = isObject(team) && typeof team.name === 'string' ? ` team ${team.name}` : ''
      return `${name}${typeof email === 'string' ? ` (${email})` : ''}`
    } catch (error) {
      if (error instanceof ProviderError && error.failure === 'unauthorized') return ''
      throw error
    }
  }
}

interface RecordRequest {
  method: 'POST' | 'PUT' | 'DELETE'
  /** Null for a new record. */
  id: number | null
  body?: object
}

/**
 * Requests that make records those of a step. Records with unchanged values are kept; others are updated rather than deleted and
 * recreated where possible. Deletions come last, so that the name never lacks records.
 */
function requestsFor({ type, after }: Op, records: readonly DigitalOceanRecord[]): RecordRequest[] {
  const keyOf = (rdata: Uint8Array) => valueKey(type, rechunked(type, rdata))
  const wanted = new Map(after?.values.map(value => [keyOf(value), value]))
  const free: DigitalOceanRecord[] = []
  const requests: RecordRequest[] = []
  for (const record of records) {
    if (!wanted.delete(keyOf(record.rdata))) free.push(record)
    else if (after && record.ttl !== after.ttl) requests.push({ method: 'PUT', id: record.id, body: bodyOf(after, record.rdata) })
  }
  for (const value of wanted.values()) {
    const id = free.shift()?.id ?? null
    requests.push({ method: id === null ? 'POST' : 'PUT', id, body: bodyOf(after!, value) })
  }
  return [...requests, ...free.map(({ id }): RecordRequest => ({ method: 'DELETE', id }))]
}

/** Domains have no ids: their names identify them. */
const zonesOf = (rows: readonly unknown[]): ProviderZone[] =>
  parseZones(rows.map(row => (isObject(row) ? { name: row.name, id: row.name } : row))).map(({ name }) => ({ name, ref: null }))

const recordsOf = ({ name }: ProviderZone): string => `/domains/${encodeURIComponent(name)}/records`
