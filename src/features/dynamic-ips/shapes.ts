import { Type, type Static } from '@sinclair/typebox'
import { inputMembers, members, patchMembers, viewMembers } from '../../core/members'
import { editable, Instant, Line, ListOf, Nullable, NullableInstant, Prose, Shape, Tags, Words } from '../../core/shapes'
import { families } from './addresses'
import { Families } from './family-shapes'
import { DynamicIpFirewallLink } from './link-shapes'

export const dynamicIpStatuses = ['new', 'fresh', 'stale', 'held', 'paused'] as const
const maxHosts = 100

const ttl = { minimum: 30, maximum: 86_400 }

/** The fields that clients set, apart from the hosts. */
export const dynamicIpMembers = members({
  name: {
    schema: Line({
      minLength: 1,
      maxLength: 100,
      description: 'Name of the source, such as the location of the router. Unique in the workspace.',
    }),
    required: true,
  },
  description: { schema: Prose({ maxLength: 5000, description: 'Notes about the source.' }), default: '', clearable: true },
  tags: { schema: Tags, default: [], clearable: true },
  families: {
    schema: Families('Address families that the source reports. Addresses of another family are ignored.'),
    default: [...families],
    clearable: true,
  },
  ttl: {
    schema: Type.Integer({
      ...ttl,
      description: 'TTL in seconds of new records. A DNS provider with a higher minimum uses its minimum.',
    }),
    default: 60,
    clearable: true,
  },
  stale_after_seconds: {
    schema: Nullable(Type.Integer({ minimum: 300, maximum: 2_592_000 }), {
      description: 'Seconds without a report after which the status becomes `stale`. Null: never.',
    }),
  },
  prefix_from_ipv6: {
    schema: Nullable(Type.Integer({ minimum: 48, maximum: 64 }), {
      description:
        'Length of the IPv6 prefix to derive from the reported IPv6 address, for routers that don’t report their prefix. Null: only a reported prefix is used.',
    }),
  },
  allow_private: {
    schema: Type.Boolean({
      description:
        'Whether to accept private addresses (RFC 1918), addresses of carrier-grade NAT (RFC 6598), and unique local addresses (RFC 4193).',
    }),
    default: false,
    clearable: true,
  },
  require_https: {
    schema: Type.Boolean({ description: 'Whether reports over plain HTTP are refused, as if the token were wrong.' }),
    default: false,
    clearable: true,
  },
  allowed_cidrs: {
    schema: Type.Array(Type.String({ maxLength: 50 }), {
      maxItems: 20,
      uniqueItems: true,
      description: 'IP addresses or CIDR ranges the token may be used from; an empty list for any.',
    }),
    default: [],
    clearable: true,
  },
})

const hostModes = ['address', 'prefix'] as const

const hostInput = {
  name: Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'Fully qualified name in a zone of the workspace, such as `home.example.com` or `*.home.example.com`.',
  }),
  zone_id: Type.Optional(
    Nullable(Type.String({ maxLength: 64 }), {
      description: 'ID of the zone. If omitted or null, the zone with the longest name that contains the host.',
    }),
  ),
  families: Type.Optional(
    Nullable(Families('Address families of its records.'), {
      description: 'Address families of its records; null for those of the source.',
    }),
  ),
  mode: Type.Optional(
    Words(hostModes, {
      default: 'address',
      description:
        '`address`: the AAAA record has the reported IPv6 address. `prefix`: it has the reported prefix with the lower bits of `suffix6`, for other devices behind the router.',
    }),
  ),
  suffix6: Type.Optional(
    Nullable(
      Type.String({
        maxLength: 45,
        description:
          'Lower bits of the address, such as `::10`, or a MAC address, from which the EUI-64 is derived (RFC 4291, appendix A).',
      }),
      { description: 'Lower bits of the IPv6 address, such as `::10`, or a MAC address. Required with the mode `prefix`.' },
    ),
  ),
  ttl: Type.Optional(
    Nullable(Type.Integer(ttl), { description: 'TTL of its records in seconds; null for the TTL of the source.' }),
  ),
  adopt: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether to replace existing address records at the name, which also requires the `dns.write` permission. If false, such records cause a 409 `record_exists`.',
    }),
  ),
}

export const DynamicIpHostInput = Shape(hostInput, {
  $id: 'DynamicIpHostInput',
  description: 'A name whose address records are set by the source.',
  examples: [{ name: 'home.example.com' }],
})

