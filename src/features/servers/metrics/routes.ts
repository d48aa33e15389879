import { area, route } from '../../../api/route'
import { readFirewallMetrics, readLatest, readMetrics, readVolumeMetrics } from './read'
import {
  FirewallMetrics,
  FirewallMetricsQuery,
  LatestQuery,
  ServerLatestList,
  ServerMetrics,
  ServerMetricsQuery,
  VolumeMetrics,
  VolumeMetricsQuery,
} from './shapes'

const guard = 'cloud.read'

export const serverMetricRoutes = area('server-metrics', 'Servers and cloud', [
  route({
    method: 'GET',
    path: '/v1/servers/latest',
    guard,
    operationId: 'listLatestServerMetrics',
    summary: 'List the latest metrics of servers',
    description:
      'Returns the CPU, memory, disk, and network use of up to 100 servers, for use in lists. Values of clouds that keep metrics themselves are not included; read those with `/v1/servers/{id}/metrics`.',
    query: LatestQuery,
    response: ServerLatestList,
    run: (ctx, { query }) => readLatest(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/servers/:id/metrics',
    guard,
    operationId: 'getServerMetrics',
    summary: 'Get metrics of a server',
    description:
      'Returns metrics of a server on a regular grid, with an average and a maximum for each point, and where they come from. Stored metrics have points of 1 minute for 2 days, 10 minutes for 14 days, ' +
      '1 hour for 90 days, and 6 hours for 730 days, but not for longer than the plan allows (`server_metrics_days`). Metrics that the cloud keeps itself are requested from it.',
    query: ServerMetricsQuery,
    response: ServerMetrics,
    problems: ['provider_failed'],
    run: (ctx, { params, query }) => readMetrics(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/volumes/:id/metrics',
    guard,
    operationId: 'getVolumeMetrics',
    summary: 'Get metrics of a volume',
    description:
      'Returns how much space of a volume was used (`volume.used_bytes`), and its size (`volume.size_bytes`), on a regular grid. While it is mounted on a server with an agent, the agent also measures its inodes and how busy its disk is. Otherwise, the cloud may report the space. They are stored as those of servers.',
    query: VolumeMetricsQuery,
    response: VolumeMetrics,
    run: (ctx, { params, query }) => readVolumeMetrics(ctx, params.id!, query),
  }),
  route({
    method: 'GET',
    path: '/v1/firewalls/:id/metrics',
    guard,
    operationId: 'getFirewallMetrics',
    summary: 'Get metrics of a firewall',
    description:
      'Returns how many packets per second each rule accepted (`firewall.accepted_packets_per_second`; `device` has the rule and the server), and how many were dropped on each server because no rule of its firewalls accepts them (`firewall.dropped_packets_per_second`; `device` has the server). ' +
      'Only servers whose agent enforces the firewall count packets: clouds report none, and `sources` is empty without such servers. Returns metrics of up to 20 servers; select one with `server_id`. They are stored as those of servers.',
    query: FirewallMetricsQuery,
    response: FirewallMetrics,
    run: (ctx, { params, query }) => readFirewallMetrics(ctx, params.id!, query),
  }),
])
