import { and, asc, eq, gt } from 'drizzle-orm'
import { Streamed } from '../../../access/streamed'
import type { CheckResult } from '../../../checks/check'
import type { Ctx } from '../../../core/ctx'
import { rowsInTurns } from '../../../core/db/rows-in-turns'
import { piecesInTurns } from '../../../core/turns'
import { everyHeartbeat, type HeartbeatStanding } from '../../heartbeats/standing'
import { latestOf } from '../latest'
import { monitors } from '../tables'
import type { MonitorRow } from '../view'
import { exposition, type Gauge, type Sample } from './exposition'

const type = 'text/plain'

export const metricsExamples: Record<string, string> = {
  [type]:
    '# HELP probe_success Whether the last check found it up.\n# TYPE probe_success gauge\n' +
    'probe_success{monitor="mon_01jd8f3q7eeb9bv0w0r8c7hq2m",name="Shop",type="http",target="https://shop.example.com/"} 1\n',
}

/** What is watched, for Prometheus: monitors by the names of blackbox_exporter, heartbeats by those of Healthchecks. */
export async function monitoringMetrics(ctx: Ctx): Promise<Streamed> {
  const rows = await rowsInTurns((after, most) =>
    ctx.hub.read
      .select({ id: monitors.id, name: monitors.name, type: monitors.type, target: monitors.target, status: monitors.status })
      .from(monitors)
      .where(and(eq(monitors.workspaceId, ctx.workspaceId), gt(monitors.id, after)))
      .orderBy(asc(monitors.id))
      .limit(most),
  )
  const latest = latestOf(ctx.hub)
  const watched = rows.map(row => ({
    ...row,
    labels: { monitor: row.id, name: row.name, type: row.type, target: row.target },
    result: latest.get(row.id)?.result ?? null,
  }))
  const heartbeats = await everyHeartbeat(ctx.hub.read, ctx.workspaceId, ctx.hub.clock.now())
  const lines = exposition([...monitorGauges(watched), ...heartbeatGauges(heartbeats)])
  return new Streamed(type, 'metrics.txt', piecesInTurns(lines))
}

interface Watched extends Pick<MonitorRow, 'id' | 'name' | 'type' | 'target' | 'status'> {
  labels: Record<string, string>
  /** Of the last check, where this hub runs it. */
  result: CheckResult | null
}

// The first four are those of Uptime Kuma, whose dashboards know this name.
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
    gauge('probe_success', 'Whether the last check found it up.', succeeded),
    gauge(
      'probe_duration_seconds',
      'How long the last check took.',
      ofResult(({ phases }) => seconds(phases.total)),
    ),
    gauge(
      'probe_dns_lookup_time_seconds',
      'How long the look-up of the name took.',
      ofResult(({ phases }) => seconds(phases.dns)),
    ),
    {
      name: 'probe_phase_duration_seconds',
      help: 'How long each phase of the last check took.',
      samples: samplesOf(watched, ({ phases: { dns, connect, tls, first_byte } }) => ({ dns, connect, tls, first_byte })),
    },
    {
      name: 'probe_http_duration_seconds',
      help: 'How long each phase of the last HTTP request took, by the phases of blackbox_exporter.',
      samples: samplesOf(watched, httpPhases),
    },
    gauge(
      'probe_http_status_code',
      'Status code of the last answer.',
      ofResult(({ code }, one) => (one.type === 'http' ? (code ?? 0) : null)),
    ),
    gauge(
      'probe_ip_protocol',
      'Version of IP that was spoken.',
      ofResult(({ address }) => (address === null ? null : address.includes(':') ? 6 : 4)),
    ),
    gauge(
      'probe_ssl_earliest_cert_expiry',
      'When the first certificate of the chain ends, in Unix time.',
      ofResult(({ certificate }) => seconds(certificate?.chain_not_after ?? null)),
    ),
  ]
}

function succeeded({ result, status }: Watched): number | null {
  if (result) return result.status === 'down' ? 0 : 1
  return status === 'up' || status === 'degraded' ? 1 : status === 'down' ? 0 : null
}

/** What is left of the total after the first octet is the transfer. */
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

function heartbeatGauges(heartbeats: readonly HeartbeatStanding[]): Gauge[] {
  const labels = ({ id, name, tags }: HeartbeatStanding) => ({ name, tags: tags.join(' '), unique_key: id })
  const isDown = (one: HeartbeatStanding) => one.status === 'down'
  const tags = [...new Set(heartbeats.flatMap(one => one.tags))].sort()
  const tagsDown = new Set(heartbeats.filter(isDown).flatMap(one => one.tags))
  return [
    {
      name: 'hc_check_up',
      help: 'Whether the heartbeat is up, or at least not down.',
      samples: heartbeats.map(one => ({ labels: labels(one), value: isDown(one) ? 0 : 1 })),
    },
    {
      name: 'hc_check_started',
      help: 'Whether a run of the job has started and not finished.',
      samples: heartbeats.map(one => ({ labels: labels(one), value: one.started ? 1 : 0 })),
    },
    {
      name: 'hc_tag_up',
      help: 'Whether all heartbeats with the tag are up, or at least not down.',
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