const hosts = Type.Array(DynamicIpHostInput, {
  maxItems: maxHosts,
  description: 'Names whose address records are set by the source. Each name can have only one source.',
})

const HostProblem = Shape(
  {
    code: Type.String({
      description:
        'Machine-readable reason, such as `zone_gone`, `record_exists`, `already_driven`, `locked`, `dns_rule`, `plan_limit_reached`, or `suffix_too_long`.',
    }),
    detail: Type.String({ description: 'What is wrong, and what to do.' }),
    since_at: Instant({ description: 'Since when the records could not be set.' }),
  },
  { $id: 'DynamicIpHostProblem', description: 'Why the records of a host can’t be set.' },
)

const DynamicIpHost = Shape(
  {
    name: Type.String({ description: 'Fully qualified name, without a trailing dot.' }),
    zone_id: Type.String({ description: 'ID of the zone.' }),
    families: Nullable(Families('Address families of its records.'), {
      description: 'Address families of its records; null for those of the source.',
    }),
    mode: Words(hostModes, { description: 'Whether the AAAA record has the reported address, or one in the reported prefix.' }),
    suffix6: Nullable(Type.String(), { description: 'Lower bits of the IPv6 address, or a MAC address; null if not set.' }),
    ttl: Nullable(Type.Integer(), { description: 'TTL of its records in seconds; null for the TTL of the source.' }),
    adopt: Type.Boolean({ description: 'Whether address records that existed at the name are replaced.' }),
    ipv4: Nullable(Type.String(), { description: 'IPv4 address reported for this host alone; null if none.' }),
    ipv6: Nullable(Type.String(), { description: 'IPv6 address reported for this host alone; null if none.' }),
    records: Type.Array(
      Shape({
        type: Words(['A', 'AAAA'], { description: 'Record type.' }),
        record_id: Type.String({ description: 'ID of the record.' }),
        content: Type.String({ description: 'Address.' }),
        ttl: Type.Integer({ description: 'TTL in seconds.' }),
        synced: Type.Boolean({ description: 'Whether every provider of the zone had the record when last read.' }),
      }),
      { description: 'Its current records.' },
    ),
    problem: Nullable(HostProblem, { description: 'Why its records can’t be set; null if they can.' }),
  },
  { $id: 'DynamicIpHost', description: 'A name whose address records are set by a dynamic IP source.' },
)

const Token = Shape(
  {
    hint: Nullable(Type.String(), { description: 'First and last characters of the token; null if it was revoked.' }),
    created_at: NullableInstant({ description: 'When the token was created; null if it was revoked.' }),
    last_used_at: NullableInstant({ description: 'When the token was last used; null if never.' }),
    previous_valid_until: NullableInstant({
      description: 'Until when the token before the last rotation is valid; null if it is not.',
    }),
  },
  { $id: 'DynamicIpToken', description: 'The token of a dynamic IP source, without its value.' },
)

const clientMembers = {
  client: Type.String({ description: 'Name of the client, from its User-Agent header; empty if unknown.' }),
  user_agent: Nullable(Type.String(), { description: 'User-Agent header, shortened; null if there was none.' }),
  protocol: Type.String({ description: 'Protocol: `dyndns2`, `duckdns`, `dynv6`, or `json`; `api` for a report by the API.' }),
  auth_method: Type.String({
    description: 'How the token was sent: `basic`, `bearer`, `query`, `form`, or `path`; `api` for a report by the API.',
  }),
  address: Nullable(Type.String(), { description: 'IP address of the client; null if unknown.' }),
  https: Type.Boolean({ description: 'Whether the connection was encrypted.' }),
}

const Client = Shape(clientMembers, { $id: 'DynamicIpClient', description: 'The client that sent a report.' })

const addresses = {
  ipv4: Nullable(Type.String(), { description: 'Reported IPv4 address; null if none.' }),
  ipv6: Nullable(Type.String(), { description: 'Reported IPv6 address; null if none.' }),
  prefix6: Nullable(Type.String(), { description: 'Reported or derived IPv6 prefix, such as `2001:db8:1::/56`; null if none.' }),
}

