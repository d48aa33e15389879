import { Type } from '@sinclair/typebox'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { isCurrency } from '../../../core/money'
import { grouped } from '../../../core/shapes'
import { isObject } from '../../../dns/octets'
import { cloudflareBlockedMs, cloudflareCodes } from '../../../vendors/cloudflare'
import type {
  AdapterContext,
  Held,
  HeldPage,
  HeldStatus,
  Offer,
  Registrar,
  RegistrarCaps,
  RegistrarCheck,
  RegistrarFailure,
  RegistrarKind,
} from '../registrar'
import { JsonApiClient, unlessNotFound } from './json-api'
import { dateOf, flagOf, moneyOf, nameOf } from './responses'

const publicApi = 'https://api.cloudflare.com/client/v4'

const form = settingsForm({
  account_id: Type.String({
    pattern: '^[0-9a-f]{32}$',
    'x-rule': 'must be 32 hexadecimal digits.',
    description: 'ID of the account, as in the address of the Cloudflare dashboard.',
  }),
  api_token: apiToken('API token with the permission Account, Registrar, Edit.'),
  ...grouped('Connection', { base_url: baseUrl(publicApi) }),
})
type CloudflareSettings = SettingsOf<typeof form>

const caps: RegistrarCaps = {
  capabilities: ['register', 'transfer_in', 'lock', 'privacy', 'auto_renew'],
  // The API returns it with each price, and has only ever used this one.
  currency: 'USD',
  checkBatch: 20,
  // 1,200 requests in 5 minutes for all that a user does (Cloudflare, Rate limits).
  pace: { perSecond: 2, burst: 100 },
  replays: 'none',
  priceGuard: 'none',
  tellsCharge: false,
  catching: 'allowed',
}

/** Domains of an account at Cloudflare Registrar, by its API (developers.cloudflare.com/api, Registrar). */
export const cloudflareRegistrar: RegistrarKind<CloudflareSettings> = {
  kind: 'cloudflare',
  title: 'Cloudflare Registrar',
  ianaIds: [1910],
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new CloudflareRegistrar(settings, around),
}

const pageSize = 50

class CloudflareRegistrar implements Registrar {
  readonly caps = caps
  readonly #client: JsonApiClient

