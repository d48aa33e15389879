import { isIP } from 'node:net'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { readNumberedPages, type NumberedPage } from '../../../adapters/numbered-pages'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { childOf, childrenOf, childText, type XmlElement } from '../../../adapters/xml'
import { amountOf, type Money } from '../../../core/money'
import { invalid } from '../../../core/problem'
import { grouped, Line } from '../../../core/shapes'
import { maxDomains } from '../read-account'
import type { AdapterContext, Held, HeldPage, Offer, Registrar, RegistrarCaps, RegistrarCheck, RegistrarKind } from '../registrar'
import { unlessNotFound } from './json-api'
import { invalidResponse, NamecheapClient, resultOf } from './namecheap-client'
import { dateOf, flagOf, moneyOf, nameOf, registrarErrorOf, sentenceOf } from './responses'

const publicApi = 'https://api.namecheap.com/xml.response'
/** All prices are in it. */
const currency = 'USD'

const form = settingsForm({
  username: Line({ minLength: 1, maxLength: 100, description: 'Username of the account.' }),
  api_key: apiToken('API key, from Profile, Tools, Namecheap API Access.'),
  client_ip: Line({
    minLength: 2,
    maxLength: 45,
    description: 'Public IPv4 address of Bailiwick, which you also allow under Namecheap API Access.',
    examples: ['192.0.2.1'],
  }),
  ...grouped('Connection', { base_url: baseUrl(publicApi) }),
})
type NamecheapSettings = SettingsOf<typeof form>

const caps: RegistrarCaps = {
  capabilities: ['register', 'renew', 'restore', 'transfer_in', 'nameservers', 'glue', 'contacts', 'lock', 'privacy'],
  currency,
  checkBatch: 50,
  // 50 requests a minute, 700 an hour, and 8,000 a day (namecheap.com/support/api, FAQ).
  pace: { perSecond: 0.09, burst: 45 },
  replays: 'none',
  priceGuard: 'none',
  tellsCharge: true,
  catching: 'allowed',
}

/** An account at Namecheap. */
export const namecheap: RegistrarKind<NamecheapSettings> = {
  kind: 'namecheap',
  title: 'Namecheap',
  ianaIds: [1068],
  ...form,
  caps,
  validate(settings) {
    validateBaseUrl(settings)
    if (isIP(settings.client_ip) !== 4)
      throw invalid([{ pointer: '#/settings/client_ip', code: 'format', detail: 'must be an IPv4 address.' }])
  },
  open: (settings, around) => new Namecheap(settings, around),
}

// Maximum of the API.
const perPage = 100

class Namecheap implements Registrar {
  readonly caps = caps
  readonly #client: NamecheapClient

  constructor(
    private readonly settings: NamecheapSettings,
    private readonly around: AdapterContext,
  ) {
    const { username, api_key, client_ip, base_url } = settings
    const url = apiUrl({ base_url }, publicApi)
    this.#client = new NamecheapClient({ url, api_user: username, api_key, username, client_ip }, around)
  }