const example = {
  id: 'dip_01k3zd4f6g8h0j2k4m6n8p0q2r',
  name: 'Office router',
  description: '',
  tags: ['office'],
  status: 'fresh',
  status_reason: null,
  families: ['ipv4', 'ipv6'],
  ipv4: '203.0.113.42',
  ipv6: null,
  prefix6: null,
  hosts: [
    {
      name: 'office.example.com',
      zone_id: 'zone_01k3z8q4g7e2wv5m9x0c6hbtfn',
      families: null,
      mode: 'address',
      suffix6: null,
      ttl: null,
      adopt: false,
      ipv4: null,
      ipv6: null,
      records: [{ type: 'A', record_id: 'rec_01k3z8rt5n0p2q4v6x8z1c3e5g', content: '203.0.113.42', ttl: 60, synced: true }],
      problem: null,
    },
  ],
  firewall_links: [],
  ttl: 60,
  stale_after_seconds: 3600,
  prefix_from_ipv6: null,
  allow_private: false,
  require_https: false,
  allowed_cidrs: [],
  token: {
    hint: 'bw_ddns_…7Kq2',
    created_at: '2026-11-21T10:00:00.000Z',
    last_used_at: '2026-11-27T10:00:00.000Z',
    previous_valid_until: null,
  },
  last_seen_at: '2026-11-27T10:00:00.000Z',
  last_changed_at: '2026-11-26T04:11:00.000Z',
  last_client: {
    client: 'ddclient',
    user_agent: 'ddclient/3.10.0',
    protocol: 'dyndns2',
    auth_method: 'basic',
    address: '203.0.113.42',
    https: true,
  },
  version: 3,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-26T04:11:00.000Z',
}

const viewShape = {
  id: Type.String({ description: 'ID of the source.' }),
  ...viewMembers(dynamicIpMembers),
  status: Words(dynamicIpStatuses, {
    description:
      '`new`: no report yet. `fresh`: reporting. `stale`: no report for longer than `stale_after_seconds`. `held`: changes are refused, see `status_reason`. `paused`: reports are stored, but records stay as they are.',
  }),
  status_reason: Nullable(
    Shape(
      {
        code: Words(['two_clients', 'flapping'], {
          description:
            '`two_clients`: two clients with the same token report different addresses one after another. `flapping`: the address changed more than 20 times in an hour.',
        }),
        detail: Type.String({ description: 'What was observed, such as the clients and their addresses.' }),
        since_at: Instant({ description: 'Since when changes are refused.' }),
      },
      { $id: 'DynamicIpHold', description: 'Why changes of a dynamic IP source are refused.' },
    ),
    { description: 'Why the source is held; null if it is not.' },
  ),
  ...addresses,
  hosts: Type.Array(DynamicIpHost, { description: 'Names whose address records are set by the source.' }),
  firewall_links: Type.Array(DynamicIpFirewallLink, { description: 'Firewall rules that follow the address.' }),
  token: Token,
  last_seen_at: NullableInstant({
    description: 'When the last report was received, updated every 10 seconds; null if none was.',
  }),
  last_changed_at: NullableInstant({ description: 'When the reported addresses last changed; null if never.' }),
  last_client: Nullable(Client, { description: 'The client that sent the last report; null if none was received.' }),
  ...editable,
}
export const DynamicIp = Shape(viewShape, {
  $id: 'DynamicIp',
  description: 'A router or client that reports its address, and the names whose DNS records follow it.',
  examples: [example],
})
export const DynamicIpList = ListOf(DynamicIp)

export const DynamicIpWithSecret = Shape(
  {
    ...viewShape,
    secret: Nullable(Type.String(), {
      description: 'The token, to enter in the client. Shown only once; null in replayed responses.',
    }),
    secret_shown_before: Type.Optional(
      Type.Boolean({ description: 'True if the response is replayed for an Idempotency-Key. The secret is then null.' }),
    ),
  },
  {
    $id: 'DynamicIpWithSecret',
    description: 'A dynamic IP source with its new token.',
    examples: [{ ...example, secret: 'bw_ddns_4f6Tq0bWm2Zx8Kc1Vn7Rj3Ls9Hd5Pa1x7Kq2' }],
  },
)

export const DynamicIpInput = Shape(
  { ...inputMembers(dynamicIpMembers), hosts: Type.Optional({ ...hosts, default: [] }) },
  {
    $id: 'DynamicIpInput',
    description: 'A dynamic IP source to create.',
    examples: [{ name: 'Office router', hosts: [{ name: 'office.example.com' }], stale_after_seconds: 3600 }],
  },
)

