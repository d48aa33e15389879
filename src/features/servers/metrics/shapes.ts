import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Instant, Nullable, NullableInstant, Shape, Words } from '../../../core/shapes'
import { metricSources, serverMetricTypes, units } from './names'

export const maxPoints = 500
const maxServers = 100

const time = (description: string) => Type.Optional(Type.String({ format: 'date-time', description }))

export const ServerMetricsQuery = Type.Object(
  {
    type: Type.Optional(
      Type.Array(Words(serverMetricTypes), {
        minItems: 1,
        maxItems: serverMetricTypes.length,
        uniqueItems: true,
        description: 'Only metrics of these types. Default: all.',
      }),
    ),
    device: Type.Optional(Type.String({ maxLength: 100, description: 'Only metrics of this device, such as a sensor.' })),
    from: time('Start of the window. Default: 24 hours before `to`.'),
    to: time('End of the window. Default: now.'),
    step: Type.Optional(
      Type.String({
        pattern: '^(auto|[1-9][0-9]{1,7})$',
        'x-rule': 'must be `auto` or a number of seconds, at least 60.',
        description:
          `Seconds per point, or \`auto\` (default) to choose a step that fits the window. At most ${maxPoints} points. Must be a multiple of 60; of 600 if the window starts more than 2 days ago, ` +
          'of 3600 if more than 14 days, and of 21600 if more than 90 days.',
      }),
    ),
    source: Type.Optional(
      Words(['auto', ...metricSources], {
        description: 'Only metrics from this source, or `auto` (default) for the best source of each metric.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type ServerMetricsQuery = Static<typeof ServerMetricsQuery>

const Source = Words(metricSources, {
  description: 'Who measured: the agent of the server, its cloud, or its management controller (`bmc`).',
})
const Values = (description: string) =>
  Type.Array(Nullable(Type.Number()), { maxItems: maxPoints, description: `${description} per point; null where unknown.` })

const ServerMetric = Shape(
  {
    name: Type.String({ description: 'Name of the metric, such as `cpu.used_percent`.' }),
    device: Nullable(Type.String(), { description: 'Device that was measured, such as a sensor; null for the whole server.' }),
    unit: Words(units, {
      description: 'Unit of the values. `other`: the agent is newer than the hub, and the unit of this metric is not known.',
    }),
    source: Source,
    avg: Values('Average'),
    max: Values('Maximum'),
  },
  { $id: 'ServerMetric', description: 'One metric of a server, as values on a regular grid of times.' },
)

export const ServerMetrics = Shape(
  {
    from_at: Instant({ description: 'Start of the first point.' }),
    to_at: Instant({ description: 'End of the window.' }),
    step_seconds: Type.Integer({ minimum: 60, description: 'Seconds per point.' }),
    sources: Type.Array(
      Shape(
        {
          source: Source,
          last_at: NullableInstant({ description: 'When it last measured; null if not known.' }),
          stale: Type.Boolean({ description: 'Whether it has not measured for too long.' }),
        },
        { $id: 'ServerMetricSourceStatus', description: 'A source of metrics, and how old its last measurement is.' },
      ),
      { description: 'Where metrics of this server come from. Empty if nothing measures it.' },
    ),
    series: Type.Array(ServerMetric, { description: 'The metrics, ordered by name and device.' }),
  },
  {
    $id: 'ServerMetrics',
    description: 'Metrics of a server on a regular grid of times.',
    examples: [
      {
        from_at: '2026-11-21T09:57:00.000Z',
        to_at: '2026-11-21T10:00:00.000Z',
        step_seconds: 60,
        sources: [{ source: 'cloud', last_at: '2026-11-21T09:59:00.000Z', stale: false }],
        series: [
          {
            name: 'cpu.used_percent',
            device: null,
            unit: 'percent',
            source: 'cloud',
            avg: [12.5, null, 18.25],
            max: [31, null, 22],
          },
        ],
      },
    ],
  },
)
export type ServerMetricsView = Static<typeof ServerMetrics>

export const VolumeMetricsQuery = Type.Pick(ServerMetricsQuery, ['from', 'to', 'step'], { additionalProperties: false })
export type VolumeMetricsQuery = Static<typeof VolumeMetricsQuery>

export const VolumeMetrics = Shape(ServerMetrics.properties, {
  $id: 'VolumeMetrics',
  description: 'Metrics of a volume on a regular grid of times.',
  examples: [
    {
      from_at: '2026-11-21T09:50:00.000Z',
      to_at: '2026-11-21T10:00:00.000Z',
      step_seconds: 300,
      sources: [{ source: 'cloud', last_at: '2026-11-21T09:58:00.000Z', stale: false }],
      series: [
        {
          ...{ name: 'volume.used_bytes', device: null, unit: 'bytes', source: 'cloud' },
          ...{ avg: [7_300_000_000, 7_310_000_000], max: [7_300_000_000, 7_310_000_000] },
        },
      ],
    },
  ],
})

export const FirewallMetricsQuery = Type.Object(
  {
    ...VolumeMetricsQuery.properties,
    server_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Only metrics of this server.' })),
  },
  { additionalProperties: false },
)
export type FirewallMetricsQuery = Static<typeof FirewallMetricsQuery>

export const FirewallMetrics = Shape(ServerMetrics.properties, {
  $id: 'FirewallMetrics',
  description: 'Metrics of a firewall on a regular grid of times.',
  examples: [
    {
      from_at: '2026-11-21T09:58:00.000Z',
      to_at: '2026-11-21T10:00:00.000Z',
      step_seconds: 60,
      sources: [{ source: 'agent', last_at: '2026-11-21T09:59:00.000Z', stale: false }],
      series: [
        {
          ...{ name: 'firewall.accepted_packets_per_second', device: 'https srv_01k3z9a1b2c3d4e5f6g7h8j9km' },
          ...{ unit: 'packets_per_second', source: 'agent', avg: [12.5, 14], max: [12.5, 14] },
        },
      ],
    },
  ],
})

export const LatestQuery = Type.Object(
  {
    ids: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
      minItems: 1,
      maxItems: maxServers,
      uniqueItems: true,
      description: 'IDs of the servers to return.',
    }),
  },
  { additionalProperties: false },
)
export type LatestQuery = Static<typeof LatestQuery>

const Latest = (description: string) => Nullable(Type.Number({ minimum: 0 }), { description: `${description}; null if unknown.` })

export const ServerLatestList = Shape(
  {
    data: Type.Array(
      Shape(
        {
          id: Type.String({ description: 'ID of the server.' }),
          at: NullableInstant({ description: 'When it was last measured; null if not within the last 5 minutes.' }),
          cpu_percent: Latest('Use of all cores in percent'),
          cpu_last_hour_percent: Latest('Average use of all cores over the last hour in percent'),
          load: Latest('Load average over a minute, as the agent reports it'),
          load_last_hour: Latest('Average load over the last hour'),
          memory_used_bytes: Latest('Used memory in bytes'),
          memory_used_percent: Latest('Used memory in percent'),
          disk_used_percent: Latest('Used space of the fullest file system in percent, as the agent reports it'),
          disk_path: Nullable(Type.String(), { description: 'Where that file system is mounted; null if unknown.' }),
          network_received_bytes_per_second: Latest('Bytes received per second'),
          network_sent_bytes_per_second: Latest('Bytes sent per second'),
        },
        { $id: 'ServerLatest', description: 'Current resource usage of a server: averages over the last 5 minutes.' },
      ),
      { maxItems: maxServers, description: 'The servers that exist, in the order of `ids`.' },
    ),
  },
  {
    $id: 'ServerLatestList',
    description: 'Current resource usage of the requested servers.',
    examples: [
      {
        data: [
          {
            id: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km',
            at: '2026-11-21T09:59:00.000Z',
            cpu_percent: 12.5,
            cpu_last_hour_percent: 18.2,
            load: 0.42,
            load_last_hour: 0.61,
            memory_used_bytes: 1_610_612_736,
            memory_used_percent: 37.5,
            disk_used_percent: 71.4,
            disk_path: '/srv',
            network_received_bytes_per_second: 48_200,
            network_sent_bytes_per_second: 112_000,
          },
        ],
      },
    ],
  },
)
export type ServerLatestView = Static<typeof ServerLatestList>['data'][number]
