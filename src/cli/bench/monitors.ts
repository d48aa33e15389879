import type { Bench, Figure } from './bench'
import type { Load, LoadFigures } from './check-load'
import { runToEnd, startServer } from './child-processes'
import { measureHub } from './monitors-hub'

/** `bailiwick bench monitors`: HTTPS monitors, with the engine alone and with a whole hub. Each run has its own process. */
export const monitorsBench: Bench = {
  name: 'monitors',
  summary: 'Check local HTTPS targets every 30 and 10 seconds, and targets that never respond',
  options: [
    { name: 'monitors', description: 'Number of monitors', default: 10_000 },
    { name: 'warm-up', description: 'Seconds to warm up before each measurement', default: 60 },
    { name: 'seconds', description: 'Seconds to measure in each run', default: 90 },
    { name: 'interval', description: 'Run only with this interval, 30 or 10 seconds. 0 runs both', default: 0, min: 0 },
    { name: 'engine', description: '1 runs the check engine alone, 0 skips this', default: 1, min: 0 },
    { name: 'hub', description: '1 runs a whole hub, 0 skips this', default: 1, min: 0 },
  ],
  async run({ monitors, 'warm-up': warmUp, seconds, interval: only, engine, hub }) {
    const figures: Figure[] = []
    for (const { name, interval, silent, whole } of runs) {
      if ((whole ? hub : engine) === 0 || (only !== 0 && only !== interval)) continue
      const targets = await startServer(['bench', 'check-targets', ...(silent ? ['--silent'] : [])])
      const options = { port: targets.port, monitors: monitors!, interval, warmUp: warmUp!, seconds: seconds! }
      try {
        figures.push(...figuresOf(await (whole ? measureHub(options) : measureEngine(options)), name))
      } finally {
        await targets.stop()
      }
    }
    return {
      figures,
      notes: [
        `After all monitors were checked once, each run warms up for ${warmUp} s and is then measured for ${seconds} s. The usage during the warm-up, while the runtime compiles, is shown separately.`,
        'CPU and memory are those of the whole process. The targets run in a separate process on the same machine.',
        'If the host gives a lot of CPU time to other virtual machines, the measurements are less reliable.',
        'The hub is measured after a restart, with monitors created through its API. It evaluates and stores every result.',
        'Each check opens a new connection, performs a TLS handshake, reads the certificate and the response, and reports to the main thread.',
        'Silent targets accept connections but never respond, so that each check runs into its timeout of 10 seconds.',
      ],
    }
  },
}

const runs: { name: string; interval: number; silent?: true; whole?: true }[] = [
  { name: 'engine, 30 s', interval: 30 },
  { name: 'engine, 10 s', interval: 10 },
  { name: 'engine, 30 s, silent', interval: 30, silent: true },
  { name: 'engine, 10 s, silent', interval: 10, silent: true },
  { name: 'hub, 30 s', interval: 30, whole: true },
  { name: 'hub, 10 s', interval: 10, whole: true },
]

async function measureEngine(options: Load): Promise<LoadFigures> {
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  return JSON.parse(await runToEnd(['bench', 'check-load', ...args])) as LoadFigures
}

function figuresOf(found: LoadFigures, run: string): Figure[] {
  const figures: [string, number | null, string][] = [
    ['CPU of one core', found.steady.cpu * 100, '%'],
    ['peak memory', found.steady.maxMemory / 1e6, 'MB'],
    ['CPU time stolen by the host', found.steady.stolen * 100, '%'],
    ['CPU of one core, warming up', found.warmUp.cpu * 100, '%'],
    ['peak memory, warming up', found.warmUp.maxMemory / 1e6, 'MB'],
    ['delay between due time and start, p50', found.lagP50, 'ms'],
    ['delay between due time and start, p99', found.lagP99, 'ms'],
    ['longest event loop block', found.block, 'ms'],
    ['time after start until all monitors are on schedule', found.fullScheduleMs, 'ms'],
    ['checks', found.runsPerSecond, '1/s'],
    ['max in flight', found.maxInFlight, ''],
    ['not up', found.notUp, ''],
    ['skipped checks', found.skipped, ''],
  ]
  return figures.map(([name, value, unit]) => ({ name: `${run}: ${name}`, value: value ?? Number.NaN, unit }))
}
