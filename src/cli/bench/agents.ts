import { systemClock } from '../../core/clock'
import { tiers } from '../../core/db/series/metric-tiers'
import { subjectOf } from '../../features/servers/metrics/names'
import type { Bench, Figure } from './bench'
import { BenchAgent } from './bench-agent'
import {
  cpuSecondsOf,
  longestBlockMs,
  residentBytes,
  startServer,
  temporaryInstallation,
  waitedSecondsOf,
  type ServerProcess,
} from './child-processes'
import { listTimes } from './dns-lists'
import { openInProcessApi, type InProcessApi } from './in-process-api'
import { measureUsage } from './resource-usage'
import { metricMinuteOf } from './server-metrics'

const goals = { cpu: 10, memory: 200, chartMs: 10 }
const minuteMs = 60_000
const dayMs = 86_400_000
/** A minute is late if it is stored later than this after its report was due. */
const lateMs = 5000
const minutesPerReport = 60
/** Agents send a backlog in at most four requests a second. */
const backlogPauseMs = 250
const label = 'bailiwick-bench'
const enrolledAtOnce = 20
/** An enrolment key can be used this often in a minute. */
const agentsPerKey = 1000

/** `bailiwick bench agents`: what a hub needs for many agents. The agents are in this process, and the hub is in another one. */
export const agentsBench: Bench = {
  name: 'agents',
  summary: 'Measure a hub with many agents, a backlog of a day, and charts',
  options: [
    { name: 'agents', description: 'Number of agents', default: 1000 },
    { name: 'columns', description: 'Number of metrics of each agent', default: 90 },
    { name: 'warm-up', description: 'Seconds until the measurement. After 60, all agents have reported', default: 70 },
    { name: 'seconds', description: 'Seconds to measure', default: 120 },
    { name: 'backlog', description: 'Number of agents that send the minutes of a day at once', default: 100 },
  ],
  parts: ['steady', 'minute', 'backlog', 'charts'],
  async run(args, parts) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const api = await openInProcessApi(config)
      const fleet = await enroll(api, args.agents!, args.columns!)
      await api.close()
      const figures = parts.some(one => one !== 'charts') ? await measureHub(folder, fleet, args, parts) : []
      const again = await openInProcessApi(config)
      try {
        if (parts.includes('charts')) figures.push(...(await measureCharts(again, fleet[0]!, args.columns!)))
        // A database that is not temporary is used again.
        for (const { serverId } of fleet) await again.call('DELETE', `/v1/servers/${serverId}`)
      } finally {
        await again.close()
      }
      return {
        figures,
        notes: [
          'Each agent reports the metrics of a minute every 60 seconds, spread evenly, and always waits for commands on a second connection. CPU time and memory are of the hub alone.',
          `Late: stored more than ${lateMs / 1000} s after the report was due. The agents share the machine with the hub. If the hub waited for a free core for more than a few percent of the time, other programs made minutes late.`,
        ],
      }
    } finally {
      remove()
    }
  },
}

async function enroll(api: InProcessApi, agents: number, columns: number): Promise<BenchAgent[]> {
  const fleet: BenchAgent[] = []
  let key = ''
  for (let n = 0; n < agents; n += enrolledAtOnce) {
    if (n % agentsPerKey === 0)
      ({ key } = await api.call('POST', '/v1/enrolment-keys', { name: label, uses: null, labels: { bench: label } }))
    const names = Array.from({ length: Math.min(enrolledAtOnce, agents - n) }, (_, place) => `${label}-${n + place}`)
    fleet.push(...(await Promise.all(names.map(name => BenchAgent.enroll(api, key, name, columns)))))
  }
  return fleet
}

/** What happened to reports. */
interface Sent {
  /** Milliseconds from when a report was due until it was stored. */
  latencies: number[]
  errors: string[]
}

