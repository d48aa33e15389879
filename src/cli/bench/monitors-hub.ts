import { callAnywhere } from '../call-anywhere'
import { targetOf, type Load, type LoadFigures } from './check-load'
import { cpuSecondsOf, residentBytes, scratch, serveAgain, type Served } from './hub-process'
import { ownApi } from './own-api'
import { takenOver } from './taken'

const createdAtOnce = 500
const lookMs = 250
// As often as a monitoring system would: the figures themselves take time to make.
const scrapedEachMs = 10_000

/** A whole hub with monitors that were made over its API: restarted once all of them are `up`, and measured from then on. */
export async function hubUnderLoad(given: Load): Promise<LoadFigures> {
  const { config, folder, remove } = scratch()
  const start = () => serveAgain(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
  try {
    const api = await ownApi(config)
    for (let made = 0; made < given.monitors; made += createdAtOnce) {
      const operations = Array.from({ length: Math.min(createdAtOnce, given.monitors - made) }, (_, n) => ({
        op: 'create',
        body: {
          type: 'http',
          name: `monitor ${made + n}`,
          target: targetOf(made + n, given.port),
          interval_seconds: given.interval,
          options: { verify_tls: false },
        },
      }))
      await api.call('POST', '/v1/monitors/bulk', { operations })
    }
    await api.close()
    const first = await start()
    try {
      await until(first, figures => figures.started >= given.monitors * 2)
    } finally {
      await first.stop()
    }
    const since = performance.now()
    const hub = await start()
    try {
      const fullScheduleMs = await fullSchedule(hub, since, (0.8 * given.monitors) / given.interval)
      await Bun.sleep(given.interval * 1000)
      let mostInFlight = 0
      const taking = () => ({ cpuSeconds: cpuSecondsOf(hub.pid), memory: residentBytes(hub.pid) })
      const warmUp = await takenOver(given.warmUp, taking)
      const [before, at] = [await figuresOf(hub), performance.now()]
      const watching = setInterval(
        () => void figuresOf(hub).then(({ inFlight }) => (mostInFlight = Math.max(mostInFlight, inFlight))),
        scrapedEachMs,
      )
      const steady = await takenOver(given.seconds, taking)
      clearInterval(watching)
      const after = await figuresOf(hub)
      const passed = (performance.now() - at) / 1000
      return {
        fullScheduleMs,
        warmUp,
        steady,
        lagP50: Number.NaN,
        lagP99: after.lagSeconds * 1000,
        block: after.blockSeconds * 1000,
        runsPerSecond: (after.started - before.started) / passed,
        notUp: after.notUp - before.notUp,
        skipped: after.skipped - before.skipped,
        mostInFlight,
      }
    } finally {
      await hub.stop()
    }
  } finally {
    remove()
  }
}

/** Milliseconds until so many checks begin within a second. */
async function fullSchedule(hub: Served, since: number, perSecond: number): Promise<number> {
  const seen: { at: number; started: number }[] = []
  await until(hub, ({ started }) => {
    const at = performance.now()
    seen.push({ at, started })
    const before = seen.find(one => one.at > at - 1000 - lookMs)!
    return at - before.at >= 1000 && (started - before.started) / ((at - before.at) / 1000) >= perSecond
  })
  return performance.now() - since
}

const longestMs = 300_000

async function until(hub: Served, holds: (figures: HubFigures) => boolean): Promise<void> {
  for (const since = performance.now(); !holds(await figuresOf(hub)); await Bun.sleep(lookMs))
    if (performance.now() - since > longestMs) throw new Error('The hub did not get its monitors going within five minutes.')
}

type HubFigures = Awaited<ReturnType<typeof figuresOf>>

async function figuresOf({ port }: Served) {
  const answer = await callAnywhere(
    { method: 'GET', url: `http://127.0.0.1:${port}/metrics` },
    { totalMs: 10_000, bodyBytes: 10_000_000 },
  )
  const text = new TextDecoder().decode(answer.body)
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
