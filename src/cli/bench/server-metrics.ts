import { statSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Config } from '../../core/config'
import { tiers } from '../../core/db/series/metric-tiers'
import type { MetricMinute } from '../../core/db/series/metrics'
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

/** Writes rows as they arrive, minute by minute, and returns how much larger the closed file is. */
async function bytesPerRow(config: Config): Promise<number> {
  const fileBytes = () => statSync(join(config.data, 'series.db')).size
  const write = async (minutes: number) => {
    const { hub, close } = await openInProcessApi(config)
    const end = hub.clock.now()
    for (let ago = minutes; ago > 0; ago--)
      await hub.series.metrics.append(
        Array.from({ length: servers }, (_, n) => minuteOf(`size ${n}`, end - ago * minuteMs)),
        end,
      )
    await close()
  }
  await write(1)
  const before = fileBytes()
  await write(minutes)
  return (fileBytes() - before) / (servers * (minutes - 1))
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
    delay.enable()
    let writtenMs = 0
    for (let ago = minutes; ago > 0; ago--) {
      const rows = Array.from({ length: servers }, (_, n) => minuteOf(`server ${n}`, end - ago * minuteMs))
      writtenMs += await timeOf(() => metrics.append(rows, end))
    }
    const rolledMs = await timeOf(() => metrics.rollUp(end))
    await metrics.append(
      Array.from({ length: servers }, (_, n) => minuteOf(`server ${n}`, end)),
      end,
    )
    const minuteRolledMs = await timeOf(() => metrics.rollUp(end))
    delay.disable()

    const server = { name: 'bench', kind: 'bare_metal' }
    const { id } = await api.call('POST', '/v1/servers', server, { 'idempotency-key': 'bench' })
    const subject = subjectOf(id, 'cloud')
    await metrics.append(
      Array.from({ length: dayMs / minuteMs }, (_, n) => minuteOf(subject, end - n * minuteMs)),
      end,
    )
    const read = await times(() => metrics.read(subject, tiers[0], end - dayMs, end + minuteMs, () => {}))
    const from = new Date(end - dayMs + minuteMs).toISOString()
    const requested = await times(() => api.call('GET', `/v1/servers/${id}/metrics?from=${from}`))
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

function minuteOf(subject: string, at: number): MetricMinute {
  const values = Array.from({ length: columns }, (_, n) => {
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
