import { Type } from '@sinclair/typebox'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { isCurrency, type Money } from '../../../core/money'
import { invalid } from '../../../core/problem'
import { grouped, Line } from '../../../core/shapes'
import { isObject } from '../../../dns/octets'
import { rdapStatuses } from '../../registry/statuses'
import { maxDomains } from '../read-account'
import type {
  AdapterContext,
  DsRecord,
  GlueHost,
  Held,
  HeldPage,
  Offer,
  Registrar,
  RegistrarCaps,
  RegistrarCheck,
  RegistrarKind,
} from '../registrar'
import { addressesOf, dsRecordOf } from './delegation'
import { heldStatus } from './held-status'
import { JsonApiClient, unlessNotFound } from './json-api'
import { dateOf, flagOf, moneyOf, nameOf, registrarErrorOf } from './responses'

const publicApi = 'https://api.gandi.net/v5'
const defaultCurrency = 'EUR'

const form = settingsForm({
  api_token: apiToken('Personal access token with the permissions to see and renew, and to manage domains.'),
  sharing_id: Type.Optional(
    Line({
      maxLength: 36,
      pattern: '^[0-9a-f-]{36}$',
      'x-rule': 'must be the ID of an organization, such as 26af6c16-79a7-11ef-b5a1-00163e816020.',
      description: 'ID of the organization whose domains are read, and that pays. Default: all that the token can access.',
    }),
  ),
  currency: Type.Optional(
    Line({
      minLength: 3,
      maxLength: 3,
      default: defaultCurrency,
      description: 'Currency of your prepaid account at Gandi, such as `EUR`, `USD`, `GBP`, or `TWD`.',
    }),
  ),
  ...grouped('Connection', { base_url: baseUrl(publicApi) }),
})
type GandiSettings = SettingsOf<typeof form>

const caps: RegistrarCaps = {
  capabilities: [
    'register',
    'renew',
    'restore',
    'transfer_in',
    'auth_code',
    'nameservers',
    'glue',
    'dnssec',
    'contacts',
    'lock',
    'privacy',
    'auto_renew',
  ],
  // As in the settings.
  currency: null,
  checkBatch: 1,
  // 1,000 requests a minute for all that come from an address (api.gandi.net, Rate limiting).
  pace: { perSecond: 4, burst: 100 },
  replays: 'none',
  priceGuard: 'none',
  tellsCharge: false,
  catching: 'allowed',
}

/** An account or organization at Gandi, by its API, version 5 (api.gandi.net/docs/domains). */
export const gandi: RegistrarKind<GandiSettings> = {
  kind: 'gandi',
  title: 'Gandi',
  ianaIds: [81],
  ...form,
  caps,
  validate(settings) {
    validateBaseUrl(settings)
    if (settings.currency !== undefined && !isCurrency(settings.currency))
      throw invalid([{ pointer: '#/settings/currency', code: 'format', detail: 'must be a currency code such as EUR.' }])
  },
  open: (settings, around) => new Gandi(settings, around),
}

const perPage = 100

class Gandi implements Registrar {
  readonly caps = caps
  readonly #client: JsonApiClient
  readonly #currency: string
  readonly #owner: Record<string, string>

