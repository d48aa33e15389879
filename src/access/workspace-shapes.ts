import type { Static, TSchema, TUnsafe } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { editable, Line, ListOf, MaybeInstant, Nullable, Shape, Words } from '../core/shapes'

const Limit = (description: string) => Nullable(Type.Integer({ minimum: 0 }), { description })
/** Every limit there is. */
export const limits = {
  requests_per_minute_per_token: Limit('API requests a minute with one token.'),
  requests_per_hour_per_workspace: Limit('API requests an hour with all tokens together.'),
  webhook_endpoints: Limit('Webhook endpoints.'),
  deliveries_per_minute: Limit('Tries of webhook deliveries a minute; what is above waits.'),
  tokens: Limit('API tokens that are not revoked.'),
  heartbeats: Limit('Heartbeats.'),
  dns_zones: Limit('DNS zones.'),
  dns_records: Limit('DNS records in one zone.'),
  concurrent_requests_per_token: Limit('API requests under way at once with one token.'),
  delivery_log_days: Limit('Days the delivery log is kept.'),
  event_feed_days: Limit('Days the event feed is kept.'),
  audit_days: Limit('Days the audit log is kept.'),
  dns_history_days: Limit('Days the changes of a DNS zone are kept; its last 1,000 stay.'),
  monitors: Limit('Monitors.'),
  monitor_interval_seconds: Limit(
    'The shortest interval of a monitor, in seconds: the other limits are a most, this is a least.',
  ),
  monitor_results_days: Limit('Days the single results of checks are kept.'),
  incident_days: Limit('Days resolved incidents are kept.'),
}
export type LimitName = keyof typeof limits
export const limitNames = Object.keys(limits) as LimitName[]

export const Plan = Shape(
  {
    id: Type.String({ description: 'Identifier, such as `free`.' }),
    title: Type.String({ description: 'Name for people.' }),
    api_access: Words(['none', 'read', 'full'], { description: 'What tokens of its workspaces may do.' }),
    limits: Shape(limits, { description: 'Limits; null is none.' }),
    default: Type.Boolean({ description: 'Whether new workspaces get it.' }),
    ...editable,
  },
  {
    $id: 'Plan',
    description: 'What a workspace may use.',
    examples: [
      {
        id: 'free',
        title: 'Free',
        api_access: 'read',
        default: true,
        limits: {
          requests_per_minute_per_token: 60,
          requests_per_hour_per_workspace: 1000,
          webhook_endpoints: 2,
          deliveries_per_minute: 120,
          tokens: 5,
          heartbeats: 20,
          dns_zones: 3,
          dns_records: 500,
          concurrent_requests_per_token: 20,
          delivery_log_days: 7,
          event_feed_days: 7,
          audit_days: 30,
          dns_history_days: 365,
          monitors: 20,
          monitor_interval_seconds: 60,
          monitor_results_days: 7,
          incident_days: 365,
        },
        version: 1,
        created_at: '2026-11-21T10:00:00.000Z',
        updated_at: '2026-11-21T10:00:00.000Z',
      },
    ],
  },
)
export const PlanList = Shape({ data: Type.Array(Plan) }, { $id: 'PlanList', description: 'Every plan.' })
export type PlanView = Static<typeof Plan>

const name = Line({ minLength: 1, maxLength: 100, description: 'Name, unique in this installation.' })
const plan = Type.String({ minLength: 1, maxLength: 100, description: 'Id of its plan.' })
const network_policy = Shape(
  {
    allow_private: Type.Boolean({
      description: 'Whether calls on its behalf may reach private and loopback addresses, over plain HTTP too.',
    }),
    allow_ranges: Type.Array(Type.String({ maxLength: 255 }), {
      maxItems: 100,
      uniqueItems: true,
      description: 'CIDR ranges, addresses and host names that may be reached besides.',
    }),
  },
  { description: 'Where calls on its behalf may go.' },
)

const overriding = <T>(form: TSchema, description: string) =>
  Shape(Object.fromEntries(limitNames.map(one => [one, Type.Optional(form)])), { description }) as unknown as TUnsafe<
    Partial<Record<LimitName, T>>
  >
const override = [Type.Integer({ minimum: 0 }), Type.Literal('unlimited')]
const limit_overrides = overriding<number | 'unlimited'>(
  Type.Union(override, { description: 'The limit, or `unlimited`.' }),
  'Limits that differ from the plan’s.',
)
const limit_overrides_patch = overriding<number | 'unlimited' | null>(
  Type.Union([...override, Type.Null()], { description: 'The limit, or `unlimited`; null is the plan’s.' }),
  'Limits that are to differ from the plan’s.',
)

const example = {
  id: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
  name: 'acme',
  plan: 'pro',
  operator: false,
  network_policy: { allow_private: false, allow_ranges: [] },
  limit_overrides: { heartbeats: 2000 },
  suspended_at: null,
  suspension_reason: null,
  version: 1,
  created_at: '2026-11-21T10:00:00.000Z',
  updated_at: '2026-11-21T10:00:00.000Z',
}
export const Workspace = Shape(
  {
    id: Type.String({ description: 'Identifier.' }),
    name,
    plan,
    operator: Type.Boolean({ description: 'Whether it is the operator’s own.' }),
    network_policy,
    limit_overrides,
    suspended_at: MaybeInstant({ description: 'Since when the operator keeps everybody out; null while it is not suspended.' }),
    suspension_reason: Nullable(Type.String(), { description: 'What those who are kept out are told.' }),
    ...editable,
  },
  { $id: 'Workspace', description: 'What owns everything of one customer.', examples: [example] },
)
export const WorkspaceList = ListOf(Workspace)
export const WorkspaceInput = Shape(
  { name, plan: Type.Optional(plan) },
  { $id: 'WorkspaceInput', description: 'A workspace to make.', examples: [{ name: 'acme', plan: 'pro' }] },
)
export const WorkspacePatch = Shape(
  {
    name: Type.Optional(name),
    plan: Type.Optional(plan),
    network_policy: Type.Optional(network_policy),
    limit_overrides: Type.Optional(limit_overrides_patch),
  },
  {
    $id: 'WorkspacePatch',
    description: 'What of a workspace is to change. The network policy is replaced whole, the overrides are merged.',
    examples: [
      { network_policy: { allow_private: false, allow_ranges: ['192.0.2.0/24'] }, limit_overrides: { heartbeats: 2000 } },
    ],
  },
)
export const Suspension = Shape(
  {
    reason: Type.Optional(
      Nullable(Line({ minLength: 1, maxLength: 300, description: 'Why.' }), {
        description: 'What those who are kept out are told.',
      }),
    ),
  },
  { $id: 'Suspension', description: 'Why a workspace is suspended.', examples: [{ reason: 'The invoice of October is open.' }] },
)
export type WorkspaceView = Static<typeof Workspace>
export type WorkspaceInput = Static<typeof WorkspaceInput>
export type WorkspacePatch = Static<typeof WorkspacePatch>
