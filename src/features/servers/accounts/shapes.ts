import { Type, type Static } from '@sinclair/typebox'
import { ruleProtocols } from '../firewalls/rules'
import { accountStates } from '../../../adapters/accounts/columns'
import { accountFields, accountInput, accountPatch, checkFields } from '../../../adapters/accounts/shapes'
import { kindFields } from '../../../adapters/kinds'
import { inputMembers, members, patchMembers, viewMembers } from '../../../core/members'
import { editable, NullableInstant, Nullable, Shape, SinglePageOf, Words } from '../../../core/shapes'
import { cloudKinds } from '../clouds'
import { cloudFailures, serverVerbs } from '../clouds/cloud'
import { Amount, Currency, NullableAmount } from '../money'

const kinds = cloudKinds.map(one => one.kind)
const listedAt = '/v1/cloud-kinds'
const input = accountInput(kinds, listedAt)

const Import = Shape(
  {
    mode: Words(['all', 'selector', 'none'], {
      description:
        'Which servers that already exist are added: `all` of them, those whose labels match `label_selector`, or `none`.',
    }),
    label_selector: Nullable(Type.String({ maxLength: 2000 }), {
      description: 'Labels of the servers to add, such as `env=production,!temporary`. Required with the mode `selector`.',
    }),
  },
  { description: 'Which existing servers of a cloud account are added.' },
)

const Spend = Shape(
  {
    monthly_cap: Nullable(Amount('Maximum total price per month.'), {
      description: 'Maximum total price per month of everything in the account. Null: no limit.',
    }),
    confirm_above: Amount(
      'Price per month above which a request must contain the highest price that it accepts (`max_monthly_price`). `0`: always.',
    ),
    currency: Nullable(Currency('Currency of the amounts.'), {
      description: 'Currency of the amounts. Required with `monthly_cap`.',
    }),
  },
  { description: 'Limits on what can be bought in a cloud account.' },
)

/** The fields that clients set, in addition to those of every account. */
export const cloudAccountMembers = members({
  import: {
    schema: Import,
    default: { mode: 'all', label_selector: null },
  },
  spend: {
    schema: Spend,
    default: { monthly_cap: null, confirm_above: '0', currency: null },
  },
})

const example = {
  id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km',
  kind: 'hetzner',
  name: 'Hetzner production',
  settings: {},
  secrets_set: ['api_token'],
  state: 'ok',
  detail: 'Hetzner project with 3 servers',
  warnings: [],
  last_checked_at: '2026-11-27T10:05:00.000Z',
  last_ok_at: '2026-11-27T10:05:00.000Z',
  last_error: null,
  import: { mode: 'all', label_selector: null },
  spend: { monthly_cap: '50.00', confirm_above: '0', currency: 'EUR' },
  sync: { finished_at: '2026-11-27T10:06:00.000Z', next_at: '2026-11-27T10:07:00.000Z', failures_in_a_row: 0, last_error: null },
  rate: { limit: 3600, remaining: 3570, resets_at: '2026-11-27T10:06:30.000Z' },
  counts: { servers: 3, unclaimed: 0 },
  committed: { monthly: '13.53', currency: 'EUR', unpriced: 0 },
  version: 1,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:00.000Z',
}

const checks = checkFields(cloudFailures)

export const CloudAccount = Shape(
  {
    id: Type.String({ description: 'ID of the cloud account.' }),
    ...accountFields(kinds, listedAt),
    ...checks,
    ...viewMembers(cloudAccountMembers),
    sync: Shape(
      {
        finished_at: NullableInstant({ description: 'When all servers were last read; null if never.' }),
        next_at: NullableInstant({ description: 'When they will be read again; null if that is not scheduled.' }),
        failures_in_a_row: Type.Integer({ description: 'Number of failed attempts since the last success.' }),
        last_error: checks.last_error,
      },
      { $id: 'CloudSync', description: 'When the servers of a cloud account were last read.' },
    ),
    rate: Nullable(
      Shape(
        {
          limit: Type.Integer({ description: 'Number of requests that the cloud allows.' }),
          remaining: Type.Integer({ description: 'Number of requests left.' }),
          resets_at: NullableInstant({
            description: 'When all requests are available again; null if the cloud doesn’t report it.',
          }),
        },
        { $id: 'CloudRateLimit', description: 'Rate limit of a cloud, as it was last reported.' },
      ),
      { description: 'Rate limit of the cloud, as it was last reported; null if it reports none.' },
    ),
    counts: Shape(
      {
        servers: Type.Integer({ description: 'Number of servers in the workspace.' }),
        unclaimed: Type.Integer({ description: 'Number of servers in the account that are not in the workspace.' }),
      },
      { $id: 'CloudAccountCounts', description: 'Number of servers of a cloud account.' },
    ),
    committed: Shape(
      {
        monthly: NullableAmount('Total price per month, including purchases in progress; null for clouds without prices.'),
        currency: Nullable(Type.String(), { description: 'Currency; null for clouds without prices.' }),
        unpriced: Type.Integer({ description: 'Number of servers whose price is not known. They are not included.' }),
      },
      { $id: 'CloudCommitted', description: 'What the servers of a cloud account cost.' },
    ),
    ...editable,
  },
  {
    $id: 'CloudAccount',
    description: 'An account at a cloud, or a hypervisor, and the credentials to access it.',
    examples: [example],
  },
)
export const CloudAccountList = SinglePageOf(CloudAccount)