async function measureHub(
  folder: string,
  fleet: readonly BenchAgent[],
  args: Readonly<Record<string, number>>,
  parts: readonly string[],
): Promise<Figure[]> {
  const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
  const sent: Sent = { latencies: [], errors: [] }
  const ended = new AbortController()
  const lives = fleet.map((agent, n) => live(agent, hub.port, (n / fleet.length) * minuteMs, sent, ended.signal))
  const figures: Figure[] = []
  const measured = async (name: string, run: () => Promise<Figure[]>) => {
    Object.assign(sent, { latencies: [], errors: [] })
    await longestBlockMs(hub)
    const [startedAt, waited] = [performance.now(), waitedSecondsOf(hub.pid)]
    figures.push(...(await run()), ...figuresOf(name, sent, await longestBlockMs(hub)))
    const share = (waitedSecondsOf(hub.pid) - waited) / ((performance.now() - startedAt) / 1000)
    figures.push({ name: `${name}: time that the hub waited for a free core`, value: share * 100, unit: '%' })
    figures.push({ name: `${name}: memory at the end`, value: residentBytes(hub.pid) / 1e6, unit: 'MB' })
  }
  try {
    await Bun.sleep(args['warm-up']! * 1000)
    if (parts.includes('steady')) await measured('steady', () => measureSteady(hub, args.seconds!))
    if (parts.includes('minute')) await measured('minute of all at once', () => measureMinute(hub, fleet, sent))
    if (parts.includes('backlog'))
      await measured('backlog', async () => {
        const found = await measureBacklog(hub, fleet.slice(0, args.backlog!))
        // The hub computes coarser rows each minute.
        await Bun.sleep(Math.min(args.seconds! * 1000, minuteMs))
        return found
      })
    return figures
  } finally {
    ended.abort()
    for (const agent of fleet) agent.disconnect()
    await Promise.all(lives)
    await hub.stop()
  }
}

/** Lets an agent report each minute and wait for commands. @param dueMs when it reports, after the start of a minute */
async function live(agent: BenchAgent, port: number, dueMs: number, sent: Sent, ended: AbortSignal): Promise<void> {
  agent.connect(port)
  const note = (error: unknown) => void (ended.aborted || sent.errors.push((error as Error).message))
  const isEnded = new Promise<void>(resolve => ended.addEventListener('abort', () => resolve()))
  let waits: Promise<void> | null = null
  for (let due = Math.ceil((systemClock.now() - dueMs) / minuteMs) * minuteMs + dueMs; ; due += minuteMs) {
    await Promise.race([isEnded, Bun.sleep(Math.max(0, due - systemClock.now()))])
    if (ended.aborted) break
    await agent.report([due - minuteMs]).then(() => sent.latencies.push(systemClock.now() - due), note)
    // A run must report before it gets commands.
    waits ??= agent.waitForCommands().catch(note)
  }
  await waits
}

function figuresOf(name: string, { latencies, errors }: Sent, block: number): Figure[] {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return [
    { name: `${name}: reports`, value: sorted.length, unit: '' },
    { name: `${name}: report stored, p50`, value: at(0.5), unit: 'ms' },
    { name: `${name}: report stored, p99`, value: at(0.99), unit: 'ms' },
    { name: `${name}: failed requests${errors.length > 0 ? ` (${errors[0]})` : ''}`, value: errors.length, unit: '' },
    { name: `${name}: late minutes`, value: sorted.filter(one => one > lateMs).length, unit: '' },
    { name: `${name}: longest block of the event loop`, value: block, unit: 'ms' },
  ]
}

async function measureSteady(hub: ServerProcess, seconds: number): Promise<Figure[]> {
  const sample = () => ({ cpuSeconds: cpuSecondsOf(hub.pid), memory: residentBytes(hub.pid) })
  const { cpu, maxMemory } = await measureUsage(seconds, sample)
  return [
    { name: 'steady: CPU', value: cpu * 100, unit: '% of a core' },
    { name: 'steady: CPU, goal with 1,000 agents', value: goals.cpu, unit: '% of a core' },
    { name: 'steady: peak memory', value: maxMemory / 1e6, unit: 'MB' },
    { name: 'steady: memory, goal with 1,000 agents', value: goals.memory, unit: 'MB' },
  ]
}

