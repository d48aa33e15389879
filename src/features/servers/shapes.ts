import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import {
  editable,
  Expanded,
  Instant,
  Line,
  ListOf,
  Nullable,
  NullableInstant,
  Prose,
  Shape,
  SinglePageOf,
  Words,
} from '../../core/shapes'
import { accountStates } from '../../adapters/accounts/columns'
import { Agent, AgentSummary } from './agents/shapes'
import { CloudAccount } from './accounts/shapes'
import { cloudStatuses, serverVerbs } from './clouds/cloud'
import { controllerKinds } from './controllers'
import { allowFields, Firewall } from './firewalls/shapes'
import { Labels } from './labels'
import { NullableAmount } from './money'
import { PriceView, spendMembers } from './price-shapes'
import { Volume } from './volumes/shapes'

/** What a server is doing: as clouds tell, and as far as only the hub knows. */
export const serverStatuses = ['draft', ...cloudStatuses, 'deleted', 'missing'] as const
export type ServerStatus = (typeof serverStatuses)[number]
export const serverHealths = ['up', 'down', 'unknown'] as const
export type ServerHealth = (typeof serverHealths)[number]
export const powerStates = ['on', 'off', 'unknown'] as const
export const serverOrigins = ['made', 'found', 'added'] as const
export const serverKinds = ['vm', 'container', 'bare_metal', 'external'] as const
/** Where a fact comes from. */
export const factSources = ['cloud', 'agent', 'controller', 'monitor', 'action', 'manual'] as const
export type FactSource = (typeof factSources)[number]

/** The fields that clients set and that can be updated at any time. */
export const serverMembers = members({
  name: { schema: Line({ minLength: 1, maxLength: 100, description: 'Name of the server.' }), required: true },
  labels: { schema: Labels, default: {} },
  health_monitor_ids: {
    schema: Type.Array(Type.String({ maxLength: 64 }), {
      maxItems: 10,
      uniqueItems: true,
      description: 'IDs of monitors whose status determines whether the server is up.',
    }),
    default: [],
    clearable: true,
  },
  notes: { schema: Prose({ maxLength: 20_000, description: 'Notes, in Markdown.' }), default: '', clearable: true },
})

const FreeSize = Shape(
  {
    cores: Type.Integer({ minimum: 1, maximum: 1024, description: 'Number of CPU cores.' }),
    memory_bytes: Type.Integer({ minimum: 16 * 2 ** 20, maximum: 2 ** 45, description: 'Memory in bytes.' }),
    disk_bytes: Type.Integer({ minimum: 2 ** 20, maximum: 2 ** 50, description: 'Size of the root disk in bytes.' }),
  },
  {
    $id: 'ServerResources',
    description: 'Size of a server, for clouds without fixed sizes.',
    examples: [{ cores: 2, memory_bytes: 2 ** 31, disk_bytes: 2 ** 35 }],
  },
)

const Size = Type.Union([Type.String({ minLength: 1, maxLength: 100 }), FreeSize], {
  description:
    'Size: the slug of a size in the catalog, or `cores`, `memory_bytes`, and `disk_bytes` for clouds without fixed sizes.',
})

const slug = (description: string) => Type.String({ minLength: 1, maxLength: 200, description })

// Each is a resource of the action, which has at most 20.
const maxOrderedVolumes = 10