export const CloudAccountInput = Shape(
  { ...input, ...inputMembers(cloudAccountMembers) },
  {
    $id: 'CloudAccountInput',
    description: 'A cloud account to create.',
    examples: [{ kind: 'hetzner', name: example.name, settings: { api_token: 'changeme'.repeat(8) } }],
  },
)

export const CloudAccountPatch = Shape(
  { ...accountPatch, ...patchMembers(cloudAccountMembers) },
  {
    $id: 'CloudAccountPatch',
    description: 'Fields of a cloud account to update.',
    examples: [{ import: { mode: 'none', label_selector: null } }],
  },
)

export const CloudAccountCheckInput = Shape(
  { kind: input.kind, settings: input.settings },
  {
    $id: 'CloudAccountCheckInput',
    description: 'Settings of a cloud account to test.',
    examples: [{ kind: 'hetzner', settings: { api_token: 'changeme'.repeat(8) } }],
  },
)

export const CloudAccountCheckResult = Shape(
  {
    state: Words(['ok', 'failing'], { description: 'Whether the cloud can be reached and accepts the credentials.' }),
    detail: Nullable(Type.String(), { description: 'What the check found; null unless `state` is `ok`.' }),
    warnings: checks.warnings,
    error: { ...checks.last_error, description: 'Why the check failed; null if it succeeded.' },
  },
  {
    $id: 'CloudAccountCheckResult',
    description: 'Result of testing the settings of a cloud account.',
    examples: [{ state: 'ok', detail: example.detail, warnings: [], error: null }],
  },
)

export const CloudAccountQuery = Shape({
  kind: Type.Optional(Words(kinds, { description: 'Only accounts of this kind.' })),
  state: Type.Optional(Words(accountStates, { description: 'Only accounts in this state.' })),
})

const CloudKindInfo = Shape(
  {
    ...kindFields,
    capabilities: Shape(
      {
        actions: Type.Array(Words(serverVerbs), { description: 'Actions that are possible for servers.' }),
        sizes: Words(['catalog', 'free'], {
          description: 'Whether a size is one of the catalog, or can be chosen freely.',
        }),
        needs_location: Type.Boolean({ description: 'Whether a new server must have a location.' }),
        ssh_keys: Words(['required', 'optional', 'unsupported'], { description: 'Whether a new server can have SSH keys.' }),
        user_data: Type.Boolean({ description: 'Whether a new server can have cloud-init user data.' }),
        networks: Type.Boolean({ description: 'Whether a new server can be attached to networks.' }),
        address_families: Type.Boolean({ description: 'Whether a new server can be without IPv4 or IPv6.' }),
        backups: Type.Boolean({ description: 'Whether the cloud can create backups.' }),
        protection: Type.Array(Words(['delete', 'rebuild']), { description: 'Changes that servers can be protected from.' }),
        has_prices: Type.Boolean({ description: 'Whether servers cost money.' }),
        labels: Type.Boolean({ description: 'Whether labels are stored at the cloud.' }),
        volumes: Type.Boolean({ description: 'Whether there are volumes.' }),
        snapshots: Type.Boolean({ description: 'Whether snapshots of servers can be created.' }),
        volume_snapshots: Type.Boolean({ description: 'Whether snapshots of volumes can be created.' }),
        firewall_protocols: Type.Array(Words(ruleProtocols), {
          description: 'Protocols that firewalls can filter; empty if the cloud has no firewalls.',
        }),
        firewall_blocks: Type.Boolean({ description: 'Whether firewalls can block networks.' }),
        name_pattern: Type.String({ description: 'Regular expression for the names of servers.' }),
        sync_seconds: Type.Integer({ description: 'Seconds between two syncs of all servers.' }),
      },
      { description: 'Capabilities, independent of the settings.' },
    ),
  },
  {
    $id: 'CloudKindInfo',
    description: 'A kind of cloud.',
    examples: [
      {
        kind: 'hetzner',
        title: 'Hetzner Cloud',
        settings: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' },
        secrets: ['api_token'],
        destination: ['base_url'],
        capabilities: {
          actions: ['provision', 'power_on', 'power_off', 'delete'],
          sizes: 'catalog',
          needs_location: true,
          ssh_keys: 'required',
          user_data: true,
          networks: true,
          address_families: true,
          backups: true,
          protection: ['delete', 'rebuild'],
          has_prices: true,
          labels: true,
          volumes: true,
          snapshots: true,
          volume_snapshots: false,
          firewall_protocols: ['tcp', 'udp', 'icmp', 'esp', 'gre', 'any'],
          firewall_blocks: false,
          name_pattern: '^[a-z0-9-]+$',
          sync_seconds: 60,
        },
      },
    ],
  },
)
export const CloudKindInfoList = SinglePageOf(CloudKindInfo)

export type CloudAccountView = Static<typeof CloudAccount>
export type CloudAccountInput = Static<typeof CloudAccountInput>
export type CloudAccountPatch = Static<typeof CloudAccountPatch>
export type CloudAccountCheckInput = Static<typeof CloudAccountCheckInput>
export type CloudKindView = Static<typeof CloudKindInfo>
