import { hourMs, hourOf } from '../../core/db/series/hours'
import { checksOf } from '../../features/monitors/series/check-series'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock, type Clock } from '../../core/clock'
import type { Hub } from '../../core/hub'
import { openHub } from '../../hub/run'
import { beatsOfHours } from '../../features/monitors/series/hour-beats'
import { rollsOfHours } from '../../features/monitors/series/hour-rolls'
import { Recorder, recorderOf } from '../../features/monitors/series/recorder'
import { sealHours } from '../../features/monitors/series/seal'
import type { ResultBeat } from '../../features/monitors/series/result-beat'
import type { Bench, Figure } from './bench'
import { temporaryInstallation } from './child-processes'

const intervalMs = 30_000

/** `bailiwick bench series`: the cost of writing, storing and reading one hour of results. */
export const seriesBench: Bench = {
  name: 'series',
  summary: 'Write, pack, and read one hour of results of many monitors',
  options: [{ name: 'monitors', description: 'Number of monitors, checked every 30 seconds', default: 10_000 }],
  async run(args) {
    const { config, remove } = temporaryInstallation()
    const monitors = args.monitors!
    // The clock advances through the hour as fast as results are written.
    const startsAt = (hourOf(systemClock.now()) - 3) * hourMs
    let now = startsAt
    const clock: Clock = { ...systemClock, now: () => now }
    const hub = await openHub(config, clock)
    try {
      const before = heapBytes()
      const figures = await writeHour(hub, monitors, startsAt, at => (now = at))
      figures.push({ name: 'memory of the current hour', value: (heapBytes() - before) / 1e6, unit: 'MB' })
      figures.push(...(await readBack(hub, monitors)))
      const raw = (await hub.series.size())!
      now = startsAt + hourMs + 120_000
      figures.push(...(await pack(hub, monitors)))
      const packed = (await hub.series.size())! - raw
      figures.push({ name: 'unpacked', value: raw / (monitors * (hourMs / intervalMs)), unit: 'bytes/result' })
      figures.push({
        name: 'packed, with phases and hourly summaries',
        value: packed / (monitors * (hourMs / intervalMs)),
        unit: 'bytes/result',
      })
      const chunks = (await checksOf(hub).chunks(1, hourOf(startsAt), hourOf(startsAt) + 1))[0]!
      figures.push({
        name: 'packed results only',
        value: chunks.body.length / (hourMs / intervalMs),
        unit: 'bytes/result',
      })
      figures.push(...(await reads(hub, monitors)))
      return { figures, notes: ['One location. Sizes are measured on disk, including free space.'] }
    } finally {
      await hub.store.close()
      remove()
    }
  },
}

/** Heap size after a garbage collection. */
function heapBytes(): number {
  Bun.gc(true)
  return process.memoryUsage().heapUsed
}

/** Writes the results second by second, each second in one transaction. */
async function writeHour(hub: Hub, monitors: number, startsAt: number, setTime: (at: number) => void): Promise<Figure[]> {
  const recorder = recorderOf(hub)
  const durations: number[] = []
  for (let second = 0; second < hourMs / 1000; second++) {
    const at = startsAt + second * 1000
    setTime(at)
    for (let monitor = second % (intervalMs / 1000); monitor < monitors; monitor += intervalMs / 1000)
      recorder.add(resultOf(monitor, at + ((monitor * 31) % 1000), second))
    const startedAt = performance.now()
    await recorder.flush()
    durations.push(performance.now() - startedAt)
  }
  durations.sort((a, b) => a - b)
  const sum = durations.reduce((all, one) => all + one, 0)
  return [
    { name: 'results written', value: (monitors * (hourMs / intervalMs)) / (sum / 1000), unit: '1/s' },
    { name: 'results of one second, p50', value: durations[Math.floor(durations.length / 2)]!, unit: 'ms' },
    { name: 'results of one second, p99', value: durations[Math.floor(durations.length * 0.99)]!, unit: 'ms' },
  ]
}

/** Loads the current hour, as a hub does when it starts. */
async function readBack(hub: Hub, monitors: number): Promise<Figure[]> {
  const startedAt = performance.now()
  await new Recorder(hub).adopt(Array.from({ length: monitors }, (_, monitor) => monitor))
  return [{ name: 'current hour loaded', value: performance.now() - startedAt, unit: 'ms' }]
}

async function pack(hub: Hub, monitors: number): Promise<Figure[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const startedAt = performance.now()
  await sealHours(hub)
  const durationMs = performance.now() - startedAt
  delay.disable()
  return [
    { name: 'hour packed', value: durationMs, unit: 'ms' },
    { name: 'monitors packed', value: monitors / (durationMs / 1000), unit: '1/s' },
    { name: 'longest event loop block', value: delay.max / 1e6, unit: 'ms' },
  ]
}

async function reads(hub: Hub, monitors: number): Promise<Figure[]> {
  const hour = hourOf(hub.clock.now()) - 1
  const timed = async (name: string, read: (monitor: number) => Promise<unknown>): Promise<Figure> => {
    const startedAt = performance.now()
    for (let n = 0; n < 200; n++) await read((n * 37) % monitors)
    return { name, value: (performance.now() - startedAt) / 200, unit: 'ms' }
  }
  return [
    await timed('one hour of results read', monitor => beatsOfHours(hub, monitor, hour, hour + 1)),
    await timed('three days of hourly summaries read', async monitor => {
      for await (const _ of rollsOfHours(hub, monitor, (hour - 71) * hourMs, (hour + 1) * hourMs, null)) continue
    }),
  ]
}

const resultOf = (monitor: number, at: number, second: number): ResultBeat => ({
  series: monitor,
  part: 0,
  at,
  status: 'up',
  ms: 40 + (monitor % 200) + ((second * 7919 + monitor) % 300) / 10,
  code: 200,
  error: null,
  dns: 0,
  connect: 10 + ((second + monitor) % 40) / 10,
  tls: 22 + ((second * 3 + monitor) % 60) / 10,
  firstByte: 30 + ((second * 7 + monitor) % 90) / 10,
})