  constructor(
    settings: GandiSettings,
    private readonly around: AdapterContext,
  ) {
    const { api_token, sharing_id, base_url } = settings
    this.#currency = settings.currency ?? defaultCurrency
    this.#owner = sharing_id === undefined ? {} : { sharing_id }
    this.#client = new JsonApiClient(
      {
        title: 'Gandi',
        baseUrl: apiUrl({ base_url }, publicApi),
        headers: { authorization: `Bearer ${api_token}` },
        secrets: [api_token],
        errorOf: ({ message, cause, errors }) => ({
          text: [cause, message, ...descriptionsOf(errors)].filter(one => typeof one === 'string').join(': '),
        }),
      },
      around,
    )
  }

  async check(): Promise<RegistrarCheck> {
    const { totalCount } = await this.#page(1, 1)
    const detail = `${totalCount} domain${totalCount === 1 ? '' : 's'}`
    return { detail, warnings: [], currency: this.#currency, balance: null }
  }

  /** All domains at once, because pages move while they are read. */
  async list(): Promise<HeldPage> {
    try {
      const rows = await readNumberedPages(this.around.clock, page => this.#page(page, perPage), { max: maxDomains })
      return { domains: rows.map(row => row.held), next: null }
    } catch (error) {
      throw registrarErrorOf(error)
    }
  }

  async read(name: string): Promise<Held | null> {
    const path = `/domain/domains/${encodeURIComponent(name)}`
    const found = await unlessNotFound(this.#client.get(path))
    if (!found) return null
    const held = this.#heldOf(this.#client.objectOf(found.json, 'domain'))
    if (held.name !== name) throw this.#client.invalid('is about another domain')
    return { ...held, ds: await this.#ds(path), glue: await this.#glue(path, name) }
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    const offers: Offer[] = []
    for (const name of names) offers.push(await this.#offer(name))
    return offers
  }

  async #page(page: number, size: number): Promise<NumberedPage<{ id: string; held: Held }>> {
    const query = new URLSearchParams({ ...this.#owner, page: String(page), per_page: String(size), sort_by: 'fqdn' })
    const response = await this.#client.get(`/domain/domains?${query}`)
    const total = response.headers.get('total-count') ?? ''
    if (!/^\d{1,9}$/.test(total)) throw this.#client.invalid('has no number of domains')
    const rows = this.#client.listOf(response.json, 'domains').map(row => this.#heldOf(row))
    return {
      rows: rows.map(held => ({ id: held.name, held })),
      page,
      perPage: size,
      totalCount: Number(total),
      totalPages: null,
    }
  }

  #heldOf(row: Record<string, unknown>): Held {
    const name = nameOf(row.fqdn)
    if (name === null) throw this.#client.invalid('has a domain without a valid name')
    const dates = isObject(row.dates) ? row.dates : {}
    const statuses = Array.isArray(row.status) ? row.status.filter(one => typeof one === 'string') : null
    const eppStatuses = statuses && rdapStatuses(statuses)
    const expiresAt = dateOf(dates.registry_ends_at)
    const nameservers = nameserversOf(row)
    return {
      name,
      status: heldStatus(eppStatuses ?? [], expiresAt, this.around.clock.now()),
      eppStatuses,
      registeredAt: dateOf(dates.registry_created_at),
      expiresAt,
      // A boolean in lists, and an object in a single domain.
      autoRenew: flagOf(isObject(row.autorenew) ? row.autorenew.enabled : row.autorenew),
      locked: statuses?.some(one => /transferProhibited$/i.test(one)) ?? null,
      privacy: null,
      nameservers: nameservers?.every(one => one !== null) ? nameservers : null,
      ds: null,
      glue: null,
      renewalPrice: null,
      capabilities: row.can_tld_lock === false ? caps.capabilities.filter(one => one !== 'lock') : null,
    }
  }

  /** Keys, from which Gandi creates the DS records. */
  async #ds(path: string): Promise<DsRecord[]> {
    const rows = this.#client.listOf((await this.#client.get(`${path}/dnskeys`)).json, 'DNSSEC keys')
    return rows.map(({ keytag, algorithm, digest_type, digest }) => {
      const record = dsRecordOf({ keyTag: keytag, algorithm, digestType: digest_type, digest })
      if (!record) throw this.#client.invalid('has an invalid DNSSEC key')
      return record
    })
  }

  async #glue(path: string, domain: string): Promise<GlueHost[]> {
    const rows = this.#client.listOf((await this.#client.get(`${path}/hosts`)).json, 'host records')
    return rows.map(row => {
      const [name, addresses] = [nameOf(`${String(row.name)}.${domain}`), addressesOf(row.ips)]
      if (name === null || !addresses) throw this.#client.invalid('has an invalid host record')
      return { name, addresses }
    })
  }

  async #offer(name: string): Promise<Offer> {
    const query = new URLSearchParams({ ...this.#owner, name, currency: this.#currency })
    for (const process of ['create', 'renew', 'restore', 'transfer']) query.append('processes', process)
    const body = this.#client.objectOf((await this.#client.get(`/domain/check?${query}`)).json, 'offer')
    const currency = typeof body.currency === 'string' && isCurrency(body.currency) ? body.currency : null
    const products = body.products === undefined ? [] : this.#client.listOf(body.products, 'products')
    const product = (process: string) => products.find(one => one.process === process && nameOf(one.name ?? name) === name)
    const created = product('create')
    if (!created) throw this.#client.invalid(`does not report whether ${name} is available`)
    const status = String(created.status)
    const of = (one: Record<string, unknown> | undefined) => (currency === null ? null : priceOf(one, currency))
    const price = of(created)
    return {
      name,
      available: availability[status] ?? null,
      reason: status === 'available' ? null : (reasons[status] ?? 'The registry does not report whether the name is available.'),
      price: price?.total ?? null,
      renewalPrice: of(product('renew'))?.perYear ?? null,
      restorePrice: of(product('restore'))?.total ?? null,
      transferPrice: of(product('transfer'))?.total ?? null,
      premium: price?.isPremium ?? false,
      minYears: price?.minYears ?? 1,
    }
  }
}

/** In lists, only those of the registry are reported. */
function nameserversOf({ nameservers, nameserver }: Record<string, unknown>): (string | null)[] | null {
  if (Array.isArray(nameservers)) return nameservers.map(nameOf)
  const hosts = isObject(nameserver) ? nameserver.hosts : null
  return Array.isArray(hosts) ? hosts.map(nameOf) : null
}

/** Prices are in steps: of some years each, per year, with and without tax. The price of the shortest registration counts. */
function priceOf(
  product: Record<string, unknown> | undefined,
  currency: string,
): { perYear: Money | null; total: Money | null; isPremium: boolean; minYears: number } | null {
  const steps = (Array.isArray(product?.prices) ? product.prices : []).filter(isObject)
  const durations = steps.map(one => Number(one.min_duration ?? 1))
  const shortest = Math.min(...durations)
  const step = steps[durations.indexOf(shortest)]
  if (!step || !Number.isInteger(shortest) || shortest < 1 || shortest > 10) return null
  const isInYears = step.duration_unit === undefined || step.duration_unit === 'y'
  const perYear = isInYears ? moneyOf(step.price_after_taxes, currency) : null
  return {
    perYear,
    total: perYear && { minor: perYear.minor * shortest, currency },
    isPremium: step.type === 'premium',
    minYears: shortest,
  }
}

/** Whether a name can be registered, by status; null for all others, such as errors of the registry. */
const availability: Readonly<Record<string, boolean>> = { __proto__: null!, available: true, unavailable: false }

const reasons: Readonly<Record<string, string>> = {
  __proto__: null!,
  unavailable: 'The name is not available.',
  pending: 'The registry has not answered yet.',
  error_invalid: 'The name is not valid below this top-level domain.',
  error_refused: 'The registry does not allow this name.',
  error_timeout: 'The registry did not respond in time.',
  error_unknown: 'The registry responded with an error.',
  error_eoi: 'Gandi does not offer this top-level domain.',
}

const descriptionsOf = (errors: unknown): unknown[] =>
  Array.isArray(errors) ? errors.filter(isObject).map(one => one.description) : []
