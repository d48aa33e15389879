import { Type, type Static } from '@sinclair/typebox'
import { accountStates } from '../../adapters/accounts/columns'
import { accountFields, accountInput, accountPatch, checkFields } from '../../adapters/accounts/shapes'
import { kindFields } from '../../adapters/kinds'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { MoneyShape } from '../../core/money'
import { editable, ListOf, Nullable, NullableInstant, Shape, SinglePageOf, Words } from '../../core/shapes'
import { registrarKinds } from './kinds'
import { heldStatuses, registrarCapabilities, registrarFailures } from './registrar'

const kinds = registrarKinds.map(one => one.kind)
const listedAt = '/v1/registrar-kinds'
const input = accountInput(kinds, listedAt)

/** The fields that clients set and that are stored as they are, in addition to those of every account. */
export const registrarAccountMembers = members({
  manage_new: {
    schema: Words(['track', 'ignore'], {
      description:
        'What happens to domains in the account that are not in the workspace: `track` adds them, as far as the plan allows, `ignore` doesn’t. Domains that you delete here are not added again.',
    }),
    default: 'track',
  },
})

const limits = {
  monthly_limit: Nullable(MoneyShape, {
    description: 'Most that orders can cost in a calendar month (UTC). Null: nothing can be bought.',
  }),
  order_limit: Nullable(MoneyShape, { description: 'Most that a single order can cost. Null: only the monthly limit applies.' }),
}

const PurchasesInput = Shape(
  { monthly_limit: Type.Optional(limits.monthly_limit), order_limit: Type.Optional(limits.order_limit) },
  {
    description:
      'Limits of what can be bought, in the currency of the account. Omitted limits stay. Requires `account.write`, so that a token that can buy can’t raise its own limit.',
  },
)

const example = {
  id: 'reg_01k3zd4e5f6g7h8j9k0m1n2p3q',
  kind: 'porkbun',
  name: 'Porkbun',
  settings: { api_key: 'pk1_changeme', base_url: 'https://api.porkbun.com/api/json/v3' },
  secrets_set: ['secret_api_key'],
  state: 'ok',
  detail: 'Credit 41.20 USD',
  warnings: [],
  last_checked_at: '2026-11-22T09:00:00.000Z',
  last_ok_at: '2026-11-22T09:00:00.000Z',
  last_error: null,
  manage_new: 'track',
  capabilities: ['register', 'renew', 'transfer_in', 'nameservers', 'glue', 'dnssec', 'auto_renew'],
  currency: 'USD',
  balance: { amount: '41.20', currency: 'USD' },
  purchases: { monthly_limit: { amount: '100.00', currency: 'USD' }, order_limit: null },
  domain_count: 12,
  last_sync_at: '2026-11-22T09:00:00.000Z',
  next_sync_at: '2026-11-22T15:00:00.000Z',
  sync_error: null,
  version: 1,
  created_at: '2026-11-22T08:55:00.000Z',
  updated_at: '2026-11-22T08:55:00.000Z',
}

const checks = checkFields(registrarFailures)

const Capabilities = Type.Array(Words(registrarCapabilities), {
  description: 'What the registrar allows through its API, in addition to reading. Single domains can allow less.',
})

export const RegistrarAccount = Shape(
  {
    id: Type.String({ description: 'ID of the registrar account.' }),
    ...accountFields(kinds, listedAt),
    ...checks,
    ...viewMembers(registrarAccountMembers),
    capabilities: Capabilities,
    currency: Nullable(Type.String(), { description: 'Currency of its prices (ISO 4217); null until it is known.' }),
    balance: Nullable(MoneyShape, {
      description: 'Prepaid credit at the last check; null if the account has none, or doesn’t report it.',
    }),
    purchases: Shape(limits, { description: 'Limits of what can be bought.' }),
    domain_count: Type.Integer({ description: 'Number of domains in the last complete list of the account.' }),
    last_sync_at: NullableInstant({ description: 'When all domains were last read; null if never.' }),
    next_sync_at: NullableInstant({
      description: 'When they will be read again; null while the account has not been checked, or its credentials are rejected.',
    }),
    sync_error: { ...checks.last_error, description: 'Why the domains could not be read the last time; null if they could.' },
    ...editable,
  },
  {
    $id: 'RegistrarAccount',
    description: 'An account at a registrar, and the credentials to access it.',
    examples: [example],
  },
)
export const RegistrarAccountList = SinglePageOf(RegistrarAccount)

const settingsShown = { api_key: 'pk1_changeme', secret_api_key: 'sk1_changeme' }

export const RegistrarAccountInput = Shape(
  { ...input, ...inputMembers(registrarAccountMembers), purchases: Type.Optional(PurchasesInput) },
  {
    $id: 'RegistrarAccountInput',
    description: 'A registrar account to create.',
    examples: [{ kind: 'porkbun', name: 'Porkbun', settings: settingsShown }],
  },
)