/** What to order at a cloud. They can be updated as long as the server is a draft. */
export const orderMembers = members({
  location: {
    schema: Nullable(slug('Location.'), { description: 'Slug of the location; null where a cloud has none.' }),
    default: null,
  },
  fallback_locations: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 5,
      uniqueItems: true,
      description: 'Locations to try one after another if the size is out of stock.',
    }),
    default: [],
  },
  size: { schema: Nullable(Size, { description: 'Size; null if not chosen yet.' }), default: null },
  image: { schema: Nullable(slug('Image.'), { description: 'Slug of the image; null if not chosen yet.' }), default: null },
  ssh_keys: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 10_000 }), {
      maxItems: 50,
      description:
        'SSH keys that can sign in: IDs of SSH keys, or public keys in OpenSSH format. If omitted for a new server, the default keys of the workspace.',
    }),
    default: [],
  },
  networks: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 10,
      uniqueItems: true,
      description: 'Private networks to attach, by their `ref` in the catalog.',
    }),
    default: [],
  },
  firewall_ids: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: 5,
      uniqueItems: true,
      description: 'IDs of firewalls to attach, in addition to those whose label selector selects it.',
    }),
    default: [],
  },
  enable_ipv4: { schema: Type.Boolean({ description: 'Whether it gets a public IPv4 address.' }), default: true },
  enable_ipv6: { schema: Type.Boolean({ description: 'Whether it gets public IPv6 addresses.' }), default: true },
  backups: { schema: Type.Boolean({ description: 'Whether the cloud creates backups of it.' }), default: false },
  volume_ids: {
    schema: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
      maxItems: maxOrderedVolumes,
      uniqueItems: true,
      description: 'IDs of volumes in the same location to attach.',
    }),
    default: [],
  },
  start: { schema: Type.Boolean({ description: 'Whether it is started after it was created.' }), default: true },
})

/** What to order, with the defaults for what a request omits. */
export const orderOf = (input: Partial<ServerOrderView>): ServerOrderView =>
  Object.fromEntries(
    Object.entries(orderMembers).map(([name, one]) => [name, input[name as keyof ServerOrderView] ?? one.default]),
  ) as ServerOrderView

const userData = Type.Optional(
  Nullable(Prose({ maxLength: 32 * 1024, description: 'Cloud-init user data.' }), {
    description: 'Cloud-init user data, up to 32 KiB. Stored encrypted and never returned.',
  }),
)

const manual = {
  kind: Type.Optional(Words(serverKinds, { description: 'Kind of a server without a cloud account. Default: `external`.' })),
  addresses: Type.Optional(
    Type.Array(Type.String({ minLength: 2, maxLength: 45 }), {
      maxItems: 20,
      uniqueItems: true,
      description: 'IP addresses of a server without a cloud account.',
    }),
  ),
}

const Address = Shape(
  {
    address: Type.String({ description: 'IP address.' }),
    family: Type.Integer({ description: 'Address family: 4 or 6.' }),
    scope: Words(['public', 'private'], { description: 'Whether the address can be reached from the internet.' }),
    ptr: Nullable(Type.String(), { description: 'Reverse DNS name; null if unknown.' }),
  },
  { $id: 'ServerAddress', description: 'IP address of a server.' },
)

const Observed = Shape(
  {
    source: Nullable(Words(factSources), { description: 'Where the value comes from; null if there is none.' }),
    at: NullableInstant({ description: 'When it was last confirmed; null if never.' }),
    stale: Type.Boolean({ description: 'Whether it has not been confirmed for too long, so it may be outdated.' }),
  },
  { $id: 'ServerObservation', description: 'Where a value comes from, and how old it is.' },
)

const SizeView = Shape(
  {
    slug: Nullable(Type.String(), { description: 'Slug of the size in the catalog; null if sizes are free.' }),
    cores: Nullable(Type.Integer(), { description: 'Number of CPU cores; null if unknown.' }),
    memory_bytes: Nullable(Type.Integer(), { description: 'Memory in bytes; null if unknown.' }),
    disk_bytes: Nullable(Type.Integer(), { description: 'Size of the root disk in bytes; null if unknown.' }),
  },
  { $id: 'ServerSize', description: 'Size of a server.' },
)

const ProtectionView = Shape(
  {
    delete: Type.Boolean({ description: 'Whether it is protected from deletion.' }),
    rebuild: Type.Boolean({ description: 'Whether it is protected from being rebuilt.' }),
  },
  { $id: 'ServerProtection', description: 'Which changes a server is protected from.' },
)

