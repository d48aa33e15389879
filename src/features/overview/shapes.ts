import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Nullable, Shape } from '../../core/shapes'
import { AuditEvent } from '../audit/shapes'
import { syncStates } from '../dns/outline'
import { DnsRecord } from '../dns/record-shapes'
import { Zone } from '../dns/zone-shapes'
import { heartbeatStatuses } from '../heartbeats/outline'
import { Heartbeat } from '../heartbeats/shapes'
import { Incident } from '../incidents/shapes'
import { monitorStatuses } from '../monitors/outline'
import { Notice } from '../notices/shapes'

const number = (description: string) => Type.Integer({ minimum: 0, description })
const total = number('How many there are.')
/** Beyond it nothing is counted. */
const upTo = (description: string) =>
  Type.Integer({ minimum: 0, maximum: 10_000, description: `${description}, counted up to 10,000.` })

const By = <const W extends string>(words: readonly W[], description: string) =>
  Shape(Object.fromEntries(words.map(word => [word, Type.Integer({ minimum: 0 })])) as Record<W, ReturnType<typeof number>>, {
    description,
  })

const Span = Shape({
  id: Type.String({ description: 'Identifier of the window.' }),
  name: Type.String({ description: 'Its name.' }),
  starts_at: Instant({ description: 'When it begins.' }),
  ends_at: Instant({ description: 'When it is over.' }),
  started_by_hand: Type.Boolean({ description: 'Whether somebody started it, beside its schedule.' }),
})

const noStatus = <W extends string>(words: readonly W[], some: Partial<Record<W, number>>) =>
  Object.fromEntries(words.map(word => [word, some[word] ?? 0])) as Record<W, number>

export const Overview = Shape(
  {
    at: Instant({ description: 'When it was so.' }),
    incidents: Nullable(Shape({ total: upTo('Unresolved ones'), data: Type.Array(Incident) }), {
      description: 'The newest twenty incidents that are not resolved.',
    }),
    monitors: Nullable(
      Shape({
        total,
        by_status: By(monitorStatuses, 'How many have each status.'),
        slowest: Type.Array(
          Shape({
            id: Type.String({ description: 'Identifier of the monitor.' }),
            name: Type.String({ description: 'Its name.' }),
            latency_ms: Type.Integer({ minimum: 0, description: 'What its last check took, in milliseconds.' }),
            checked_at: Instant({ description: 'When that was.' }),
          }),
          { description: 'The five of those that are up or degraded that this hub waited for longest, at their last check.' },
        ),
      }),
      { description: 'Monitors.' },
    ),
    heartbeats: Nullable(
      Shape({
        total,
        by_status: By(heartbeatStatuses, 'How many have each status.'),
        overdue: Type.Array(Heartbeat, { description: 'The newest ten that are down or in their grace time.' }),
      }),
      { description: 'Heartbeats.' },
    ),
    channels: Nullable(Shape({ total: upTo('Channels') }), { description: 'Ways by which people are told.' }),
    dns: Nullable(
      Shape({
        zones: Shape({ total, by_state: By(syncStates, 'How many stand so at their providers: `sync.state`.') }),
        records_out_of_sync: upTo('Records that are not synced'),
        unsynced_zones: Type.Array(Zone, { description: 'The newest ten zones that are not synced; `sync` says why.' }),
        unsynced_records: Type.Array(DnsRecord, { description: 'The newest ten records that are not synced; `sync` says why.' }),
      }),
      { description: 'Zones and their records.' },
    ),
    webhooks: Nullable(
      Shape({
        endpoints: Shape({
          total,
          disabled: number('Those that were disabled.'),
          failing: number('Those that are enabled, and took none of the last messages.'),
        }),
        deliveries: Shape({
          failed: Type.Integer({
            minimum: 0,
            maximum: 1_000,
            description: 'Those that were given up within the last 24 hours, counted up to 1,000.',
          }),
          retrying: upTo('Those that wait for another try'),
        }),
      }),
      { description: 'Endpoints and deliveries.' },
    ),
    certificates: Nullable(
      Shape({
        total: upTo('Those of them all'),
        data: Type.Array(
          Shape({
            monitor_id: Type.String({ description: 'The monitor whose check saw it.' }),
            name: Type.String({ description: 'Name of the monitor.' }),
            target: Type.String({ description: 'What the monitor checks.' }),
            expires_at: Instant({ description: 'When the first certificate of its chain ends.' }),
          }),
        ),
      }),
      { description: 'Certificates that checks saw last and that end within 30 days or have ended, the first twenty.' },
    ),
    tokens: Nullable(
      Shape({
        total,
        data: Type.Array(
          Shape({
            id: Type.String({ description: 'Identifier.' }),
            name: Type.String({ description: 'Its name.' }),
            hint: Type.String({ description: 'How it begins and ends.' }),
            expires_at: Instant({ description: 'When it stops working.' }),
            rotated_to: Nullable(Type.String(), { description: 'The token that took its place.' }),
          }),
        ),
      }),
      { description: 'Tokens that stop working within 30 days, the first twenty.' },
    ),
    members: Nullable(Shape({ total: upTo('Members') }), { description: 'People who belong to the workspace.' }),
    invitations: Nullable(Shape({ pending: upTo('Those that can be accepted') }), { description: 'Invitations.' }),
    notices: Nullable(Shape({ total: upTo('Unread ones'), data: Type.Array(Notice) }), {
      description: 'The newest twenty unread notices.',
    }),
    maintenance: Nullable(
      Shape({
        in_force: Type.Array(Span, { description: 'Those in force, the first to end in front.' }),
        next: Type.Array(Span, { description: 'The next occurrences, of five windows at most.' }),
      }),
      { description: 'Maintenance windows.' },
    ),
    changes: Nullable(Type.Array(AuditEvent), {
      description:
        'What people and tokens did last, newest first: the newest twenty such entries among the last 500 of the audit log.',
    }),
  },
  {
    $id: 'Overview',
    description: 'How a workspace stands. A part that the caller may not read is null.',
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
        channels: { total: 1 },
        dns: {
          zones: { total: 3, by_state: noStatus(syncStates, { synced: 2, drifted: 1 }) },
          records_out_of_sync: 2,
          unsynced_zones: [],
          unsynced_records: [],
        },
        webhooks: { endpoints: { total: 1, disabled: 0, failing: 0 }, deliveries: { failed: 0, retrying: 1 } },
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
        tokens: {
          total: 1,
          data: [
            {
              id: 'tok_01jd8f3q7eeb9bv0w0r8c7hq2m',
              name: 'deploy',
              hint: 'bw_live_3kQ…x9Za',
              expires_at: '2026-11-28T10:00:00.000Z',
              rotated_to: null,
            },
          ],
        },
        members: { total: 3 },
        invitations: { pending: 1 },
        notices: { total: 0, data: [] },
        maintenance: {
          in_force: [],
          next: [
            {
              id: 'mw_01jd8f3q7eeb9bv0w0r8c7hq2m',
              name: 'Database upgrades',
              starts_at: '2026-11-28T22:00:00.000Z',
              ends_at: '2026-11-29T00:00:00.000Z',
              started_by_hand: false,
            },
          ],
        },
        changes: null,
      },
    ],
  },
)
export type OverviewView = Static<typeof Overview>
