import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { amountOf } from '../../../core/money'
import { grouped, Line } from '../../../core/shapes'
import { rdapStatuses } from '../../registry/statuses'
import {
  RegistrarError,
  type AdapterContext,
  type DsRecord,
  type GlueHost,
  type Held,
  type HeldPage,
  type Offer,
  type Registrar,
  type RegistrarCaps,
  type RegistrarCheck,
  type RegistrarKind,
} from '../registrar'
import { maxDomains } from '../read-account'
import { addressesOf, dsRecordOf } from './delegation'
import { heldStatus } from './held-status'
import { JsonApiClient, unlessNotFound } from './json-api'
import { dateOf, flagOf, moneyOf, nameOf, registrarErrorOf, sentenceOf } from './responses'

const publicApi = 'https://api.name.com'
const currency = 'USD'

const form = settingsForm({
  username: Line({ minLength: 1, maxLength: 100, description: 'Username of the account.' }),
  api_token: apiToken('API token, which you create under Settings, API.'),
  ...grouped('Connection', { base_url: baseUrl(publicApi) }),
})
type NamecomSettings = SettingsOf<typeof form>

const caps: RegistrarCaps = {
  capabilities: [
    'register',
    'renew',
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
  currency,
  checkBatch: 50,
  // 20 a second, and 3,000 an hour (docs.name.com, Rate Limiting).
  pace: { perSecond: 0.8, burst: 80 },
  replays: 'register',
  priceGuard: 'exact',
  tellsCharge: true,
  catching: 'forbidden',
}

/** An account at Name.com, by its Core API (docs.name.com). */
export const namecom: RegistrarKind<NamecomSettings> = {
  kind: 'namecom',
  title: 'Name.com',
  ianaIds: [625],
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new Namecom(settings, around),
}

// Each domain comes with four contacts, so that 1,000 domains take too long to parse at once.
const perPage = 500

class Namecom implements Registrar {
  readonly caps = caps
  readonly #client: JsonApiClient

  constructor(
    private readonly settings: NamecomSettings,
    private readonly around: AdapterContext,
  ) {
    const { username, api_token, base_url } = settings
    const credentials = Buffer.from(`${username}:${api_token}`).toString('base64')
    this.#client = new JsonApiClient(
      {
        title: 'Name.com',
        baseUrl: `${apiUrl({ base_url }, publicApi)}/core/v1`,
        headers: { authorization: `Basic ${credentials}` },
        secrets: [api_token, credentials],
        errorOf: ({ message, details }, status) => ({
          text: [message, details].filter(one => typeof one === 'string').join(': '),
          code: String(status),
        }),
        retryMs: ({ headers }) => {
          const reset = Number(headers.get('x-ratelimit-reset') ?? NaN) * 1000 - around.clock.now()
          return reset > 0 && reset <= maxResetMs ? reset : null
        },
      },
      around,
    )
  }

  async check(): Promise<RegistrarCheck> {
    const body = this.#client.objectOf((await this.#client.get('/accountinfo/balance')).json, 'balance')
    const balance = moneyOf(body.balance, currency)
    if (!balance) throw this.#client.invalid('has no balance')
    return { detail: `${this.settings.username}, credit ${amountOf(balance)} ${currency}`, warnings: [], currency, balance }
  }

  /** All domains at once, because pages move while they are read. */
  async list(): Promise<HeldPage> {
    try {
      const rows = await readNumberedPages(this.around.clock, page => this.#page(page), { max: maxDomains })
      return { domains: rows.map(row => row.held), next: null }
    } catch (error) {
      throw registrarErrorOf(error)
    }
  }

  async read(name: string): Promise<Held | null> {
    const path = `/domains/${encodeURIComponent(name)}`
    const found = await unlessNotFound(this.#client.get(path))
    if (!found) return null
    const held = this.#heldOf(this.#client.objectOf(found.json, 'domain'))
    if (held.name !== name) throw this.#client.invalid('is about another domain')
    return { ...held, ds: await this.#ds(path), glue: await this.#glue(path) }
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    const results = await this.#checked(names)
    const byName = new Map(results.map(one => [nameOf(one.domainName), one]))
    return names.map(name => this.#offerOf(name, byName.get(name)))
  }

  async #page(page: number): Promise<NumberedPage<{ id: string; held: Held }>> {
    const query = new URLSearchParams({ page: String(page), perPage: String(perPage), sort: 'domainName', dir: 'asc' })
    const { domains, totalCount, nextPage } = this.#client.objectOf(
      (await this.#client.get(`/domains?${query}`)).json,
      'list of domains',
    )
    if (!Number.isSafeInteger(totalCount) || (totalCount as number) < 0) throw this.#client.invalid('has no number of domains')
    const rows = this.#client.listOf(domains, 'domains').map(row => this.#heldOf(row))
    // Only pages that another one follows have it.
    const hasNext = nextPage !== undefined && nextPage !== null && nextPage !== 0
    if (hasNext !== page * perPage < (totalCount as number))
      throw new RegistrarError('incomplete', `The list of Name.com is incomplete: page ${page} does not match its total.`)
    return {
      rows: rows.map(held => ({ id: held.name, held })),
      page,
      perPage,
      totalCount: totalCount as number,
      totalPages: null,
    }
  }

  async #checked(names: readonly string[]): Promise<Record<string, unknown>[]> {
    try {
      const { json } = await this.#client.post('/domains:checkAvailability', { domainNames: names })
      return this.#client.listOf(this.#client.objectOf(json, 'results').results ?? [], 'results')
    } catch (error) {
      // None of the names has a top-level domain that is sold.
      if (error instanceof RegistrarError && error.vendorCode === '422') return []
      throw error
    }
  }

  /** @param result absent for top-level domains that are not sold */
  #offerOf(name: string, result: Record<string, unknown> | undefined): Offer {
    const none = { name, renewalPrice: null, restorePrice: null, transferPrice: null, minYears: 1 }
    if (!result)
      return { ...none, available: false, reason: 'Name.com does not offer this top-level domain.', price: null, premium: false }
    const { purchasable, purchaseType, purchasePrice, renewalPrice, premium, reason } = result
    const available = flagOf(purchasable)
    if (available === null) throw this.#client.invalid(`does not report whether ${name} is available`)
    const isRegistration = purchaseType === undefined || purchaseType === null || purchaseType === 'registration'
    const whyNot = typeof reason === 'string' && reason !== '' ? sentenceOf(reason) : 'The name is not available.'
    const whyNotSold = isRegistration ? null : 'The name is sold by its owner or in an auction, not registered.'
    return {
      ...none,
      available: available && isRegistration,
      reason: available ? whyNotSold : whyNot,
      price: moneyOf(purchasePrice, currency),
      renewalPrice: moneyOf(renewalPrice, currency),
      premium: flagOf(premium) ?? false,
    }
  }

  #heldOf(row: Record<string, unknown>): Held {
    const name = nameOf(row.domainName)
    if (name === null) throw this.#client.invalid('has a domain without a valid name')
    const nameservers = Array.isArray(row.nameservers) ? row.nameservers.map(nameOf) : null
    const locks = Array.isArray(row.locks) ? row.locks.filter(one => typeof one === 'string') : null
    const eppStatuses = locks && rdapStatuses(locks)
    const expiresAt = dateOf(row.expireDate)
    return {
      name,
      status: heldStatus(eppStatuses ?? [], expiresAt, this.around.clock.now()),
      eppStatuses,
      registeredAt: dateOf(row.createDate),
      expiresAt,
      autoRenew: flagOf(row.autorenewEnabled),
      locked: flagOf(row.locked),
      privacy: flagOf(row.privacyEnabled),
      nameservers: nameservers?.every(one => one !== null) ? nameservers : null,
      ds: null,
      glue: null,
      renewalPrice: moneyOf(row.renewalPrice, currency),
      capabilities: null,
    }
  }

  async #ds(path: string): Promise<DsRecord[]> {
    const { dnssec } = this.#client.objectOf((await this.#client.get(`${path}/dnssec`)).json, 'DS records')
    return this.#client.listOf(dnssec ?? [], 'DS records').map(one => {
      const record = dsRecordOf(one as Record<keyof DsRecord, unknown>)
      if (!record) throw this.#client.invalid('has an invalid DS record')
      return record
    })
  }

  async #glue(path: string): Promise<GlueHost[]> {
    const { json } = await this.#client.get(`${path}/vanity_nameservers?perPage=${perPage}`)
    const { vanityNameservers, nextPage } = this.#client.objectOf(json, 'host records')
    if (nextPage !== undefined && nextPage !== null)
      throw new RegistrarError('refused', `The domain has more than ${perPage} host records.`)
    return this.#client.listOf(vanityNameservers ?? [], 'host records').map(({ hostname, ips }) => {
      const [name, addresses] = [nameOf(hostname), addressesOf(ips)]
      if (name === null || !addresses) throw this.#client.invalid('has an invalid host record')
      return { name, addresses }
    })
  }
}

const maxResetMs = 3_600_000
