import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape } from '../../core/shapes'
import { AuditEvent } from '../audit/shapes'
import { Level } from '../certificates/shapes'
import { gapSeverities } from '../coverage/kinds'
import { syncStates, Zone } from '../dns/zones/shapes'
import { DnsRecord } from '../dns/records/shapes'
import { DynamicIp, dynamicIpStatuses } from '../dynamic-ips/shapes'
import { agentStates } from '../servers/agents/shapes'
import { Server, serverHealths } from '../servers/shapes'
import { heartbeatStatuses, Heartbeat } from '../heartbeats/shapes'
import { Incident } from '../incidents/shapes'
import { monitorStatuses } from '../monitors/shapes'
import { gradeLetter } from '../tls-endpoints/grades/shapes'
import { Notice } from '../notices/shapes'

const number = (description: string) => Type.Integer({ minimum: 0, description })
/** Counting stops at the maximum. */
const upTo = (noun: string) =>
  Type.Integer({ minimum: 0, maximum: 10_000, description: `Number of ${noun}, counted up to 10,000.` })

const By = <const W extends string>(words: readonly W[], noun: string, description: string) =>
  Shape(
    Object.fromEntries(
      words.map(word => [word, Type.Integer({ minimum: 0, description: `Number of ${noun} \`${word}\`.` })]),
    ) as Record<W, ReturnType<typeof number>>,
    {
      description,
    },
  )

const Span = Shape({
  id: Type.String({ description: 'ID of the maintenance window.' }),
  name: Type.String({ description: 'Name of the maintenance window.' }),
  starts_at: Instant({ description: 'Start of the occurrence.' }),
  ends_at: Instant({ description: 'End of the occurrence.' }),
  started_manually: Type.Boolean({
    description: 'Whether the occurrence was started manually, outside the schedule of the window.',
  }),
})

const noStatus = <W extends string>(words: readonly W[], some: Partial<Record<W, number>>) =>
  Object.fromEntries(words.map(word => [word, some[word] ?? 0])) as Record<W, number>