/** All agents report the same minute at once. */
async function measureMinute(hub: ServerProcess, fleet: readonly BenchAgent[], sent: Sent): Promise<Figure[]> {
  const [startedAt, cpu, minute] = [performance.now(), cpuSecondsOf(hub.pid), systemClock.now() - minuteMs]
  await Promise.all(fleet.map(async agent => sent.latencies.push(await agent.report([minute]))))
  return [
    { name: 'minute of all at once: time until it is stored', value: performance.now() - startedAt, unit: 'ms' },
    { name: 'minute of all at once: CPU of the hub', value: (cpuSecondsOf(hub.pid) - cpu) * 1000, unit: 'ms' },
  ]
}

/** Some agents send the minutes of a day, each of them an hour after the other. */
async function measureBacklog(hub: ServerProcess, agents: readonly BenchAgent[]): Promise<Figure[]> {
  const [startedAt, cpu, now] = [performance.now(), cpuSecondsOf(hub.pid), systemClock.now()]
  await Promise.all(
    agents.map(async agent => {
      for (let from = now - dayMs; from < now; from += minutesPerReport * minuteMs) {
        const started = performance.now()
        await agent.report(
          Array.from({ length: minutesPerReport }, (_, n) => from + n * minuteMs),
          { backlog: true },
        )
        await Bun.sleep(Math.max(0, backlogPauseMs - (performance.now() - started)))
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1000
  return [
    { name: `backlog: time until a day of ${agents.length} agents is stored`, value: seconds, unit: 's' },
    { name: 'backlog: minutes', value: (agents.length * (dayMs / minuteMs)) / seconds, unit: '1/s' },
    { name: 'backlog: CPU of the hub', value: cpuSecondsOf(hub.pid) - cpu, unit: 's' },
  ]
}

const charts = [
  { name: 'a day', days: 1 },
  { name: 'a month', days: 30 },
  { name: 'two years', days: 729 },
]

/** Reads charts of a server that was measured for two years: of the CPU, and of everything. */
async function measureCharts(api: InProcessApi, { serverId }: BenchAgent, columns: number): Promise<Figure[]> {
  const now = api.hub.clock.now()
  await addHistory(api, subjectOf(serverId, 'agent'), columns, now)
  const figures: Figure[] = []
  for (const { name, days } of charts)
    for (const [what, query] of [
      ['the CPU', '&type=cpu'],
      ['all metrics', ''],
    ] as const) {
      const path = `/v1/servers/${serverId}/metrics?from=${new Date(now - days * dayMs).toISOString()}${query}`
      const before = process.cpuUsage()
      let requests = 0
      const request = () => {
        requests++
        return api.call('GET', path)
      }
      figures.push(...(await listTimes(`chart of ${what}, ${name}`, request)))
      const { user, system } = process.cpuUsage(before)
      figures.push({ name: `chart of ${what}, ${name}, CPU time`, value: (user + system) / 1000 / requests, unit: 'ms' })
    }
  return [...figures, { name: 'chart, p50, goal', value: goals.chartMs, unit: 'ms' }]
}

/** Stores minutes of two years: as many as each resolution needs, from the oldest on. */
async function addHistory({ hub }: InProcessApi, subject: string, columns: number, end: number): Promise<void> {
  const { metrics } = hub.series
  let [at, day] = [end - tiers.at(-1)!.keepDays * dayMs, 0]
  while (at < end) {
    const rows = []
    for (day = Math.min(end, at + dayMs); at < day; at += finestAt(end - at).stepMs)
      rows.push(metricMinuteOf(subject, at, columns))
    await metrics.append(rows, day)
    await metrics.rollUp(day)
  }
}

/** The finest resolution that is kept for so long. */
const finestAt = (agoMs: number) => tiers.find(one => agoMs <= one.keepDays * dayMs) ?? tiers.at(-1)!