  async check(): Promise<RegistrarCheck> {
    const { attributes } = resultOf(await this.#client.run('users.getBalances'), 'UserGetBalancesResult')
    const balance = attributes.get('Currency') === currency ? moneyOf(attributes.get('AvailableBalance'), currency) : null
    if (!balance) throw invalidResponse(`has no balance in ${currency}`)
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

  /** The list has what a single domain lacks, and the other way around. */
  async read(name: string): Promise<Held | null> {
    const response = await unlessNotFound(this.#client.run('domains.getInfo', { DomainName: name }))
    if (!response) return null
    const info = resultOf(response, 'DomainGetInfoResult')
    if (nameOf(info.attributes.get('DomainName')) !== name) throw invalidResponse('is about another domain')
    const isOwn = flagOf(info.attributes.get('IsOwner'))
    if (isOwn === null) throw invalidResponse('does not report whether the domain is in this account')
    if (!isOwn) return null
    const { rows } = await this.#page(1, name)
    const listed = rows.find(row => row.id === name)?.held
    const servers = childrenOf(childOf(info, 'DnsDetails'), 'Nameserver').map(one => nameOf(one.text))
    const dates = childOf(info, 'DomainDetails')
    const expiresAt = dayOf(childText(dates, 'ExpiredDate'))
    return {
      ...(listed ?? { ...unknownSettings, name }),
      status: info.attributes.get('Status') === 'Expired' ? 'expired' : (listed?.status ?? 'active'),
      registeredAt: dayOf(childText(dates, 'CreatedDate')),
      expiresAt,
      nameservers: servers.every(one => one !== null) ? servers : null,
    }
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    const response = await this.#client.run('domains.check', { DomainList: names.join(',') })
    const results = childrenOf(response, 'DomainCheckResult')
    const byName = new Map(results.map(one => [nameOf(one.attributes.get('Domain')), one]))
    const offers: Offer[] = []
    for (const name of names) {
      const result = byName.get(name)
      if (!result) throw invalidResponse(`lacks ${name}`)
      offers.push(await this.#offerOf(name, result.attributes))
    }
    return offers
  }

  async #page(page: number, search?: string): Promise<NumberedPage<{ id: string; held: Held }>> {
    const parameters = { ListType: 'ALL', Page: String(page), PageSize: String(perPage), SortBy: 'NAME' }
    const response = await this.#client.run('domains.getList', {
      ...parameters,
      ...(search !== undefined && { SearchTerm: search }),
    })
    const total = childText(childOf(response, 'Paging'), 'TotalItems') ?? ''
    if (!/^\d{1,9}$/.test(total)) throw invalidResponse('has no number of domains')
    const rows = childrenOf(resultOf(response, 'DomainGetListResult'), 'Domain').map(heldOf)
    return {
      rows: rows.map(held => ({ id: held.name, held })),
      page,
      perPage,
      totalCount: Number(total),
      totalPages: null,
    }
  }

  async #offerOf(name: string, found: ReadonlyMap<string, string>): Promise<Offer> {
    const available = flagOf(found.get('Available'))
    if (available === null) throw invalidResponse(`does not report whether ${name} is available`)
    const hasError = (found.get('ErrorNo') ?? '0') !== '0'
    const isPremium = flagOf(found.get('IsPremiumName')) ?? false
    // In the first days of a top-level domain, registries charge a fee in addition to all prices.
    const earlyFee = moneyOf(found.get('EapFee') ?? '0', currency)
    const whyNotSold = isPremium ? premiumReason : earlyFee?.minor === 0 ? null : earlyReason
    const prices = !available ? null : isPremium ? premiumPricesOf(found) : await this.#pricesBelow(name)
    const whyNot = found.get('Description') || 'The name is not available.'
    return {
      name,
      available: hasError ? null : available && whyNotSold === null,
      reason: available ? whyNotSold : sentenceOf(whyNot),
      ...(prices ?? { price: null, renewalPrice: null, restorePrice: null, transferPrice: null }),
      premium: isPremium,
      minYears: 1,
    }
  }

  /** Prices below a top-level domain, which Namecheap asks to keep. */
  async #pricesBelow(name: string): Promise<Prices> {
    const tld = name.slice(name.indexOf('.') + 1)
    const key = JSON.stringify([apiUrl(this.settings, publicApi), this.settings.username, tld])
    const now = this.around.clock.now()
    const kept = keptPrices.get(key)
    if (kept && now >= kept.at && now - kept.at < pricesMs) return kept.prices
    const response = await this.#client.run('users.getPricing', { ProductType: 'DOMAIN', ProductName: tld.toUpperCase() })
    const type = childrenOf(resultOf(response, 'UserGetPricingResult'), 'ProductType').find(
      one => one.attributes.get('Name')?.toUpperCase() === 'DOMAIN',
    )
    const prices = {
      price: priceIn(type, 'REGISTER', tld),
      renewalPrice: priceIn(type, 'RENEW', tld),
      restorePrice: priceIn(type, 'REACTIVATE', tld),
      transferPrice: priceIn(type, 'TRANSFER', tld),
    }
    if (keptPrices.size >= maxKept) keptPrices.clear()
    keptPrices.set(key, { at: now, prices })
    return prices
  }
}