const Available = Shape(
  {
    action: Words(serverVerbs, { description: 'Name of the action.' }),
    via: Type.Array(Type.String(), { description: 'Ways to perform it, the preferred one first.' }),
  },
  { $id: 'ServerAvailableAction', description: 'An action that is possible for a server now.' },
)

const ControllerState = Shape(
  {
    kind: Words(
      controllerKinds.map(one => one.kind),
      { description: 'Kind of the controller.' },
    ),
    state: Words(accountStates, { description: 'Result of its last check.' }),
  },
  { $id: 'ServerControllerSummary', description: 'A controller of a server, and whether it works.' },
)

const OrderView = Shape(viewMembers(orderMembers), {
  $id: 'ServerOrder',
  description: 'What to order when a draft is provisioned.',
})

const example = {
  id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
  name: 'web-1',
  labels: { role: 'web' },
  health_monitor_ids: [],
  notes: '',
  kind: 'vm',
  origin: 'made',
  account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km',
  provider_ref: '4711',
  status: 'running',
  status_since_at: '2026-11-27T10:00:30.000Z',
  health: 'up',
  health_since_at: '2026-11-27T10:00:30.000Z',
  health_reason: 'The agent of the server is reporting.',
  power: 'on',
  observed: {
    status: { source: 'cloud', at: '2026-11-27T10:05:00.000Z', stale: false },
    health: { source: 'agent', at: '2026-11-27T10:05:00.000Z', stale: false },
    power: { source: 'cloud', at: '2026-11-27T10:05:00.000Z', stale: false },
  },
  location: 'fsn1',
  size: { slug: 'cx22', cores: 2, memory_bytes: 4_294_967_296, disk_bytes: 42_949_672_960 },
  image: 'debian-12',
  addresses: [{ address: '192.0.2.20', family: 4, scope: 'public', ptr: null }],
  protection: { delete: false, rebuild: false },
  backups: false,
  price: { monthly: '4.51', currency: 'EUR', gross: true, known: true, as_of: '2026-11-27T10:00:00.000Z' },
  actions: [{ action: 'power_off', via: ['cloud'] }],
  agent: {
    id: 'agent_01k3z9a1b2c3d4e5f6g7h8j9km',
    state: 'reporting',
    version: '0.3.0',
    last_seen_at: '2026-11-27T10:05:00.000Z',
  },
  controllers: [{ kind: 'ipmi', state: 'ok' }],
  volume_ids: [],
  firewall_ids: ['fw_01k3zd5s7t9v1w3x5y7z9a1b3c'],
  action_id: null,
  user_data_set: false,
  order: null,
  version: 3,
  created_at: '2026-11-27T10:00:00.000Z',
  updated_at: '2026-11-27T10:00:30.000Z',
}

