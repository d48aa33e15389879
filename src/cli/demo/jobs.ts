import { newUuid4 } from '../../core/ids'
import type { GuardedRequest } from '../../core/net/guarded-fetch'
import { fetchUnrestricted } from '../unrestricted-fetch'
import type { PingPaths } from './heartbeats'
import { rrset } from './zones'

const releaseEveryMs = 110_000
const [workerMs, stockMs] = [45_000, 55 * 60_000]
const [runEveryMs, runMs] = [240_000, 150_000]

/** What the deploy pipeline needs to record a release in DNS. */
export interface Releases {
  zoneId: string
  token: string
}

/** Starts the jobs of the running demo: pings and an occasional release. @param baseUrl of the hub */
export function startJobs(
  baseUrl: string,
  { worker, stock, transcode }: PingPaths,
  { zoneId, token }: Releases,
): { stop(): void } {
  // Errors are ignored, as in a real job: its heartbeat then misses a ping.
  const call = (request: GuardedRequest) =>
    void fetchUnrestricted(request, { totalMs: 5_000, maxBodyBytes: 100_000 }).catch(() => undefined)
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
  every(runEveryMs, () => {
    const rid = newUuid4()
    ping(`${transcode}/start?rid=${rid}`)
    timers.add(setTimeout(() => ping(`${transcode}?rid=${rid}`, 'encoded 12 of 12 clips\n'), runMs))
  })
  let releases = 0
  every(releaseEveryMs, () => release(releases++))
  // Finishes the run that was started at the end of the simulation.
  timers.add(setTimeout(() => ping(transcode, 'encoded 12 of 12 clips\n'), runMs))
  ping(worker)
  ping(stock, 'imported 1,204 articles\n')
  return {
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}
