import { newUuid4 } from '../../core/ids'
import type { GuardedRequest } from '../../core/net/guarded-fetch'
import { callAnywhere } from '../call-anywhere'
import type { PingPaths } from './heartbeats'
import { rrset } from './zones'

const releaseEachMs = 110_000
const [workerMs, stockMs] = [45_000, 55 * 60_000]
// A run takes two minutes and a half, and begins every four.
const [runEachMs, runMs] = [240_000, 150_000]

/** What the pipeline that deploys needs to tell of a release. */
export interface Releases {
  zoneId: string
  token: string
}

/** The jobs of the demo that go on: pings, and now and then a release. @param baseUrl of the hub */
export function beginJobs(
  baseUrl: string,
  { worker, stock, transcode }: PingPaths,
  { zoneId, token }: Releases,
): { stop(): void } {
  // What a job cannot tell is missed by whoever waits for it, as in life.
  const call = (request: GuardedRequest) =>
    void callAnywhere(request, { totalMs: 5_000, bodyBytes: 100_000 }).catch(() => undefined)
  const ping = (path: string, body = '') => call({ method: 'POST', url: baseUrl + path, body })
  const release = (n: number) =>
    call({
      method: 'PUT',
      url: `${baseUrl}/v1/dns/zones/${zoneId}/rrsets`,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rrsets: [rrset('_release', 'TXT', [`release=4.12.${n}`])] }),
    })
  const timers = new Set<ReturnType<typeof setTimeout>>()
  const every = (ms: number, run: () => void) => timers.add(setInterval(run, ms))
  every(workerMs, () => ping(worker))
  every(stockMs, () => ping(stock, 'imported 1,204 articles\n'))
  every(runEachMs, () => {
    const rid = newUuid4()
    ping(`${transcode}/start?rid=${rid}`)
    timers.add(setTimeout(() => ping(`${transcode}?rid=${rid}`, 'encoded 12 of 12 clips\n'), runMs))
  })
  let releases = 0
  every(releaseEachMs, () => release(releases++))
  // The run that was under way when the past ended.
  timers.add(setTimeout(() => ping(transcode, 'encoded 12 of 12 clips\n'), runMs))
  ping(worker)
  ping(stock, 'imported 1,204 articles\n')
  return {
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