export const Overview = Shape(
  {
    at: Instant({ description: 'When the overview was generated.' }),
    incidents: Nullable(Shape({ total: upTo('unresolved incidents'), data: Type.Array(Incident) }), {
      description: 'Unresolved incidents, newest first, up to 20.',
    }),
    monitors: Nullable(
      Shape({
        total: number('Number of monitors.'),
        by_status: By(monitorStatuses, 'monitors with the status', 'Number of monitors by status.'),
        slowest: Type.Array(
          Shape({
            id: Type.String({ description: 'ID of the monitor.' }),
            name: Type.String({ description: 'Name of the monitor.' }),
            latency_ms: Type.Integer({ minimum: 0, description: 'Duration of the last check in milliseconds.' }),
            checked_at: Instant({ description: 'When the last check started.' }),
          }),
          {
            description: 'The 5 monitors with the slowest last check, out of those that are up or degraded and run by this hub.',
          },
        ),
      }),
      { description: 'Monitor statuses, and the slowest monitors.' },
    ),
    heartbeats: Nullable(
      Shape({
        total: number('Number of heartbeats.'),
        by_status: By(heartbeatStatuses, 'heartbeats with the status', 'Number of heartbeats by status.'),
        overdue: Type.Array(Heartbeat, {
          description: 'Heartbeats that are down or in their grace period, most recently created first, up to 10.',
        }),
      }),
      { description: 'Heartbeat statuses, and overdue heartbeats.' },
    ),
    channels: Nullable(
      Shape({
        total: number('Number of channels.'),
        disabled: number('Number of disabled channels.'),
        failing: number('Number of active channels whose last attempt failed.'),
      }),
      { description: 'Number of notification channels.' },
    ),
    dns: Nullable(
      Shape({
        zones: Shape(
          {
            total: number('Number of zones.'),
            by_state: By(syncStates, 'zones with the sync state', 'Number of zones by sync state (`sync.state`).'),
          },
          { description: 'Number of zones.' },
        ),
        records_out_of_sync: upTo('records that are out of sync'),
        unsynced_zones: Type.Array(Zone, {
          description: 'Zones that are out of sync, most recently created first, up to 10; `sync` contains the reason.',
        }),
        unsynced_records: Type.Array(DnsRecord, {
          description: 'Records that are out of sync, most recently created first, up to 10; `sync` contains the reason.',
        }),
      }),
      { description: 'DNS zones and records.' },
    ),
    dynamic_ips: Nullable(
      Shape({
        total: number('Number of dynamic IP sources.'),
        by_status: By(dynamicIpStatuses, 'dynamic IP sources with the status', 'Number of dynamic IP sources by status.'),
        failing: Type.Array(DynamicIp, {
          description: 'Sources that are stale or held, or have a host with a problem, most recently created first, up to 10.',
        }),
      }),
      { description: 'Dynamic IP sources.' },
    ),
    servers: Nullable(
      Shape({
        total: number('Number of servers.'),
        by_health: By(serverHealths, 'servers with the health', 'Number of servers by health.'),
        failing: Type.Array(Server, {
          description: 'Servers that are down, no longer exist at their cloud, or whose last action failed, by name, up to 10.',
        }),
        filling: Type.Array(
          Shape({
            server_id: Type.String({ description: 'ID of the server.' }),
            name: Type.String({ description: 'Name of the server.' }),
            path: Type.String({ description: 'Where the file system is mounted.' }),
            used_percent: Type.Number({ minimum: 0, description: 'How much of it is used, in percent.' }),
            hours_left: Nullable(Type.Number({ minimum: 0 }), {
              description:
                'Hours until it is full if it continues to fill as in the last 24 hours. Null if that is unknown, or if it doesn’t fill.',
            }),
          }),
          {
            description:
              'File systems of servers with agents that are more than 90% full, or more than half full and full within a day, the fullest first, up to 10. Up to 200 servers are checked, once a minute.',
          },
        ),
        agents: Shape(
          {
            by_state: By(agentStates, 'agents with the state', 'Number of agents by state.'),
            silent: Type.Array(
              Shape({
                id: Type.String({ description: 'ID of the agent.' }),
                server_id: Type.String({ description: 'ID of its server.' }),
                name: Type.String({ description: 'Name of its server.' }),
                silent_since_at: NullableInstant({ description: 'Since when it is silent.' }),
              }),
              { description: 'Silent agents whose servers are not down, by name, up to 10.' },
            ),
          },
          { description: 'Agents.' },
        ),
      }),
      { description: 'Servers.' },
    ),
    spend: Nullable(
      Type.Array(
        Shape(
          {
            account_id: Type.String({ description: 'ID of the cloud account.' }),
            name: Type.String({ description: 'Name of the cloud account.' }),
            monthly: Type.String({ description: 'Total price per month of its servers.' }),
            currency: Nullable(Type.String(), { description: 'Currency; null if nothing has a price yet.' }),
            monthly_cap: Nullable(Type.String(), { description: 'Spending cap per month; null if there is none.' }),
          },
          { $id: 'CloudAccountCost', description: 'What a cloud account costs.' },
        ),
      ),
      { description: 'Cost of the cloud accounts with prices.' },
    ),
    webhooks: Nullable(
      Shape({
        endpoints: Shape(
          {
            total: number('Number of endpoints.'),
            disabled: number('Number of disabled endpoints.'),
            inactive: number('Number of inactive endpoints that are not disabled.'),
            failing: number('Number of active endpoints whose most recent deliveries all failed.'),
          },
          { description: 'Number of endpoints.' },
        ),
        deliveries: Shape(
          {
            failed: Type.Integer({
              minimum: 0,
              maximum: 1_000,
              description: 'Number of deliveries that failed permanently in the last 24 hours, counted up to 1,000.',
            }),
            retrying: upTo('deliveries waiting for a retry'),
          },
          { description: 'Number of failed and retrying deliveries.' },
        ),
      }),
      { description: 'Webhook endpoints and deliveries.' },
    ),
    certificates: Nullable(
      Shape({
        total: upTo('certificates that have expired or expire within 30 days'),
        data: Type.Array(
          Shape({
            monitor_id: Type.String({ description: 'ID of the monitor that checked the certificate.' }),
            name: Type.String({ description: 'Name of the monitor.' }),
            target: Type.String({ description: 'Target of the monitor.' }),
            expires_at: Instant({ description: 'Earliest expiry date in the certificate chain.' }),
          }),
        ),
      }),
      { description: 'Certificates that have expired or expire within 30 days, as seen by the latest checks, up to 20.' },
    ),
    posture: Nullable(
      Shape({
        expiring: Shape(
          {
            total: upTo('certificates in use that have to be replaced'),
            data: Type.Array(
              Shape({
                id: Type.String({ description: 'ID of the certificate.' }),
                name: Type.String({ description: 'Common name, or the first other name.' }),
                level: Level('How urgent it is.'),
                expires_at: Instant({ description: 'End of the validity period.' }),
                renewal_overdue: Type.Boolean({ description: 'Whether an automatic renewal should have replaced it already.' }),
              }),
            ),
          },
          { description: 'Certificates in use that have to be replaced, the first to expire first, up to 20.' },
        ),
        gaps: Shape(
          {
            total: number('Number of open gaps.'),
            by_severity: By(gapSeverities, 'open gaps with the severity', 'Number of open gaps by severity.'),
          },
          { description: 'Open certificate gaps.' },
        ),
        grades: Type.Array(Shape({ grade: gradeLetter, count: number('Number of TLS endpoints.') }), {
          description: 'TLS endpoints by grade, the best grade first. Grades that no endpoint has are left out.',
        }),
      }),
      { description: 'The state of the certificates.' },
    ),
    tokens: Nullable(
      Shape({
        total: number('Number of tokens that expire within 30 days.'),
        data: Type.Array(
          Shape({
            id: Type.String({ description: 'ID of the token.' }),
            name: Type.String({ description: 'Name of the token.' }),
            hint: Type.String({ description: 'Masked form of the token.' }),
            expires_at: Instant({ description: 'When the token expires.' }),
            rotated_to: Nullable(Type.String(), { description: 'ID of the token that replaces it; null if none.' }),
          }),
        ),
      }),
      { description: 'Tokens that expire within 30 days, up to 20.' },
    ),
    members: Nullable(Shape({ total: upTo('members') }), { description: 'Members of the workspace.' }),
    invitations: Nullable(Shape({ pending: upTo('pending invitations') }), { description: 'Invitations.' }),
    notices: Nullable(Shape({ total: upTo('unread notices'), data: Type.Array(Notice) }), {
      description: 'Unread notices, newest first, up to 20.',
    }),
    maintenance: Nullable(
      Shape({
        active: Type.Array(Span, { description: 'Active occurrences, ordered by end time.' }),
        upcoming: Type.Array(Span, { description: 'Next occurrences of up to 5 maintenance windows.' }),
      }),
      { description: 'Active and upcoming maintenance.' },
    ),
    changes: Nullable(Type.Array(AuditEvent), {
      description: 'Recent changes by users and tokens, newest first: up to 20 out of the last 500 audit events.',
    }),
  },
  {
    $id: 'Overview',
    description: 'The state of a workspace. Sections you don’t have permission to read are null.',
    examples: [
      {
        at: '2026-11-21T10:00:00.000Z',
        incidents: { total: 0, data: [] },
        monitors: {
          total: 12,
          by_status: noStatus(monitorStatuses, { up: 11, down: 1 }),
          slowest: [
            { id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m', name: 'Shop', latency_ms: 812, checked_at: '2026-11-21T09:59:30.000Z' },
          ],
        },
        heartbeats: { total: 4, by_status: noStatus(heartbeatStatuses, { up: 4 }), overdue: [] },
        channels: { total: 1, disabled: 0, failing: 0 },
        dns: {
          zones: { total: 3, by_state: noStatus(syncStates, { synced: 2, drifted: 1 }) },
          records_out_of_sync: 2,
          unsynced_zones: [],
          unsynced_records: [],
        },
        dynamic_ips: { total: 1, by_status: noStatus(dynamicIpStatuses, { fresh: 1 }), failing: [] },
        servers: {
          total: 1,
          by_health: noStatus(serverHealths, { up: 1 }),
          failing: [],
          filling: [
            {
              server_id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
              name: 'db-1',
              path: '/var/lib/postgresql',
              used_percent: 93.4,
              hours_left: 11.5,
            },
          ],
          agents: { by_state: noStatus(agentStates, { reporting: 1 }), silent: [] },
        },
        spend: [
          {
            account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km',
            name: 'Hetzner production',
            monthly: '13.53',
            currency: 'EUR',
            monthly_cap: '50.00',
          },
        ],
        webhooks: { endpoints: { total: 1, disabled: 0, inactive: 0, failing: 0 }, deliveries: { failed: 0, retrying: 1 } },
        certificates: {
          total: 1,
          data: [
            {
              monitor_id: 'mon_01jd8f3q7eeb9bv0w0r8c7hq2m',
              name: 'Shop',
              target: 'https://shop.example.com/',
              expires_at: '2026-12-05T00:00:00.000Z',
            },
          ],
        },
        posture: {
          expiring: {
            total: 1,
            data: [
              {
                id: 'cert_01k3zc1d3e5f7g9h1j3k5m7n9p',
                name: 'shop.example.com',
                level: 'critical',
                expires_at: '2026-12-02T00:00:00.000Z',
                renewal_overdue: true,
              },
            ],
          },
          gaps: { total: 3, by_severity: { critical: 0, high: 1, medium: 0, low: 2, info: 0 } },
          grades: [
            { grade: 'A+', count: 4 },
            { grade: 'B', count: 1 },
          ],
        },
        tokens: {
          total: 1,
          data: [
            {
              id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m',
              name: 'deploy',
              hint: 'bw_live_…7Kq2',
              expires_at: '2026-11-28T10:00:00.000Z',
              rotated_to: null,
            },
          ],
        },
        members: { total: 3 },
        invitations: { pending: 1 },
        notices: { total: 0, data: [] },
        maintenance: {
          active: [],
          upcoming: [
            {
              id: 'mw_01jd8f3q7eeb9bv0w0r8c7hq2m',
              name: 'Database upgrades',
              starts_at: '2026-11-28T22:00:00.000Z',
              ends_at: '2026-11-29T00:00:00.000Z',
              started_manually: false,
            },
          ],
        },
        changes: null,
      },
    ],
  },
)
export type OverviewView = Static<typeof Overview>
