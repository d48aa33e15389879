import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RegistrarError, type AdapterContext, type Registrar } from '../registrar'
import { registrarKindOf } from './index'

// Whatever the members of a response are, it is either read or an error of the registrar.

type Call = (registrar: Registrar) => Promise<unknown>
const list: Call = registrar => registrar.list(null)
const read: Call = registrar => registrar.read('one.com')
const offers: Call = registrar => registrar.offers(['one.com'])
const check: Call = registrar => registrar.check()

const token = 't'.repeat(40)
const settings: Record<string, object> = {
  porkbun: { api_key: token, secret_api_key: token },
  cloudflare: { account_id: 'a'.repeat(32), api_token: token },
  namecom: { username: 'ada', api_token: token },
  gandi: { api_token: token },
}
const dates = { createDate: '2019-04-02T10:11:12Z', expireDate: '2027-04-02T10:11:12Z' }
const registration = { domain_name: 'one.com', status: 'active', created_at: dates.createDate, expires_at: null, locked: true }
const gandi = {
  fqdn: 'one.com',
  status: ['clientTransferProhibited'],
  dates: { registry_ends_at: dates.expireDate },
  autorenew: true,
  nameserver: { current: 'other', hosts: ['ns1.one.com'] },
}
const namecom = { domainName: 'one.com', ...dates, locks: ['clientHold'], nameservers: ['ns1.one.com'], renewalPrice: 9.73 }
const cases: [kind: string, call: Call, body: unknown][] = [
  ['porkbun', list, { status: 'SUCCESS', domains: [{ domain: 'one.com', ...dates, autoRenew: 1, notLocal: '0' }] }],
  ['porkbun', read, { status: 'SUCCESS', domain: { domain: 'one.com', ...dates }, ns: ['ns1.one.com'] }],
  [
    'porkbun',
    offers,
    { status: 'SUCCESS', response: { avail: 'yes', price: '9.73', minDuration: 1, additional: { renewal: { price: '1' } } } },
  ],
  ['cloudflare', list, { success: true, errors: [], result: [registration], result_info: { cursor: 'x' } }],
  ['cloudflare', read, { success: true, errors: [], result: registration }],
  [
    'cloudflare',
    offers,
    {
      success: true,
      errors: [{ code: 1, message: 'x' }],
      result: { domains: [{ name: 'one.com', registrable: true, pricing: { currency: 'USD', registration_cost: '9.77' } }] },
    },
  ],
  ['namecom', check, { balance: 41.2 }],
  ['namecom', list, { domains: [namecom], totalCount: 1, from: 1, to: 1 }],
  ['namecom', read, { ...namecom, dnssec: [{ keyTag: 1, algorithm: 13, digestType: 2, digest: 'ab' }], vanityNameservers: [] }],
  ['namecom', offers, { results: [{ domainName: 'one.com', purchasable: true, purchasePrice: 10.99, premium: false }] }],
  ['gandi', list, [gandi]],
  ['gandi', read, { ...gandi, autorenew: { enabled: true } }],
  [
    'gandi',
    offers,
    {
      currency: 'EUR',
      products: [
        { process: 'create', name: 'one.com', status: 'available', prices: [{ min_duration: 1, price_after_taxes: 12.5 }] },
      ],
    },
  ],
]

/** Replaces a member. @param path chooses one at each level */
function replaced(body: unknown, path: readonly number[], value: unknown): unknown {
  const [first, ...rest] = path
  if (first === undefined || typeof body !== 'object' || body === null) return value
  const keys = Object.keys(body)
  if (keys.length === 0) return value
  const key = keys[first % keys.length]!
  const inner = replaced((body as Record<string, unknown>)[key], rest, value)
  return Array.isArray(body) ? body.map((one, place) => (String(place) === key ? inner : one)) : { ...body, [key]: inner }
}

test('every response is read, or an error of the registrar', async () => {
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom('1e3', '-1', '99999999999999', 1e300, -1, 0.1 + 0.2, '0001-01-01T00:00:00Z', '9999-12-31', '\u0000', 'é.com'),
  )
  const paths = fc.array(fc.nat(9), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...cases),
      paths,
      values,
      fc.constantFrom(200, 400, 404, 500),
      async ([kind, call, body], path, value, status) => {
        const context = {
          clock: { now: () => Date.parse('2026-11-21T10:00:00Z'), after: () => ({ cancel() {} }) },
          request: async () => ({
            status,
            reason: '',
            headers: new Headers({ 'total-count': '1' }),
            body: Buffer.from(JSON.stringify(replaced(body, path, value))),
          }),
        } as unknown as AdapterContext
        try {
          await call(registrarKindOf(kind)!.open(settings[kind], context))
        } catch (error) {
          expect(error).toBeInstanceOf(RegistrarError)
          expect((error as Error).message).not.toContain(token)
        }
      },
    ),
    { numRuns: 1500 },
  )
})
