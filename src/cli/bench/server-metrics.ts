import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Config } from '../../core/config'
import { tiers } from '../../core/db/series/metric-tiers'
import type { MetricMinute } from '../../core/db/series/metric-minute'
import { subjectOf } from '../../features/servers/metrics/names'
import type { Figure } from './bench'
import { openInProcessApi } from './in-process-api'
import { median } from './median'

const goals = { rowsPerSecond: 10_000, dayMs: 5 }
const minuteMs = 60_000
const dayMs = 86_400_000
const columns = 40
const servers = 1000
const minutes = 30
const reads = 20

/** Writes and reads metrics of servers, with as many columns as software on a server measures. */
export async function measureMetrics(config: Config): Promise<Figure[]> {
  const bytes = await bytesPerRow(config)
  const rowsForTwoYears = tiers.reduce((sum, one) => sum + (one.keepDays * dayMs) / one.stepMs, 0)
  return [
    ...(await measureTimes(config)),
    { name: 'metrics: a server for two years', value: (bytes * rowsForTwoYears) / 1e6, unit: 'MB' },
  ]
}

/** Writes rows as they arrive, minute by minute, and returns how much larger the storage is afterwards. */
async function bytesPerRow(config: Config): Promise<number> {
  /** Writes minutes, and returns the size after the storage was closed. */
  const sizeWith = async (minutes: number) => {
    const { hub, close } = await openInProcessApi(config)
    const end = hub.clock.now()
    for (let ago = minutes; ago > 0; ago--)
      await hub.series.metrics.append(
        subjects('size').map(one => metricMinuteOf(one, end - ago * minuteMs)),
        end,
      )
    await close()
    const reopened = await openInProcessApi(config)
    const size = (await reopened.hub.series.size())!
    await reopened.close()
    return size
  }
  const before = await sizeWith(1)
  return ((await sizeWith(minutes)) - before) / (servers * (minutes - 1))
}

async function measureTimes(config: Config): Promise<Figure[]> {
  const api = await openInProcessApi(config)
  try {
    const {
      clock,
      series: { metrics },
    } = api.hub
    const end = Math.floor(clock.now() / minuteMs) * minuteMs
    const delay = monitorEventLoopDelay({ resolution: 1 })
    // Without the time in which the benchmark makes up rows.
    const watched = async (run: () => Promise<unknown>) => {
      delay.enable()
      const ms = await timeOf(run)
      delay.disable()
      return ms
    }
    let writtenMs = 0
    for (let ago = minutes; ago > 0; ago--) {
      const rows = subjects('server').map(one => metricMinuteOf(one, end - ago * minuteMs))
      writtenMs += await watched(() => metrics.append(rows, end))
    }
    const rolledMs = await watched(() => metrics.rollUp(end))
    await metrics.append(
      subjects('server').map(one => metricMinuteOf(one, end)),
      end,
    )
    const minuteRolledMs = await watched(() => metrics.rollUp(end))

    const server = { name: 'bench', kind: 'bare_metal', monitor: false }
    const { id } = await api.call('POST', '/v1/servers', server, { 'idempotency-key': crypto.randomUUID() })
    const subject = subjectOf(id, 'cloud')
    await metrics.append(
      Array.from({ length: dayMs / minuteMs }, (_, n) => metricMinuteOf(subject, end - n * minuteMs)),
      end,
    )
    const read = await times(() => metrics.read(subject, tiers[0], end - dayMs, end + minuteMs, () => {}))
    const from = new Date(end - dayMs + minuteMs).toISOString()
    const requested = await times(() => api.call('GET', `/v1/servers/${id}/metrics?from=${from}`))
    // The database may not be temporary.
    await api.call('DELETE', `/v1/servers/${id}`)
    await metrics.delete([subject, ...subjects('server'), ...subjects('size')])
    return [
      { name: `metrics: rows of ${columns} metrics written`, value: (servers * minutes * 1000) / writtenMs, unit: '/s' },
      { name: 'metrics: rows written, goal', value: goals.rowsPerSecond, unit: '/s' },
      { name: `metrics: coarser rows of ${servers} servers, first time`, value: rolledMs, unit: 'ms' },
      { name: `metrics: coarser rows of ${servers} servers, each minute`, value: minuteRolledMs, unit: 'ms' },
      { name: 'metrics: longest block of the event loop', value: delay.max / 1e6, unit: 'ms' },
      { name: 'metrics: minutes of a day read', value: read, unit: 'ms' },
      { name: 'metrics: minutes of a day read, goal', value: goals.dayMs, unit: 'ms' },
      { name: 'metrics: request for a day', value: requested, unit: 'ms' },
    ]
  } finally {
    await api.close()
  }
}

const subjects = (name: string): string[] => Array.from({ length: servers }, (_, n) => `${name} ${n}`)

/** A minute with made-up values. */
export function metricMinuteOf(subject: string, at: number, count: number = columns): MetricMinute {
  const values = Array.from({ length: count }, (_, n) => {
    const avg = Math.random() * 10 ** (n % 9)
    // Names are as long as usual.
    const column = n === 0 ? 'cpu.used_percent' : `temperature.celsius sensor ${n}`
    return [column, { n: 6, avg, max: avg * 1.5 }] as const
  })
  return { subject, at, values: new Map(values) }
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await run()
  return performance.now() - startedAt
}

async function times(run: () => Promise<unknown>): Promise<number> {
  const found: number[] = []
  for (let n = 0; n < reads; n++) found.push(await timeOf(run))
  return median(found)
}
