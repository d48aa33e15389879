import { operatorWorkspace } from '../../access/workspaces'
import { jobContext, record, systemActor } from '../../core/change'
import type { Hub } from '../../core/hub'
import { openHub } from '../../hub/run'
import { insertHeartbeat } from '../../features/heartbeats/heartbeats'
import type { Bench, Figure } from './bench'
import { temporaryInstallation } from './child-processes'

/** `bailiwick bench store`: the cost of durable changes, alone and with concurrent callers. */
export const storeBench: Bench = {
  name: 'store',
  summary: 'Write durable changes, each with a row, a secret, and an audit event, with 1 to 64 concurrent callers',
  options: [{ name: 'seconds', description: 'Duration of each run in seconds', default: 3 }],
  async run(args) {
    const { config, remove } = temporaryInstallation()
    const hub = await openHub(config)
    try {
      const workspaceId = (await operatorWorkspace(hub.read)).id
      const figures: Figure[] = []
      for (const callers of [1, 4, 16, 64]) figures.push(...(await changes(hub, workspaceId, callers, args.seconds!)))
      return {
        figures,
        notes: ['Each caller waits until its change is on disk. Concurrent callers share a commit.'],
      }
    } finally {
      await hub.store.close()
      remove()
    }
  },
}

async function changes(hub: Hub, workspaceId: string, callers: number, seconds: number): Promise<Figure[]> {
  const end = performance.now() + seconds * 1000
  const latencies: number[] = []
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (performance.now() < end) {
        const startedAt = performance.now()
        await record(hub, async tx => {
          const { row } = await insertHeartbeat(
            tx,
            { hub, workspaceId },
            { name: 'bench', schedule: { kind: 'period', period_seconds: 60, grace_seconds: 60 } },
          )
          return {
            result: undefined,
            audits: [
              {
                workspaceId,
                action: 'heartbeat.create',
                actor: systemActor('bench'),
                context: jobContext,
                targets: [{ type: 'heartbeat', id: row.id, name: row.name }],
              },
            ],
          }
        })
        latencies.push(performance.now() - startedAt)
      }
    }),
  )
  latencies.sort((a, b) => a - b)
  return [
    { name: `changes, ${callers} callers`, value: latencies.length / seconds, unit: '1/s' },
    { name: `p99, ${callers} callers`, value: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN, unit: 'ms' },
  ]
}
