import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock, type Clock } from '../../core/clock'
import { hourMs } from '../../core/db/series/chunk'
import { hourOf } from '../../core/db/series/store'
import type { Hub } from '../../core/hub'
import { openHub } from '../../hub/run'
import { beatsOfHours } from '../../features/monitors/series/hour-beats'
import { rollsOfHours } from '../../features/monitors/series/hour-rolls'
import { Recorder, recorderOf } from '../../features/monitors/series/recorder'
import { sealHours } from '../../features/monitors/series/seal'
import type { Taken } from '../../features/monitors/series/taken'
import type { Bench, Figure } from './bench'
import { scratch } from './hub-process'

const intervalMs = 30_000

/** `bailiwick bench series`: what an hour of results costs to take, to keep and to read. */
export const seriesBench: Bench = {
  name: 'series',
  summary: 'Take an hour of results of many monitors, pack it, and read it back.',
  options: [{ name: 'monitors', meaning: 'monitors that are checked every 30 seconds', default: 10_000 }],
  async run(args) {
    const { config, remove } = scratch()
    const monitors = args.monitors!
    // The hour is gone through as fast as it can be written.
    const begins = (hourOf(systemClock.now()) - 3) * hourMs
    let now = begins
    const clock: Clock = { ...systemClock, now: () => now }
    const hub = await openHub(config, clock)
    try {
      const before = heldOctets()
      const figures = await takeHour(hub, monitors, begins, at => (now = at))
      figures.push({ name: 'memory of the open hour', value: (heldOctets() - before) / 1e6, unit: 'MB' })
      figures.push(...(await readBack(hub, monitors)))
      const raw = (await hub.series.size())!
      now = begins + hourMs + 120_000
      figures.push(...(await pack(hub, monitors)))
      const packed = (await hub.series.size())! - raw
      figures.push({ name: 'as it came', value: raw / (monitors * (hourMs / intervalMs)), unit: 'octets/result' })
      figures.push({
        name: 'packed, with its parts and the hour',
        value: packed / (monitors * (hourMs / intervalMs)),
        unit: 'octets/result',
      })
      const chunks = (await hub.series.chunks(1, hourOf(begins), hourOf(begins) + 1))[0]!
      figures.push({
        name: 'of it, what is kept for long',
        value: chunks.body.length / (hourMs / intervalMs),
        unit: 'octets/result',
      })
      figures.push(...(await reads(hub, monitors)))
      return { figures, notes: ['One location. Sizes are those of the tables on the disk, with what they keep free.'] }
    } finally {
      await hub.store.close()
      remove()
    }
  },
}

/** What is held when all that is not needed was let go: the load of the bench leaves more behind than that of a minute of checks. */
function heldOctets(): number {
  Bun.gc(true)
  return process.memoryUsage().heapUsed
}

/** A second at a time, each with its part of the monitors and a transaction of its own. */
async function takeHour(hub: Hub, monitors: number, begins: number, tell: (at: number) => void): Promise<Figure[]> {
  const recorder = recorderOf(hub)
  const spent: number[] = []
  for (let second = 0; second < hourMs / 1000; second++) {
    const at = begins + second * 1000
    tell(at)
    for (let monitor = second % (intervalMs / 1000); monitor < monitors; monitor += intervalMs / 1000)
      recorder.take(resultOf(monitor, at + ((monitor * 31) % 1000), second))
    const startedAt = performance.now()
    await recorder.flush()
    spent.push(performance.now() - startedAt)
  }
  spent.sort((a, b) => a - b)
  const sum = spent.reduce((all, one) => all + one, 0)
  return [
    { name: 'results written', value: (monitors * (hourMs / intervalMs)) / (sum / 1000), unit: '1/s' },
    { name: 'a second of results, p50', value: spent[Math.floor(spent.length / 2)]!, unit: 'ms' },
    { name: 'a second of results, p99', value: spent[Math.floor(spent.length * 0.99)]!, unit: 'ms' },
  ]
}

/** What a hub does that starts in the middle of an hour. */
async function readBack(hub: Hub, monitors: number): Promise<Figure[]> {
  const startedAt = performance.now()
  await new Recorder(hub).adopt(Array.from({ length: monitors }, (_, monitor) => monitor))
  return [{ name: 'open hour read back', value: performance.now() - startedAt, unit: 'ms' }]
}

async function pack(hub: Hub, monitors: number): Promise<Figure[]> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const startedAt = performance.now()
  await sealHours(hub)
  const tookMs = performance.now() - startedAt
  delay.disable()
  return [
    { name: 'hour packed', value: tookMs, unit: 'ms' },
    { name: 'hours packed', value: monitors / (tookMs / 1000), unit: '1/s' },
    { name: 'longest pause meanwhile', value: delay.max / 1e6, unit: 'ms' },
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
    await timed('an hour of results read', monitor => beatsOfHours(hub, monitor, hour, hour + 1)),
    await timed('three days of hours read', async monitor => {
      for await (const _ of rollsOfHours(hub, monitor, (hour - 71) * hourMs, (hour + 1) * hourMs, null)) continue
    }),
  ]
}

const resultOf = (monitor: number, at: number, second: number): Taken => ({
  monitor,
  location: 0,
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