export const Server = Shape(
  {
    id: Type.String({ description: 'ID of the server.' }),
    ...viewMembers(serverMembers),
    labels: Type.Record(Type.String(), Type.String(), {
      description: 'Labels. They include the labels at the cloud; a label with the same key that was set here takes precedence.',
    }),
    kind: Words(serverKinds, { description: 'Kind of server.' }),
    origin: Words(serverOrigins, {
      description: '`made`: created here. `found`: read from a cloud account. `added`: added manually.',
    }),
    account_id: Nullable(Type.String(), { description: 'ID of the cloud account; null if it has none.' }),
    provider_ref: Nullable(Type.String(), { description: 'ID at the cloud; null if it does not exist there.' }),
    status: Words(serverStatuses, { description: 'What the server is doing. `missing`: it no longer exists at the cloud.' }),
    status_since_at: Instant({ description: 'Since when it has this status.' }),
    health: Words(serverHealths, { description: 'Whether it is up, according to its agent, its monitors, and its cloud.' }),
    health_since_at: Instant({ description: 'Since when it has this health.' }),
    health_reason: Type.String({ description: 'Human-readable reason for the health.' }),
    power: Words(powerStates, { description: 'Power state, as measured by the cloud or a controller.' }),
    observed: Shape(
      { status: Observed, health: Observed, power: Observed },
      { $id: 'ServerObservations', description: 'Where status, health, and power come from.' },
    ),
    location: Nullable(Type.String(), { description: 'Location; null if unknown.' }),
    size: SizeView,
    image: Nullable(Type.String(), { description: 'Image it was created from; null if unknown.' }),
    addresses: Type.Array(Address, { description: 'IP addresses, public ones first.' }),
    protection: ProtectionView,
    backups: Nullable(Type.Boolean(), {
      description: 'Whether the cloud creates backups of it; null if unknown, or if it can’t.',
    }),
    price: PriceView,
    actions: Type.Array(Available, { description: 'Actions that are possible now.' }),
    agent: Nullable(AgentSummary, { description: 'Its agent; null if it has none.' }),
    controllers: Type.Array(ControllerState, { description: 'Other ways to control its power, such as its BMC.' }),
    volume_ids: Type.Array(Type.String(), { description: 'IDs of the volumes that are attached to it.' }),
    firewall_ids: Type.Array(Type.String(), { description: 'IDs of its firewalls.' }),
    action_id: Nullable(Type.String(), { description: 'ID of the action that works on it; null if there is none.' }),
    user_data_set: Type.Boolean({ description: 'Whether it has user data.' }),
    order: Nullable(OrderView, {
      description: 'What to order; null unless it is a draft, is being created, or may not have been created.',
    }),
    expanded: Expanded({
      account: CloudAccount,
      agent: Agent,
      volumes: Type.Array(Volume, { description: 'The volumes that are attached to it.' }),
      firewalls: Type.Array(Firewall, { description: 'Its firewalls, except those that you have no access to.' }),
    }),
    ...editable,
  },
  { $id: 'Server', description: 'A server: at a cloud, on a hypervisor, or any other machine.', examples: [example] },
)
export const ServerList = ListOf(Server)

const orderInput = inputMembers(orderMembers)

export const ServerInput = Shape(
  {
    ...inputMembers(serverMembers),
    account_id: Type.Optional(
      Nullable(Type.String({ maxLength: 64 }), {
        description: 'ID of the cloud account to create it in. Null or omitted: a server that exists elsewhere is added.',
      }),
    ),
    ...orderInput,
    location: Type.Optional({
      ...orderMembers.location.schema,
      description: 'Slug of the location; for a server without a cloud account, any text.',
    }),
    user_data: userData,
    monitor: Type.Optional(
      Type.Boolean({
        description:
          'Whether to create a monitor that follows the server, if you can create monitors. If the plan doesn’t allow another one, the workspace gets a notice instead. Default: true with a cloud account, and false without one.',
      }),
    ),
    enroll_agent: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether its user data installs the agent, with an enrolment key of its own that can be used once. Not for drafts.',
      }),
    ),
    provision: Type.Optional(
      Type.Boolean({
        default: true,
        description:
          'Whether to create it at the cloud now. If false, it is a draft, which the action `provision` creates later.',
      }),
    ),
    ...spendMembers,
    ...manual,
  },
  {
    $id: 'ServerInput',
    description: 'A server to create or add.',
    examples: [
      {
        name: 'web-1',
        account_id: example.account_id,
        location: 'fsn1',
        size: 'cx22',
        image: 'debian-12',
        ssh_keys: ['sshk_01k3z9a1b2c3d4e5f6g7h8j9km'],
        labels: { role: 'web' },
        max_monthly_price: '5.00',
        currency: 'EUR',
      },
    ],
  },
)

export const ServerPatch = Shape(
  { ...patchMembers(serverMembers), ...patchMembers(orderMembers), user_data: userData, ...manual, ...allowFields },
  {
    $id: 'ServerPatch',
    description:
      'Fields of a server to update. Fields of the order, such as `size` and `image`, can only be updated as long as the server is a draft; `kind` and `addresses` only without a cloud account.',
    examples: [{ labels: { role: 'web', tier: 'gold' } }],
  },
)

