import type { AccountCheck } from '../../../adapters/adapter'
import { mayHaveApplied } from '../../../adapters/failure'
import { incompleteList } from '../../../adapters/numbered-pages'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { pluralize } from '../../../core/pluralize'
import { grouped } from '../../../core/shapes'
import { rrsetKey } from '../zones/names'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { DesecClient, DesecRefusal } from './desec-client'
import { changeOf, rrsetsOfRows, type Content, subnameOf, unsupportedAtDesec, unsupportedTypes } from './desec-records'
import { domainsOfAccount, forgetDomains, parseDomain, type DesecDomain } from './desec-domains'
import {
  ProviderError,
  resultOf,
  skippedBy,
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
import { sameRrset } from './same-rrset'
import { batchesWithin } from './steps-by-name'

const publicApi = 'https://desec.io/api/v1'

const form = settingsForm({
  api_token: apiToken(
    'API token, from Token Management at desec.io. To create zones, it needs the permission to create domains.',
  ),
  ...grouped('Connection', {
    base_url: baseUrl(publicApi),
  }),
})
type DesecSettings = SettingsOf<typeof form>

const caps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  // The API has no preconditions: the current state is compared right before writing.
  cas: 'none',
  unsupported: unsupportedTypes,
  // Each zone has its own minimum, usually this one (desec.readthedocs.io, Domain Field Reference: minimum_ttl).
  ttl: { min: 3600, max: 86_400 },
  batchOps: 500,
  // RRset field reference: records.
  recordsMax: 4091,
  // Strings of up to 255 octets, as they are sent, are preserved.
  rechunksTxt: false,
  // deSEC signs zones in advance, so it can’t resolve an ALIAS for each query.
  alias: 'expand',
  apexNs: 'rw',
  // Rate limits of an account: 50 reads a minute, 2,000 requests a day; of a zone: 15 changes a minute, 300 a day.
  pace: { perSecond: 0.5, burst: 20, writesPerDay: 250 },
}

/** Zones at deSEC, via its API (desec.readthedocs.io). */
export const desec: ProviderKind<DesecSettings> = {
  kind: 'desec',
  title: 'deSEC',
  ...form,
  caps,
  pollSeconds: 3600,
  validate: validateBaseUrl,
  open: (settings, around) => new Desec(settings, around),
}

class Desec implements DnsProvider {
  readonly caps = caps
  readonly #client: DesecClient
  /** Identifies the account within this process. */
  readonly #account: string

  constructor(
    settings: DesecSettings,
    private readonly around: AdapterContext,
  ) {
    const base_url = apiUrl(settings, publicApi)
    this.#client = new DesecClient({ base_url, api_token: settings.api_token }, around)
    this.#account = `${base_url} ${settings.api_token}`
  }

  async check(): Promise<AccountCheck> {
    const { rows } = await this.#client.all('/domains/')
    const email = await this.#email()
    return { detail: `deSEC${email === null ? '' : ` account ${email}`}: ${pluralize(rows.length, 'zones')}`, warnings: [] }
  }