export const DynamicIpPatch = Shape(
  {
    ...patchMembers(dynamicIpMembers),
    hosts: Type.Optional({
      ...hosts,
      description: `${hosts.description} Replaces the whole list; records of removed names are kept, with the source \`manual\`.`,
    }),
  },
  {
    $id: 'DynamicIpPatch',
    description: 'Fields of a dynamic IP source to update. Null resets a field to its default.',
    examples: [{ ttl: 120 }],
  },
)

const reported = (what: string) => `${what} Null removes it; if omitted, it stays the same.`
export const DynamicIpReport = Shape(
  {
    ipv4: Type.Optional(Nullable(Type.String({ maxLength: 100 }), { description: reported('IPv4 address.') })),
    ipv6: Type.Optional(Nullable(Type.String({ maxLength: 100 }), { description: reported('IPv6 address.') })),
    prefix6: Type.Optional(
      Nullable(Type.String({ maxLength: 100 }), { description: reported('IPv6 prefix, such as `2001:db8:1::/56`.') }),
    ),
  },
  {
    $id: 'DynamicIpReport',
    description: 'Addresses to set, as if the client had reported them.',
    examples: [{ ipv4: '203.0.113.42' }],
  },
)

const maxTokenGraceSeconds = 604_800
export const defaultTokenGraceSeconds = 86_400
export const DynamicIpTokenRotation = Shape(
  {
    grace_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: maxTokenGraceSeconds,
        default: defaultTokenGraceSeconds,
        description: 'Seconds for which the old token stays valid.',
      }),
    ),
  },
  { $id: 'DynamicIpTokenRotation', description: 'How to rotate the token.', examples: [{ grace_seconds: 3600 }] },
)

export const DynamicIpDeletion = Shape({
  records: Type.Optional(
    Words(['keep', 'delete'], {
      default: 'keep',
      description: 'Whether the records of its hosts are kept, with the source `manual`, or deleted.',
    }),
  ),
})

const updateExample = {
  id: 'diu_01k3zd4f6g8h0j2k4m6n8p0q2r',
  at: '2026-11-26T04:11:00.000Z',
  ...example.last_client,
  hosts: ['office.example.com'],
  parameters: { hostname: 'office.example.com', myip: '203.0.113.42' },
  response_lines: ['good 203.0.113.42'],
  changed: true,
  ipv4: '203.0.113.42',
  ipv6: null,
  prefix6: null,
  explanation: 'The IPv4 address changed from 203.0.113.7 to 203.0.113.42.',
}
const DynamicIpUpdate = Shape(
  {
    id: Type.String({ description: 'ID of the entry.' }),
    at: Instant({ description: 'When the report was received.' }),
    ...clientMembers,
    hosts: Type.Array(Type.String(), { description: 'Hosts that the report named; empty if it named none.' }),
    parameters: Type.Record(Type.String(), Type.String(), { description: 'Parameters as sent, with tokens masked.' }),
    response_lines: Type.Array(Type.String(), { description: 'Lines of the response.' }),
    changed: Type.Boolean({ description: 'Whether an address changed.' }),
    ipv4: Nullable(Type.String(), { description: 'IPv4 address after the report; null if none.' }),
    ipv6: Nullable(Type.String(), { description: 'IPv6 address after the report; null if none.' }),
    prefix6: Nullable(Type.String(), { description: 'IPv6 prefix after the report; null if none.' }),
    explanation: Type.String({ description: 'What happened and why, in a sentence.' }),
  },
  { $id: 'DynamicIpUpdate', description: 'A report of a dynamic IP source.', examples: [updateExample] },
)
export const DynamicIpUpdateList = ListOf(DynamicIpUpdate)

export type DynamicIpView = Static<typeof DynamicIp>
export type DynamicIpWithSecretView = Static<typeof DynamicIpWithSecret>
export type DynamicIpInput = Static<typeof DynamicIpInput>
export type DynamicIpPatch = Static<typeof DynamicIpPatch>
export type DynamicIpHostInput = Static<typeof DynamicIpHostInput>
export type DynamicIpHostView = Static<typeof DynamicIpHost>
export type DynamicIpReport = Static<typeof DynamicIpReport>
export type DynamicIpTokenRotation = Static<typeof DynamicIpTokenRotation>
export type DynamicIpDeletion = Static<typeof DynamicIpDeletion>
export type DynamicIpUpdateView = Static<typeof DynamicIpUpdate>
export type DynamicIpClient = Static<typeof Client>
