import { area, route } from '../../../api/route'
import { mediaTypeOf } from '../../../api/request-body'
import { exportExamples, exportMonitoring } from './export'
import { importMonitoring } from './import'
import { ExportQuery, ImportQuery, MonitoringDocument, MonitoringImportResult, maxImportBytes } from './shapes'
import { metricsExamples, monitoringMetrics } from '../metrics/monitoring-metrics'

export const monitoringRoutes = area('monitoring', 'Monitors', [
  route({
    method: 'GET',
    path: '/v1/monitoring/export',
    guard: 'monitoring.read',
    operationId: 'exportMonitoring',
    summary: 'Export monitoring configuration',
    description:
      'Returns all monitors and maintenance windows of the workspace as one document that can be imported. Monitors are identified by ' +
      'key, or by ID if they have none. Secrets are replaced with `${secret:…}` placeholders.',
    query: ExportQuery,
    streams: exportExamples,
    run: (ctx, { query }) => exportMonitoring(ctx, query),
  }),
  route({
    method: 'GET',
    path: '/v1/monitoring/metrics',
    guard: 'monitoring.read',
    operationId: 'getMonitoringMetrics',
    summary: 'Get monitoring metrics',
    description:
      'Returns the monitors and heartbeats of the workspace in the Prometheus text format 0.0.4, with the metric names of ' +
      'blackbox_exporter and Healthchecks. Values from the last check are available only for monitors that this hub runs.',
    streams: metricsExamples,
    run: ctx => monitoringMetrics(ctx),
  }),
  route({
    method: 'POST',
    path: '/v1/monitoring/import',
    guard: 'monitoring.write',
    action: 'monitor.import',
    operationId: 'importMonitoring',
    summary: 'Import monitoring configuration',
    description:
      'Applies a document to the monitors and maintenance windows of the workspace, in a single transaction. A monitor is found by the `key` ' +
      'of its entry, which can also be an ID, or by its name if the entry has no `key`; a maintenance window is found by its name. If one is found, ' +
      'it is updated to match the entry, and omitted fields are reset to their defaults. Otherwise, a new one is created. With `prune`, resources that are not in the document are deleted. `depends_on` and `members` refer to monitors by key. ' +
      'Errors include the line, column, and field.',
    query: ImportQuery,
    textBody: {
      types: { 'application/yaml': exportExamples['application/yaml']!, 'application/json': MonitoringDocument },
      maxBytes: maxImportBytes,
      description: 'The document as YAML 1.2 or JSON, encoded in UTF-8, up to 8 MiB and 20,000 monitors.',
    },
    response: MonitoringImportResult,
    problems: ['validation_failed', 'plan_limit_reached', 'already_exists'],
    run: (ctx, { bytes, query, request }) => importMonitoring(ctx, { bytes, mediaType: mediaTypeOf(request) }, query),
  }),
])