export const ServerCreation = Shape({
  dry_run: Type.Optional(Type.Boolean({ description: 'Returns what would happen, with status 200, without creating anything.' })),
})

export const ServerDeletion = Shape({
  at_provider: Type.Optional(
    Words(['destroy', 'keep'], {
      description:
        'What happens to the server at the cloud: `destroy` deletes it there, `keep` only removes it here. Required if it exists at a cloud.',
    }),
  ),
  snapshots: Type.Optional(
    Words(['destroy'], {
      description: 'Required with `at_provider=destroy` if the server has snapshots that are deleted with it.',
    }),
  ),
})

export const ServerActionInput = Shape(
  {
    action: Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'Name of the action, such as `power_cycle`. Hyphens are accepted, too.',
    }),
    params: Type.Optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the action.', default: {} })),
    via: Type.Optional(Type.String({ maxLength: 40, description: 'How to perform it. Default: the first way in `actions`.' })),
  },
  {
    $id: 'ServerActionInput',
    description: 'An action to perform on a server.',
    examples: [{ action: 'power_cycle' }, { action: 'provision', params: { max_monthly_price: '5.00', currency: 'EUR' } }],
  },
)

/** Parameters by action; actions without an entry have none. */
export const actionParams = {
  provision: Shape(spendMembers),
  shutdown: Shape({
    timeout_seconds: Type.Optional(
      Type.Integer({ minimum: 5, maximum: 3600, default: 120, description: 'How long the system may take to shut down.' }),
    ),
    then_force: Type.Optional(Type.Boolean({ default: false, description: 'Whether to switch it off if it takes longer.' })),
  }),
  rename: Shape({ name: serverMembers.name.schema }),
  resize: Shape({
    size: Size,
    upgrade_disk: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether the disk grows too. It can’t become smaller again afterwards.',
      }),
    ),
    ...spendMembers,
  }),
  snapshot: Shape({
    name: Line({ minLength: 1, maxLength: 100, description: 'Name of the snapshot.' }),
    includes_memory: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Whether it includes the memory of a running server, where the cloud can do that.',
      }),
    ),
    expires_at: Type.Optional(NullableInstant({ description: 'When it is deleted; null if it doesn’t expire.' })),
    quiesce: Type.Optional(
      Words(['none', 'shutdown'], {
        default: 'none',
        description:
          '`shutdown`: a running server is shut down first, and started again afterwards, so that all data is on its disks.',
      }),
    ),
    ...spendMembers,
  }),
  restore_snapshot: Shape({
    snapshot_id: Type.String({ maxLength: 64, description: 'ID of the snapshot.' }),
    safety_snapshot: Type.Optional(
      Type.Boolean({
        description:
          'Whether to create a snapshot of the current state first. Default: true if snapshots cost nothing, and the storage of the server can restore older snapshots, which ZFS can’t.',
      }),
    ),
    ...spendMembers,
  }),
  delete: Shape({
    snapshots: Type.Optional(
      Words(['destroy'], { description: 'Required if the server has snapshots that are deleted with it.' }),
    ),
  }),
  rebuild: Shape({ image: slug('Slug of the image.'), user_data: userData }),
  enable_backups: Shape(spendMembers),
  restart_unit: Shape({
    unit: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9@_.:\\\\-]{0,199}$',
      description: 'Name of the unit of systemd, such as `nginx.service`.',
    }),
  }),
  set_protection: Shape({
    delete: Type.Optional(Type.Boolean({ description: 'Whether to protect it from deletion.' })),
    rebuild: Type.Optional(Type.Boolean({ description: 'Whether to protect it from being rebuilt.' })),
  }),
} as const

