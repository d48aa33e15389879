import { Type } from '@sinclair/typebox'
import { apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { amountOf, type Money } from '../../../core/money'
import { grouped } from '../../../core/shapes'
import { isObject } from '../../../dns/octets'
import {
  RegistrarError,
  type AdapterContext,
  type Held,
  type HeldPage,
  type Offer,
  type Registrar,
  type RegistrarCaps,
  type RegistrarCheck,
  type RegistrarKind,
} from '../registrar'
import { invalidResponse, PorkbunClient } from './porkbun-client'
import { dateOf, flagOf, moneyOf, nameOf } from './responses'

const porkbunApi = 'https://api.porkbun.com/api/json/v3'
const currency = 'USD'

const key = { minLength: 10, maxLength: 200, pattern: '^[\\x21-\\x7e]+$', 'x-rule': 'must be printable ASCII without spaces.' }

const form = settingsForm({
  api_key: Type.String({ ...key, description: 'API key of the account, which starts with `pk1_`.' }),
  secret_api_key: Type.String({
    ...key,
    ...secret,
    writeOnly: true,
    description: 'Secret API key, which starts with `sk1_`. Stored encrypted.',
  }),
  ...grouped('Connection', {
    base_url: baseUrl(porkbunApi),
  }),
})
type PorkbunSettings = SettingsOf<typeof form>

const caps: RegistrarCaps = {
  capabilities: ['register', 'renew', 'transfer_in', 'nameservers', 'glue', 'dnssec', 'auto_renew'],
  currency,
  checkBatch: 1,
  pace: { perSecond: 1, burst: 10 },
  checkPace: { perSecond: 0.1, burst: 1 },
  replays: 'all',
  priceGuard: 'exact',
  tellsCharge: true,
  catching: 'allowed',
}

/** An account at Porkbun. */
export const porkbun: RegistrarKind<PorkbunSettings> = {
  kind: 'porkbun',
  title: 'Porkbun',
  ianaIds: [1861],
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new Porkbun(settings, around),
}

/** Domains per page; the API always advances by it. */
const pageSize = 1000

class Porkbun implements Registrar {
  readonly caps = caps
  readonly #client: PorkbunClient

  constructor({ base_url, api_key, secret_api_key }: PorkbunSettings, around: AdapterContext) {
    this.#client = new PorkbunClient({ base_url: apiUrl({ base_url }, porkbunApi), api_key, secret_api_key }, around)
  }

  async check(): Promise<RegistrarCheck> {
    const cents = String((await this.#client.get('/account/balance')).balance)
    if (!/^\d{1,12}$/.test(cents)) throw invalidResponse('has no balance')
    const balance: Money = { minor: Number(cents), currency }
    return { detail: `Credit ${amountOf(balance)} ${currency}`, warnings: [], currency, balance }
  }

  /** Pages end with the first empty one. */
  async list(cursor: string | null): Promise<HeldPage> {
    const start = cursor === null ? 0 : Number(cursor)
    const { domains } = await this.#client.get(`/domain/listAll?start=${start}`)
    if (!Array.isArray(domains) || !domains.every(isObject)) throw invalidResponse('has no list of domains')
    if (domains.length > pageSize) throw invalidResponse(`has a page of ${domains.length} domains`)
    return { domains: domains.flatMap(heldOf), next: domains.length === 0 ? null : String(start + pageSize) }
  }

  async read(name: string): Promise<Held | null> {
    const held = await this.#domain(name)
    return held && { ...held, nameservers: await this.#nameservers(name) }
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    const offers: Offer[] = []
    for (const name of names) offers.push(await this.#offer(name))
    return offers
  }

  async #domain(name: string): Promise<Held | null> {
    try {
      const { domain, domains } = await this.#client.get(`/domain/get/${encodeURIComponent(name)}`)
      const row = Array.isArray(domains) && domains.length === 1 ? domains[0] : domain
      if (!isObject(row)) throw invalidResponse('has no domain')
      if (nameOf(row.domain) !== name) throw invalidResponse('is about another domain')
      return heldOf(row)[0] ?? null
    } catch (error) {
      if (error instanceof RegistrarError && error.failure === 'not_found') return null
      throw error
    }
  }

  async #nameservers(name: string): Promise<string[]> {
    const { ns } = await this.#client.get(`/domain/getNs/${encodeURIComponent(name)}`)
    const names = Array.isArray(ns) ? ns.map(nameOf) : [null]
    if (names.includes(null)) throw invalidResponse('has no list of nameservers')
    return names as string[]
  }

  async #offer(name: string): Promise<Offer> {
    const { response } = await this.#client.post(`/domain/checkDomain/${encodeURIComponent(name)}`, {})
    if (!isObject(response)) throw invalidResponse('has no offer')
    const { avail, price, premium, minDuration, additional } = response
    const available = flagOf(avail)
    const minYears = Number(minDuration ?? 1)
    if (available === null || !Number.isInteger(minYears) || minYears < 1 || minYears > 10)
      throw invalidResponse('has an incomplete offer')
    const isPremium = flagOf(premium) ?? false
    const perYear = moneyOf(price, currency)
    const priceOf = (kind: string) => {
      const one = isObject(additional) ? additional[kind] : null
      return isObject(one) ? moneyOf(one.price, currency) : null
    }
    return {
      name,
      available: available && !isPremium,
      reason: !available
        ? 'The name is not available.'
        : isPremium
          ? 'Premium names can’t be bought through the API of Porkbun.'
          : null,
      price: perYear && { minor: perYear.minor * minYears, currency },
      renewalPrice: priceOf('renewal'),
      restorePrice: null,
      transferPrice: priceOf('transfer'),
      premium: isPremium,
      minYears,
    }
  }
}

/** A row of the API; none for a domain that only has its DNS at Porkbun. @throws RegistrarError */
function heldOf(row: Record<string, unknown>): Held[] {
  if (flagOf(row.notLocal)) return []
  const name = nameOf(row.domain)
  if (name === null) throw invalidResponse('has a domain without a valid name')
  return [
    {
      name,
      status: row.status === 'ACTIVE' ? 'active' : 'unknown',
      eppStatuses: null,
      registeredAt: dateOf(row.createDate),
      expiresAt: dateOf(row.expireDate),
      autoRenew: flagOf(row.autoRenew),
      locked: flagOf(row.securityLock),
      privacy: flagOf(row.whoisPrivacy),
      nameservers: null,
      ds: null,
      glue: null,
      renewalPrice: null,
      capabilities: flagOf(row.apiAccess) === false ? [] : null,
    },
  ]
}