const premiumReason = 'Premium names can’t be bought through the API of Namecheap.'
const earlyReason = 'The registry charges an additional fee in the first days of this top-level domain.'

type Prices = Pick<Offer, 'price' | 'renewalPrice' | 'restorePrice' | 'transferPrice'>

/** Prices by account and top-level domain. */
const keptPrices = new Map<string, { at: number; prices: Prices }>()
const pricesMs = 3_600_000
const maxKept = 1000

/** Price for one year. Promotions that don’t apply to the account have the price 0. */
function priceIn(type: XmlElement | undefined, action: string, tld: string): Money | null {
  const named = (elements: XmlElement[], name: string) =>
    elements.find(one => one.attributes.get('Name')?.toLowerCase() === name.toLowerCase())
  const product = named(childrenOf(named(childrenOf(type, 'ProductCategory'), action), 'Product'), tld)
  const year = childrenOf(product, 'Price').find(
    one => one.attributes.get('Duration') === '1' && one.attributes.get('DurationType') === 'YEAR',
  )?.attributes
  if (year?.get('Currency') !== currency) return null
  const own = moneyOf(year.get('YourPrice'), currency)
  const price = own && own.minor > 0 ? own : moneyOf(year.get('Price'), currency)
  const fee = moneyOf(year.get('YourAdditonalCost') ?? year.get('AdditionalCost') ?? '0', currency)
  return price && price.minor > 0 && fee ? { minor: price.minor + fee.minor, currency } : null
}

/** Prices of a premium name, which the check returns. */
function premiumPricesOf(found: ReadonlyMap<string, string>): Prices {
  const price = (name: string) => moneyOf(found.get(name), currency)
  return {
    price: price('PremiumRegistrationPrice'),
    renewalPrice: price('PremiumRenewalPrice'),
    restorePrice: price('PremiumRestorePrice'),
    transferPrice: price('PremiumTransferPrice'),
  }
}

/** What the API doesn’t report. */
const unknownSettings: Omit<Held, 'name' | 'status' | 'registeredAt' | 'expiresAt' | 'nameservers'> = {
  eppStatuses: null,
  autoRenew: null,
  locked: null,
  privacy: null,
  ds: null,
  glue: null,
  renewalPrice: null,
  capabilities: null,
}

/** A domain of the list. @throws RegistrarError `invalid_response` */
function heldOf({ attributes }: XmlElement): Held {
  const name = nameOf(attributes.get('Name'))
  if (name === null) throw invalidResponse('has a domain without a valid name')
  const guard = attributes.get('WhoisGuard')
  const isExpired = flagOf(attributes.get('IsExpired'))
  return {
    ...unknownSettings,
    name,
    status: isExpired === null ? 'unknown' : isExpired ? 'expired' : 'active',
    registeredAt: dayOf(attributes.get('Created') ?? null),
    expiresAt: dayOf(attributes.get('Expires') ?? null),
    autoRenew: flagOf(attributes.get('AutoRenew')),
    locked: flagOf(attributes.get('IsLocked')),
    privacy: guard === undefined ? null : guard === 'ENABLED',
    nameservers: null,
  }
}

/** A date such as 12/31/2027, in the order of the United States (ms UTC). */
function dayOf(text: string | null): number | null {
  const [, month, day, year] = /^(\d{1,2})\/(\d{1,2})\/(\d{4})\b/.exec(text?.trim() ?? '') ?? []
  return year === undefined ? null : dateOf(`${year}-${month}-${day}`)
}
