import { area, route } from '../../access/route'
import { mediaTypeOf } from '../../access/request-body'
import { exportExamples, exportMonitoring } from './exchange/export'
import { importMonitoring } from './exchange/import'
import { ExportQuery, ImportQuery, MonitoringDocument, MonitoringImported, mostImported } from './exchange/shapes'
import { metricsExamples, monitoringMetrics } from './metrics/monitoring-metrics'

export const monitoringRoutes = area('monitoring', 'Monitors', [
  route({
    method: 'GET',
    path: '/v1/monitoring/export',
    guard: 'monitoring.read',
    operationId: 'exportMonitoring',
    summary: 'Export what is watched',
    description:
      'All monitors and maintenance windows of the workspace as one document that the import takes: each is named by its key, or its id where it has none. ' +
      'Secrets stand as `${secret:…}`.',
    query: ExportQuery,
    streams: exportExamples,
    run: (ctx, { query }) => exportMonitoring(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitoring/metrics',
    guard: 'monitoring.read',
    operationId: 'monitoringMetrics',
    summary: 'Metrics of what is watched',
    description:
      'Monitors and heartbeats of the workspace in Prometheus’ text format 0.0.4, by the names of blackbox_exporter and Healthchecks. ' +
      'Figures of the last check are of those that the hub which answers runs itself.',
    streams: metricsExamples,
    run: ctx => monitoringMetrics(ctx),
  }),
  route({
    method: 'POST',
    path: '/v1/monitoring/import',
    guard: 'monitoring.write',
    action: 'monitor.import',
    operationId: 'importMonitoring',
    summary: 'Import what is watched',
    description:
      'Makes the monitors and maintenance windows of the workspace what a document says, all of it or nothing. One that has the key, or else the name, of an ' +
      'entry is made what the entry says, members that it leaves out as in a new one; other entries are made. `prune` deletes what ' +
      'the document does not have. `depends_on` and `members` name monitors by key. What is wrong is told with line, column and member.',
    query: ImportQuery,
    takes: {
      types: { 'application/yaml': exportExamples['application/yaml']!, 'application/json': MonitoringDocument },
      mostBytes: mostImported,
      description: 'The document as YAML 1.2 or JSON, in UTF-8, up to 8 MiB and 20,000 monitors.',
    },
    answer: MonitoringImported,
    problems: ['validation_failed', 'plan_limit_reached', 'already_exists'],
    run: (ctx, { bytes, query, request }) => importMonitoring(ctx, { bytes, mediaType: mediaTypeOf(request) }, query),
  }),
])