  async listZones(): Promise<ProviderZone[]> {
    const { rows } = await this.#client.all('/domains/')
    return rows.map(row => zoneOf(parseDomain(row)))
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    try {
      return zoneOf(await this.#domain(name))
    } catch (error) {
      if (error instanceof ProviderError && error.failure === 'zone_not_found') return null
      throw error
    }
  }

  async createZone(name: string): Promise<ProviderZone> {
    forgetDomains(this.#account)
    return zoneOf(parseDomain(await this.#client.change('POST', '/domains/', { name })))
  }

  async read({ name }: ProviderZone): Promise<Snapshot> {
    const { minimumTtl, touchedAt } = await this.#domain(name)
    const { rows, pages } = await this.#client.all(rrsetsOf(name))
    // New rrsets are at the start of the list, where pages that were already read don’t show them.
    if (pages > 1 && (await this.#domain(name)).touchedAt !== touchedAt) throw incompleteList('it changed while being read')
    return { ...(await rrsetsOfRows(rows, name)), serial: touchedAt, minTtl: minimumTtl }
  }

  /** The time of the last write. One list has those of all zones of the account, and is shared by them for a while. */
  async readSerial({ name }: ProviderZone): Promise<number> {
    const domains = await domainsOfAccount(this.#account, this.around.clock.now(), async () => {
      const { rows } = await this.#client.all('/domains/')
      return rows.map(parseDomain)
    })
    return (domains.get(name) ?? (await this.#domain(name))).touchedAt
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    return unsupportedAtDesec(rrset)
  }

  /**
   * Applies batches one after another, each atomically. Reads the affected rrsets right before each batch. Stops at the first batch
   * that fails.
   */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const results: OpResult[] = []
    for (const batch of batchesWithin(ops, [{ max: caps.batchOps, sizeOf: () => 1 }])) {
      const failed = results.some(one => one.outcome !== 'done')
      if (failed) results.push(...batch.map(op => resultOf(op, 'skipped', 'A previous batch failed.')))
      else results.push(...(await this.#batch(zone, batch, results.length === 0)))
    }
    return results
  }

  /** @param isFirst nothing was sent before, so errors can be thrown */
  async #batch({ name: zoneName }: ProviderZone, ops: readonly Op[], isFirst: boolean): Promise<OpResult[]> {
    const all = (outcome: OpResult['outcome'], detail?: string) => ops.map(op => resultOf(op, outcome, detail))
    let isSent = false
    try {
      const there = await this.#affected(zoneName, ops)
      const rrsets = new Map(there.rrsets.map(one => [rrsetKey(one), one]))
      const foreign = new Set(there.foreign.map(rrsetKey))
      const isUnchanged = (op: Op, key = rrsetKey(op)) => !foreign.has(key) && sameRrset(op.before, rrsets.get(key) ?? null)
      const stale = new Set(ops.filter(op => !isUnchanged(op)))
      if (stale.size > 0)
        return ops.map(op =>
          stale.has(op)
            ? resultOf(op, 'stale', 'Changed at deSEC since it was read.')
            : resultOf(op, 'skipped', 'Another change in the same batch was out of date.'),
        )
      isSent = true
      forgetDomains(this.#account)
      await this.#client.change('PATCH', rrsetsOf(zoneName), ops.map(changeOf))
      return all('done')
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (isSent && error instanceof DesecRefusal) return error.isConflict ? all('stale', error.message) : refused(ops, error)
      if (isSent && mayHaveApplied(error)) return all('unknown', error.message)
      if (isFirst) throw error
      return ops.map(op => skippedBy(op, error))
    }
  }

  /** Reads the rrsets at the names of the steps; queries by name if there are few. */
  async #affected(zoneName: string, ops: readonly Op[]): Promise<Content> {
    const names = [...new Set(ops.map(one => one.name))]
    const queries = names.length > maxNameQueries ? [{}] : names.map(name => ({ subname: subnameOf(name) }))
    const rows: Record<string, unknown>[] = []
    for (const query of queries) rows.push(...(await this.#client.all(rrsetsOf(zoneName), query)).rows)
    return await rrsetsOfRows(rows, zoneName)
  }

  async #domain(name: string): Promise<DesecDomain> {
    return parseDomain(await this.#client.get(`/domains/${encodeURIComponent(name)}/`))
  }

  /** Email address of the account; null if the token may not read it, as is usual. */
  async #email(): Promise<string | null> {
    try {
      const { email } = await this.#client.get('/auth/account/')
      return typeof email === 'string' ? email : null
    } catch (error) {
      if (error instanceof ProviderError && error.failure === 'unauthorized') return null
      throw error
    }
  }
}

/** Each name costs a request. */
const maxNameQueries = 2

const zoneOf = ({ name }: DesecDomain): ProviderZone => ({ name, ref: null })

const rrsetsOf = (zoneName: string): string => `/domains/${encodeURIComponent(zoneName)}/rrsets/`

/** Refuses the steps that have errors and skips the others; refuses all if the errors are not those of steps. */
function refused(ops: readonly Op[], { details, message }: DesecRefusal): OpResult[] {
  if (details?.length !== ops.length || !details.some(Boolean)) return ops.map(op => resultOf(op, 'refused', message))
  return ops.map((op, place) =>
    details[place]
      ? resultOf(op, 'refused', details[place])
      : resultOf(op, 'skipped', 'Skipped because another change in the same request was refused.'),
  )
}
