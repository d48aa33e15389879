import { and, asc, eq, gt } from 'drizzle-orm'
import { StreamedResponse } from '../../../api/streamed-response'
import type { CheckResult } from '../../../checks/check'
import type { Ctx } from '../../../core/ctx'
import { rowsInBatches } from '../../../core/db/rows-in-batches'
import { streamInSlices } from '../../../core/time-slices'
import { allHeartbeats, type HeartbeatSummary } from '../../heartbeats/all-heartbeats'
import { latestOf } from '../live/latest'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { exposition, type Gauge, type Sample } from './exposition'

const type = 'text/plain'

export const metricsExamples: Record<string, string> = {
  [type]:
    '# HELP probe_success Whether the last check succeeded.\n# TYPE probe_success gauge\n' +
    'probe_success{monitor="mon_01jd8f3q7eeb9bv0w0r8c7hq2m",name="Shop",type="http",target="https://shop.example.com/"} 1\n',
}

/** Prometheus metrics, with the names of blackbox_exporter for monitors and of Healthchecks for heartbeats. */
export async function monitoringMetrics(ctx: Ctx): Promise<StreamedResponse> {
  const rows = await rowsInBatches((after, limit) =>
    ctx.hub.read
      .select({ id: monitors.id, name: monitors.name, type: monitors.type, target: monitors.target, status: monitors.status })
      .from(monitors)
      .where(and(eq(monitors.workspaceId, ctx.workspaceId), gt(monitors.id, after)))
      .orderBy(asc(monitors.id))
      .limit(limit),
  )
  const latest = latestOf(ctx.hub)
  const watched = rows.map(row => ({
    ...row,
    labels: { monitor: row.id, name: row.name, type: row.type, target: row.target },
    result: latest.get(row.id)?.result ?? null,
  }))
  const heartbeats = await allHeartbeats(ctx.hub.read, ctx.workspaceId, ctx.hub.clock.now())
  const lines = exposition([...monitorGauges(watched), ...heartbeatGauges(heartbeats)])
  return new StreamedResponse(type, 'metrics.txt', streamInSlices(lines))
}

interface Watched extends Pick<MonitorRow, 'id' | 'name' | 'type' | 'target' | 'status'> {
  labels: Record<string, string>
  /** The result of the last check, if this hub runs the monitor. */
  result: CheckResult | null
}

// The first four values match monitor_status of Uptime Kuma, for existing dashboards.
const statusNumbers: Record<MonitorRow['status'], number> = {
  down: 0,
  up: 1,
  new: 2,
  unknown: 2,
  maintenance: 3,
  degraded: 4,
  paused: 5,
}

function monitorGauges(watched: readonly Watched[]): Gauge[] {
  const gauge = (name: string, help: string, valueOf: (one: Watched) => number | null | undefined): Gauge => ({
    name,
    help,
    samples: (function* () {
      for (const one of watched) {
        const value = valueOf(one)
        if (value !== null && value !== undefined) yield { labels: one.labels, value }
      }
    })(),
  })
  const ofResult = (valueOf: (result: CheckResult, one: Watched) => number | null) => (one: Watched) =>
    one.result && valueOf(one.result, one)
  return [
    gauge(
      'monitor_status',
      'Status: 0 down, 1 up, 2 new or unknown, 3 maintenance, 4 degraded, 5 paused.',
      one => statusNumbers[one.status],
    ),
    gauge('probe_success', 'Whether the last check succeeded.', succeeded),
    gauge(
      'probe_duration_seconds',
      'Duration of the last check.',
      ofResult(({ phases }) => seconds(phases.total)),
    ),
    gauge(
      'probe_dns_lookup_time_seconds',
      'Duration of the DNS lookup.',
      ofResult(({ phases }) => seconds(phases.dns)),
    ),
    {
      name: 'probe_phase_duration_seconds',
      help: 'Duration of each phase of the last check.',
      samples: samplesOf(watched, ({ phases: { dns, connect, tls, first_byte } }) => ({ dns, connect, tls, first_byte })),
    },
    {
      name: 'probe_http_duration_seconds',
      help: 'Duration of each phase of the last HTTP request, with the phases of blackbox_exporter.',
      samples: samplesOf(watched, httpPhases),
    },
    gauge(
      'probe_http_status_code',
      'Status code of the last response.',
      ofResult(({ code }, one) => (one.type === 'http' ? (code ?? 0) : null)),
    ),
    gauge(
      'probe_ip_protocol',
      'IP version of the connection.',
      ofResult(({ address }) => (address === null ? null : address.includes(':') ? 6 : 4)),
    ),
    gauge(
      'probe_ssl_earliest_cert_expiry',
      'Earliest expiry in the certificate chain, in Unix time.',
      ofResult(({ certificate }) => seconds(certificate?.chain_not_after ?? null)),
    ),
  ]
}

function succeeded({ result, status }: Watched): number | null {
  if (result) return result.status === 'down' ? 0 : 1
  return status === 'up' || status === 'degraded' ? 1 : status === 'down' ? 0 : null
}

/** The transfer takes the rest of the total, after the first byte. */
function httpPhases({ phases }: CheckResult, { type: typeName }: Watched): Record<string, number | null> {
  if (typeName !== 'http') return {}
  const { dns, connect, tls, first_byte, total } = phases
  const before = (dns ?? 0) + (connect ?? 0) + (tls ?? 0) + (first_byte ?? 0)
  const transfer = total === null || first_byte === null ? null : Math.max(0, total - before)
  return { resolve: dns, connect, tls, processing: first_byte, transfer }
}

function* samplesOf(
  watched: readonly Watched[],
  phasesOf: (result: CheckResult, one: Watched) => Record<string, number | null>,
): Generator<Sample> {
  for (const one of watched) {
    if (!one.result) continue
    for (const [phase, ms] of Object.entries(phasesOf(one.result, one)))
      if (ms !== null) yield { labels: { ...one.labels, phase }, value: ms / 1000 }
  }
}

const seconds = (ms: number | null): number | null => (ms === null ? null : ms / 1000)

function heartbeatGauges(heartbeats: readonly HeartbeatSummary[]): Gauge[] {
  const labels = ({ id, name, tags }: HeartbeatSummary) => ({ name, tags: tags.join(' '), unique_key: id })
  const isDown = (one: HeartbeatSummary) => one.status === 'down'
  const tags = [...new Set(heartbeats.flatMap(one => one.tags))].sort()
  const tagsDown = new Set(heartbeats.filter(isDown).flatMap(one => one.tags))
  return [
    {
      name: 'hc_check_up',
      help: 'Whether the heartbeat is not down.',
      samples: heartbeats.map(one => ({ labels: labels(one), value: isDown(one) ? 0 : 1 })),
    },
    {
      name: 'hc_check_started',
      help: 'Whether a run of the job has started but not finished.',
      samples: heartbeats.map(one => ({ labels: labels(one), value: one.started ? 1 : 0 })),
    },
    {
      name: 'hc_tag_up',
      help: 'Whether no heartbeat with the tag is down.',
      samples: tags.map(tag => ({ labels: { tag }, value: tagsDown.has(tag) ? 0 : 1 })),
    },
    { name: 'hc_checks_total', help: 'Number of heartbeats.', samples: [{ labels: {}, value: heartbeats.length }] },
    {
      name: 'hc_checks_down_total',
      help: 'Number of heartbeats that are down.',
      samples: [{ labels: {}, value: heartbeats.filter(isDown).length }],
    },
  ]
}