const Problem = Shape(
  {
    pointer: Nullable(Type.String(), { description: 'JSON pointer of the field; null if it is about the whole request.' }),
    code: Type.String({ description: 'Machine-readable reason.' }),
    detail: Type.String({ description: 'What is wrong, and what to do.' }),
  },
  { $id: 'ServerQuoteProblem', description: 'Why a server could not be created.' },
)

export const ServerQuote = Shape(
  {
    price: PriceView,
    committed: NullableAmount('Total price per month of everything in the account; null for clouds without prices.'),
    cap: NullableAmount('Spending cap per month of the account; null if it has none.'),
    steps: Type.Array(Type.String(), { description: 'Steps of the action that creates it.' }),
    problems: Type.Array(Problem, { description: 'Why it can’t be created; empty if it can.' }),
  },
  {
    $id: 'ServerQuote',
    description: 'What creating a server would cost, and whether it is possible.',
    examples: [
      { price: example.price, committed: '13.53', cap: '50.00', steps: ['check_price', 'create', 'wait'], problems: [] },
    ],
  },
)

const Fact = Shape(
  {
    fact: Type.String({ description: 'Name of the fact.' }),
    value: Type.Unknown({ description: 'Value from the best source.' }),
    source: Words(factSources, { description: 'Where the value comes from.' }),
    observed_at: NullableInstant({ description: 'When the source last confirmed it; null if unknown.' }),
    stale: Type.Boolean({ description: 'Whether it has not been confirmed for too long.' }),
    others: Type.Array(
      Shape(
        {
          source: Words(factSources, { description: 'Where the value comes from.' }),
          value: Type.Unknown({ description: 'Value from this source.' }),
          observed_at: NullableInstant({ description: 'When the source last confirmed it; null if unknown.' }),
        },
        { $id: 'ServerOtherFact', description: 'A fact according to another source.' },
      ),
      { description: 'What other sources say.' },
    ),
    agree: Type.Boolean({
      description:
        'Whether all sources agree. Sizes in bytes agree if they differ by at most 10%, because an operating system sees a little less than its cloud provides.',
    }),
  },
  {
    $id: 'ServerFact',
    description: 'A fact about a server, and where it comes from.',
    examples: [
      {
        fact: 'memory_bytes',
        value: 4_294_967_296,
        source: 'cloud',
        observed_at: '2026-11-27T10:05:00.000Z',
        stale: false,
        others: [{ source: 'agent', value: 2_147_483_648, observed_at: '2026-11-27T10:05:10.000Z' }],
        agree: false,
      },
    ],
  },
)
export const ServerFactList = SinglePageOf(Fact)

const Transition = Shape(
  {
    id: Type.String({ description: 'ID of the transition.' }),
    at: Instant({ description: 'When the value changed.' }),
    field: Words(['status', 'health', 'power'], { description: 'What changed.' }),
    from: Nullable(Type.String(), { description: 'Previous value; null for the first one.' }),
    to: Type.String({ description: 'New value.' }),
    source: Words(factSources, { description: 'What reported the change.' }),
    reason: Type.String({ description: 'Human-readable reason.' }),
  },
  {
    $id: 'ServerTransition',
    description: 'A change of the status, health, or power of a server.',
    examples: [
      {
        id: 'strn_01k3z9a1b2c3d4e5f6g7h8j9km',
        at: '2026-11-27T10:00:30.000Z',
        field: 'status',
        from: 'starting',
        to: 'running',
        source: 'cloud',
        reason: 'The cloud reports the status running.',
      },
    ],
  },
)
export const ServerTransitionList = ListOf(Transition)

export type ServerOrderView = Static<typeof OrderView>
export type ServerView = Static<typeof Server>
export type ServerInput = Static<typeof ServerInput>
export type ServerPatch = Static<typeof ServerPatch>
export type ServerDeletion = Static<typeof ServerDeletion>
export type ServerActionInput = Static<typeof ServerActionInput>
export type ServerQuoteView = Static<typeof ServerQuote>
export type ServerFactView = Static<typeof Fact>
export type ServerTransitionView = Static<typeof Transition>