export const RegistrarAccountPatch = Shape(
  { ...accountPatch, ...patchMembers(registrarAccountMembers), purchases: Type.Optional(PurchasesInput) },
  {
    $id: 'RegistrarAccountPatch',
    description: 'Fields of a registrar account to update.',
    examples: [{ purchases: { monthly_limit: { amount: '100.00', currency: 'USD' } } }],
  },
)

export const RegistrarAccountCheckInput = Shape(
  { kind: input.kind, settings: input.settings },
  {
    $id: 'RegistrarAccountCheckInput',
    description: 'Settings of a registrar account to test.',
    examples: [{ kind: 'porkbun', settings: settingsShown }],
  },
)

export const RegistrarAccountCheckResult = Shape(
  {
    state: Words(['ok', 'failing'], { description: 'Whether the registrar can be reached and accepts the credentials.' }),
    detail: Nullable(Type.String(), { description: 'What the check found; null unless `state` is `ok`.' }),
    warnings: checks.warnings,
    error: { ...checks.last_error, description: 'Why the check failed; null if it succeeded.' },
  },
  {
    $id: 'RegistrarAccountCheckResult',
    description: 'Result of testing the settings of a registrar account.',
    examples: [{ state: 'ok', detail: 'Credit 41.20 USD', warnings: [], error: null }],
  },
)

export const RegistrarAccountQuery = Shape({
  kind: Type.Optional(Words(kinds, { description: 'Only accounts of this kind.' })),
  state: Type.Optional(Words(accountStates, { description: 'Only accounts in this state.' })),
})

const RegistrarKindInfo = Shape(
  {
    ...kindFields,
    capabilities: Capabilities,
    catching: Words(['allowed', 'forbidden', 'unsupported'], {
      description:
        'Whether watched domains can be registered the moment they become available. `forbidden`: the terms of the registrar don’t allow it. `unsupported`: its API can’t register domains.',
    }),
    currency: Nullable(Type.String(), { description: 'Currency of all prices (ISO 4217); null if accounts differ.' }),
  },
  {
    $id: 'RegistrarKindInfo',
    description: 'A kind of registrar.',
    examples: [
      {
        kind: 'porkbun',
        title: 'Porkbun',
        settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        secrets: ['secret_api_key'],
        destination: ['base_url'],
        capabilities: example.capabilities,
        catching: 'allowed',
        currency: 'USD',
      },
    ],
  },
)
export const RegistrarKindInfoList = SinglePageOf(RegistrarKindInfo)

const RegistrarAccountDomain = Shape(
  {
    name: Type.String({ description: 'Name in A-labels (`xn--…`), without a trailing dot.' }),
    unicode_name: Type.String({ description: 'Name in Unicode.' }),
    status: Words(heldStatuses, {
      description: 'Status according to the registrar; `unknown` if it reports another one.',
    }),
    registered_at: NullableInstant({ description: 'When it was registered; null if the registrar doesn’t report it.' }),
    expires_at: NullableInstant({ description: 'When the registration ends; null if the registrar doesn’t report it.' }),
    auto_renew: Nullable(Type.Boolean(), { description: 'Whether the registrar renews it; null if it doesn’t report it.' }),
    locked: Nullable(Type.Boolean(), {
      description: 'Whether transfers are prohibited; null if the registrar doesn’t report it.',
    }),
    capabilities: Capabilities,
  },
  {
    $id: 'RegistrarAccountDomain',
    description: 'A domain that a registrar account has.',
    examples: [
      {
        name: 'example.com',
        unicode_name: 'example.com',
        status: 'active',
        registered_at: '2019-04-02T10:11:12.000Z',
        expires_at: '2027-04-02T10:11:12.000Z',
        auto_renew: true,
        locked: true,
        capabilities: ['renew', 'nameservers'],
      },
    ],
  },
)
export const RegistrarAccountDomainList = ListOf(RegistrarAccountDomain)

export const RegistrarAccountDomainQuery = Shape({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: 'Number of items per page.' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1000,
      description: 'Cursor of the page to return: the `next_cursor` of the previous page. Default: the first page.',
    }),
  ),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 253, description: 'Only domains whose name contains this text.' })),
})

export type RegistrarAccountView = Static<typeof RegistrarAccount>
export type RegistrarAccountInput = Static<typeof RegistrarAccountInput>
export type RegistrarAccountPatch = Static<typeof RegistrarAccountPatch>
export type RegistrarAccountCheckInput = Static<typeof RegistrarAccountCheckInput>
export type PurchasesInput = Static<typeof PurchasesInput>
export type RegistrarKindView = Static<typeof RegistrarKindInfo>
export type RegistrarAccountDomainView = Static<typeof RegistrarAccountDomain>
