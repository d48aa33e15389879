import { fetchUnrestricted } from '../unrestricted-fetch'
import { targetOf, type Load, type LoadFigures } from './check-load'
import { cpuSecondsOf, residentBytes, temporaryInstallation, startServer, type ServerProcess } from './child-processes'
import { openInProcessApi } from './in-process-api'
import { measureUsage } from './resource-usage'

const bulkSize = 500
const pollMs = 250
// As often as a monitoring system would, because collecting metrics takes CPU time too.
const scrapeIntervalMs = 10_000

/** Measures a whole hub. Creates the monitors with its API, waits until all are `up`, and restarts it before the measurement. */
export async function measureHub(options: Load): Promise<LoadFigures> {
  const { config, folder, remove } = temporaryInstallation()
  const start = () => startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
  try {
    const api = await openInProcessApi(config)
    for (let created = 0; created < options.monitors; created += bulkSize) {
      const operations = Array.from({ length: Math.min(bulkSize, options.monitors - created) }, (_, n) => ({
        op: 'create',
        body: {
          type: 'http',
          name: `monitor ${created + n}`,
          target: targetOf(created + n, options.port),
          interval_seconds: options.interval,
          options: { verify_tls: false },
        },
      }))
      await api.call('POST', '/v1/monitors/bulk', { operations })
    }
    await api.close()
    const first = await start()
    try {
      await until(first, figures => figures.started >= options.monitors * 2)
    } finally {
      await first.stop()
    }
    const since = performance.now()
    const hub = await start()
    try {
      const fullScheduleMs = await timeToFullSchedule(hub, since, (0.8 * options.monitors) / options.interval)
      await Bun.sleep(options.interval * 1000)
      let maxInFlight = 0
      const sample = () => ({ cpuSeconds: cpuSecondsOf(hub.pid), memory: residentBytes(hub.pid) })
      const warmUp = await measureUsage(options.warmUp, sample)
      const [before, at] = [await figuresOf(hub), performance.now()]
      const scraping = setInterval(
        () => void figuresOf(hub).then(({ inFlight }) => (maxInFlight = Math.max(maxInFlight, inFlight))),
        scrapeIntervalMs,
      )
      const steady = await measureUsage(options.seconds, sample)
      clearInterval(scraping)
      const after = await figuresOf(hub)
      const elapsedSeconds = (performance.now() - at) / 1000
      return {
        fullScheduleMs,
        warmUp,
        steady,
        lagP50: Number.NaN,
        lagP99: after.lagSeconds * 1000,
        block: after.blockSeconds * 1000,
        runsPerSecond: (after.started - before.started) / elapsedSeconds,
        notUp: after.notUp - before.notUp,
        skipped: after.skipped - before.skipped,
        maxInFlight,
      }
    } finally {
      await hub.stop()
    }
  } finally {
    remove()
  }
}

/** Waits until that many checks start within a second. @returns milliseconds */
async function timeToFullSchedule(hub: ServerProcess, since: number, perSecond: number): Promise<number> {
  const seen: { at: number; started: number }[] = []
  await until(hub, ({ started }) => {
    const at = performance.now()
    seen.push({ at, started })
    const before = seen.find(one => one.at > at - 1000 - pollMs)!
    return at - before.at >= 1000 && (started - before.started) / ((at - before.at) / 1000) >= perSecond
  })
  return performance.now() - since
}

const maxWaitMs = 300_000

async function until(hub: ServerProcess, isReached: (figures: HubFigures) => boolean): Promise<void> {
  for (const since = performance.now(); !isReached(await figuresOf(hub)); await Bun.sleep(pollMs))
    if (performance.now() - since > maxWaitMs) throw new Error('The hub did not start all monitors within 5 minutes.')
}

type HubFigures = Awaited<ReturnType<typeof figuresOf>>

async function figuresOf({ port }: ServerProcess) {
  const response = await fetchUnrestricted(
    { method: 'GET', url: `http://127.0.0.1:${port}/metrics` },
    { totalMs: 10_000, maxBodyBytes: 10_000_000 },
  )
  const text = new TextDecoder().decode(response.body)
  const sum = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0)
  return {
    started: sum(/^bailiwick_checks_started_total (\S+)$/gm),
    skipped: sum(/^bailiwick_checks_skipped_total (\S+)$/gm),
    notUp: sum(/^bailiwick_monitor_checks_total\{kind="(?!up")[a-z]+"\} (\S+)$/gm),
    inFlight: sum(/^bailiwick_checks_in_flight (\S+)$/gm),
    lagSeconds: sum(/^bailiwick_check_lag_seconds (\S+)$/gm),
    blockSeconds: sum(/^bailiwick_check_loop_block_seconds (\S+)$/gm),
  }
}