  constructor(
    private readonly settings: CloudflareSettings,
    around: AdapterContext,
  ) {
    const { account_id, api_token, base_url } = settings
    this.#client = new JsonApiClient(
      {
        title: 'Cloudflare',
        baseUrl: `${apiUrl({ base_url }, publicApi)}/accounts/${account_id}/registrar`,
        headers: { authorization: `Bearer ${api_token}` },
        secrets: [api_token],
        errorOf,
        isError: ({ success }) => success === false,
        retryMs: () => cloudflareBlockedMs,
      },
      around,
    )
  }

  async check(): Promise<RegistrarCheck> {
    const { rows } = await this.#page(null, 1)
    const detail = `Account ${this.settings.account_id}${rows.length === 0 ? ', without domains' : ''}`
    return { detail, warnings: [], currency: caps.currency, balance: null }
  }

  async list(cursor: string | null): Promise<HeldPage> {
    const { rows, next } = await this.#page(cursor, pageSize)
    return { domains: rows.map(row => this.#heldOf(row)), next }
  }

  async read(name: string): Promise<Held | null> {
    const found = await unlessNotFound(this.#client.get(`/registrations/${encodeURIComponent(name)}`))
    if (!found) return null
    const held = this.#heldOf(this.#client.objectOf(this.#envelope(found.json).result, 'registration'))
    if (held.name !== name) throw this.#client.invalid('is about another domain')
    return held
  }

  async offers(names: readonly string[]): Promise<Offer[]> {
    const { result } = this.#envelope((await this.#client.post('/domain-check', { domains: names })).json)
    const rows = this.#client.listOf(this.#client.objectOf(result, 'result').domains, 'domains')
    const byName = new Map(rows.map(row => [nameOf(row.name), row]))
    return names.map(name => this.#offerOf(name, byName.get(name)))
  }

  async #page(cursor: string | null, perPage: number): Promise<{ rows: Record<string, unknown>[]; next: string | null }> {
    const query = new URLSearchParams({ per_page: String(perPage), sort_by: 'name', ...(cursor !== null && { cursor }) })
    const { result, result_info } = this.#envelope((await this.#client.get(`/registrations?${query}`)).json)
    const rows = this.#client.listOf(result, 'registrations')
    const info = this.#client.objectOf(result_info, 'pagination info')
    const next = info.cursor
    // An empty cursor ends the list; a missing one says nothing.
    if (typeof next !== 'string' || next.length > maxCursorLength) throw this.#client.invalid('has no cursor')
    return { rows, next: next === '' ? null : next }
  }

  #envelope(json: unknown): Record<string, unknown> {
    if (!isObject(json) || json.success !== true) throw this.#client.invalid('has an unexpected format')
    return json
  }

  #heldOf(row: Record<string, unknown>): Held {
    const name = nameOf(row.domain_name)
    if (name === null) throw this.#client.invalid('has a registration without a valid name')
    return {
      name,
      status: statuses[String(row.status)] ?? 'unknown',
      eppStatuses: null,
      registeredAt: dateOf(row.created_at),
      expiresAt: dateOf(row.expires_at),
      autoRenew: flagOf(row.auto_renew),
      locked: flagOf(row.locked),
      privacy: row.privacy_mode === 'redaction' ? true : row.privacy_mode === 'off' ? false : null,
      nameservers: null,
      ds: null,
      glue: null,
      renewalPrice: null,
      capabilities: null,
    }
  }

  #offerOf(name: string, row: Record<string, unknown> | undefined): Offer {
    if (!row) throw this.#client.invalid(`lacks ${name}`)
    const registrable = flagOf(row.registrable)
    if (registrable === null) throw this.#client.invalid(`does not report whether ${name} can be registered`)
    const pricing = isObject(row.pricing) ? row.pricing : {}
    const currency = typeof pricing.currency === 'string' && isCurrency(pricing.currency) ? pricing.currency : null
    const premium = row.tier === 'premium' || row.reason === 'domain_premium'
    return {
      name,
      available: registrable && !premium,
      reason: premium
        ? reasons.domain_premium!
        : registrable
          ? null
          : (reasons[String(row.reason)] ?? reasons.domain_unavailable!),
      price: currency === null ? null : moneyOf(pricing.registration_cost, currency),
      renewalPrice: currency === null ? null : moneyOf(pricing.renewal_cost, currency),
      restorePrice: null,
      transferPrice: null,
      premium,
      minYears: 1,
    }
  }
}

const statuses: Readonly<Record<string, HeldStatus>> = {
  __proto__: null!,
  active: 'active',
  registration_pending: 'pending_registration',
  transfer_pending: 'pending_transfer',
  expired: 'expired',
  suspended: 'suspended',
  redemption_period: 'redemption',
  pending_delete: 'pending_delete',
}

const reasons: Readonly<Record<string, string>> = {
  __proto__: null!,
  domain_unavailable: 'The name is not available.',
  domain_premium: 'Premium names can’t be bought through the API of Cloudflare.',
  extension_not_supported: 'Cloudflare does not offer this top-level domain.',
  extension_not_supported_via_api: 'Names below this top-level domain can only be bought in the dashboard of Cloudflare.',
  extension_disallows_registration: 'The registry of this top-level domain does not accept registrations.',
}

const maxCursorLength = 1000

function errorOf({ errors }: Record<string, unknown>): { text: string; code: string | null; failure: RegistrarFailure | null } {
  const listed = Array.isArray(errors) ? errors.filter(isObject) : []
  const codes = listed.map(one => Number(one.code))
  const has = (some: ReadonlySet<number>) => codes.some(code => some.has(code))
  const isDenied = has(cloudflareCodes.credentials) || has(cloudflareCodes.unrouted)
  return {
    text: listed.flatMap(one => (typeof one.message === 'string' ? [one.message] : [])).join('; '),
    code: codes.length === 0 ? null : String(codes[0]),
    // An account that doesn’t exist, or that the token can’t access, is not a domain that isn’t in the account.
    failure: has(cloudflareCodes.throttled) ? 'throttled' : isDenied ? 'unauthorized' : null,
  }
}
