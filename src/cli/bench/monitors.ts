import type { Bench, Figure } from './bench'
import type { Load, LoadFigures } from './check-load'
import { runAgain, serveAgain } from './hub-process'
import { hubUnderLoad } from './monitors-hub'

/** `bailiwick bench monitors`: so many monitors of HTTPS, of the engine alone and of a whole hub; each run in a process of its own. */
export const monitorsBench: Bench = {
  name: 'monitors',
  summary: 'Check HTTPS targets on this machine every 30 and every 10 seconds, and targets that are all silent.',
  options: [
    { name: 'monitors', meaning: 'how many', default: 10_000 },
    { name: 'warm-up', meaning: 'seconds from when all monitors had their turn until each run is measured', default: 60 },
    { name: 'seconds', meaning: 'seconds that are measured of each run', default: 90 },
    { name: 'interval', meaning: 'the runs with this interval alone, 30 or 10 seconds; 0 for both', default: 0, least: 0 },
    { name: 'engine', meaning: '0 leaves out the runs of the engine alone', default: 1, least: 0 },
    { name: 'hub', meaning: '0 leaves out the runs of a whole hub', default: 1, least: 0 },
  ],
  async run({ monitors, 'warm-up': warmUp, seconds, interval: only, engine, hub }) {
    const figures: Figure[] = []
    for (const { name, interval, silent, whole } of runs) {
      if ((whole ? hub : engine) === 0 || (only !== 0 && only !== interval)) continue
      const targets = await serveAgain(['bench', 'check-targets', ...(silent ? ['--silent'] : [])])
      const given = { port: targets.port, monitors: monitors!, interval, warmUp: warmUp!, seconds: seconds! }
      try {
        figures.push(...figuresOf(await (whole ? hubUnderLoad(given) : engineUnderLoad(given)), name))
      } finally {
        await targets.stop()
      }
    }
    return {
      figures,
      notes: [
        `Each run has ${warmUp} s to warm up once all monitors had their turn, and is measured for ${seconds} s then. What it took while it warmed up, and the runtime compiled, is told beside.`,
        'CPU and memory are those of the whole process; the targets run in another one on the same machine.',
        'Where its host gives much of the time to other machines, a figure tells of those as well.',
        'The hub is measured after a restart, with monitors that were made over its API; it judges and keeps every result.',
        'Each check connects anew, makes a TLS handshake, reads the certificate and the answer, and is told to the main thread.',
        'Silent targets take the connection and say nothing, so that each check lasts its timeout of 10 seconds.',
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

async function engineUnderLoad(given: Load): Promise<LoadFigures> {
  const args = Object.entries(given).flatMap(([name, value]) => [`--${name}`, String(value)])
  return JSON.parse(await runAgain(['bench', 'check-load', ...args])) as LoadFigures
}

function figuresOf(found: LoadFigures, run: string): Figure[] {
  const figures: [string, number | null, string][] = [
    ['CPU of one core', found.steady.cpu * 100, '%'],
    ['memory at most', found.steady.mostMemory / 1e6, 'MB'],
    ['time given to other machines', found.steady.stolen * 100, '%'],
    ['CPU of one core, warming up', found.warmUp.cpu * 100, '%'],
    ['memory at most, warming up', found.warmUp.mostMemory / 1e6, 'MB'],
    ['dispatch lag p50', found.lagP50, 'ms'],
    ['dispatch lag p99', found.lagP99, 'ms'],
    ['longest block of the loop', found.block, 'ms'],
    ['full schedule after start', found.fullScheduleMs, 'ms'],
    ['checks', found.runsPerSecond, '1/s'],
    ['in flight at most', found.mostInFlight, ''],
    ['not up', found.notUp, ''],
    ['turns left out', found.skipped, ''],
  ]
  return figures.map(([name, value, unit]) => ({ name: `${run}: ${name}`, value: value ?? Number.NaN, unit }))
}
