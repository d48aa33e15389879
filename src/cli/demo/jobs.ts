import { newUuid4 } from '../../core/ids'
import { callAnywhere } from '../call-anywhere'
import type { PingPaths } from './heartbeats'

const [workerMs, stockMs] = [45_000, 55 * 60_000]
// A run takes two minutes and a half, and begins every four.
const [runEachMs, runMs] = [240_000, 150_000]

/** The jobs of the demo that go on pinging. @param baseUrl of the hub */
export function beginJobs(baseUrl: string, { worker, stock, transcode }: PingPaths): { stop(): void } {
  // What a job cannot tell is missed by whoever waits for it, as in life.
  const ping = (path: string, body = '') =>
    void callAnywhere({ method: 'POST', url: baseUrl + path, body }, { totalMs: 5_000, bodyBytes: 1_000 }).catch(() => undefined)
  const timers = new Set<ReturnType<typeof setTimeout>>()
  const every = (ms: number, run: () => void) => timers.add(setInterval(run, ms))
  every(workerMs, () => ping(worker))
  every(stockMs, () => ping(stock, 'imported 1,204 articles\n'))
  every(runEachMs, () => {
    const rid = newUuid4()
    ping(`${transcode}/start?rid=${rid}`)
    timers.add(setTimeout(() => ping(`${transcode}?rid=${rid}`, 'encoded 12 of 12 clips\n'), runMs))
  })
  // The run that was under way when the past ended.
  timers.add(setTimeout(() => ping(transcode, 'encoded 12 of 12 clips\n'), runMs))
  ping(worker)
  return {
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
