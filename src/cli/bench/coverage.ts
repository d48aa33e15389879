import { and, eq } from 'drizzle-orm'
import { record } from '../../core/change'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { gapsJobKind } from '../../features/certificates/gaps-job'
import { certificateCoverage, certificateGaps } from '../../features/coverage/tables'
import { workOutGapsJob } from '../../features/coverage/work-out-gaps'
import { tlsEndpoints } from '../../features/tls-endpoints/tables'
import { openHub } from '../../hub/run'
import { createAuthority } from '../certificate-authority'
import type { Bench, Figure } from './bench'
import { temporaryInstallation } from './child-processes'
import { fillZone } from './dns-fill'
import { openInProcessApi } from './in-process-api'

const goals = { ms: 1000, blockMs: 50 }
const dayMs = 86_400_000
const minuteMs = 60_000

/** `bailiwick bench coverage`: how long the names of many zones take to evaluate. */
export const coverageBench: Bench = {
  name: 'coverage',
  summary: 'Evaluate which names of many zones have a certificate, and their gaps',
  options: [
    { name: 'zones', description: 'Number of zones, each with a wildcard certificate', default: 200 },
    { name: 'names', description: 'Number of names in all zones. The certificates cover half of them', default: 10_000 },
  ],
  async run({ zones, names }) {
    const { config, remove } = temporaryInstallation()
    try {
      const workspaceId = await addZones(config, zones!, Math.ceil(names! / zones!))
      // Without the API, jobs don’t run: they would scan meanwhile.
      const hub = await openHub(config)
      try {
        const first = await measure(hub, workspaceId, 'first evaluation')
        const again = await measure(hub, workspaceId, 'evaluation without changes')
        await answerWithoutTls(hub, workspaceId, 10 * minuteMs)
        const pending = await measure(hub, workspaceId, 'gaps found by the first scan')
        await answerWithoutTls(hub, workspaceId, minuteMs)
        const opened = await measure(hub, workspaceId, 'gaps opened by the second scan')
        const [covered, open] = [eq(certificateCoverage.covered, 'wildcard'), eq(certificateGaps.status, 'open')]
        return {
          figures: [
            ...[first, again, pending, opened].flat(),
            { name: 'goal', value: goals.ms, unit: 'ms' },
            { name: 'goal for the longest block', value: goals.blockMs, unit: 'ms' },
            { name: 'names that a certificate covers', value: await hub.read.$count(certificateCoverage, covered), unit: '' },
            { name: 'open gaps', value: await hub.read.$count(certificateGaps, open), unit: '' },
          ],
          notes: ['The goals are for evaluations without changes. The others also write every name, TLS endpoint, or gap.'],
        }
      } finally {
        await hub.store.close()
      }
    } finally {
      remove()
    }
  },
}

/** @returns the ID of their workspace */
async function addZones(config: Config, count: number, namesPerZone: number): Promise<string> {
  const api = await openInProcessApi(config)
  const now = api.hub.clock.now()
  const authority = createAuthority('Bench', now)
  await api.call('POST', '/v1/certificate-authorities', { name: 'Bench', pem: authority.cert })
  const names = Array.from({ length: count }, (_, n) => `coverage-${n}.test`)
  for (const name of names) await fillZone(api.hub, (await api.call('POST', '/v1/dns/zones', { name })).id, namesPerZone)
  for (const name of names) {
    const pem = authority.issue([`*.${name}`], now - dayMs, now + 30 * dayMs).cert
    await api.call('POST', '/v1/certificates', pem, { 'content-type': 'application/x-pem-file' })
  }
  await api.close()
  return api.workspaceId
}

/** Stores results of scans of all endpoints: their ports are open, but don’t speak TLS. @param ago how old the scans are (ms) */
async function answerWithoutTls(hub: Hub, workspaceId: string, ago: number): Promise<void> {
  const state = { address: '192.0.2.1', state: 'no_tls', grade: null, certificate_id: null, error: 'No TLS.' } as const
  await record(hub, async tx => {
    await tx
      .update(tlsEndpoints)
      .set({ addresses: [state], lastScanAt: hub.clock.now() - ago, failures: 1 })
      .where(and(eq(tlsEndpoints.workspaceId, workspaceId), eq(tlsEndpoints.origin, 'coverage')))
    return { result: undefined }
  })
}

async function measure(hub: Hub, workspaceId: string, name: string): Promise<Figure[]> {
  const job = { kind: gapsJobKind, payload: { workspace_id: workspaceId } } as Parameters<typeof workOutGapsJob.run>[1]
  const turns = watchTurns()
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  await workOutGapsJob.run(hub, job, undefined)
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return [
    { name, value: ms, unit: 'ms' },
    { name: `${name}: CPU`, value: (user + system) / 1000, unit: 'ms' },
    { name: `${name}: longest block`, value: turns.stop(), unit: 'ms' },
  ]
}

/** Measures the longest turn of the event loop by the CPU time of this thread, which other programs don’t change. @returns ms */
function watchTurns(): { stop(): number } {
  let [longest, last, isRunning] = [0, process.threadCpuUsage(), true]
  const next = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, user + system)
    last = process.threadCpuUsage()
    if (isRunning) setImmediate(next)
  }
  setImmediate(next)
  return {
    stop() {
      isRunning = false
      return longest / 1000
    },
  }
}
