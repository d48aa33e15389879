import type { Bench, Figure } from './bench'
import { residentBytes, temporaryInstallation, startServer } from './child-processes'
import { load, requestBytes, type LoadResult } from './load'
import { median } from './median'
import { seed } from './seed'

/** `bailiwick bench heartbeats`: throughput of durable pings. */
export const heartbeatsBench: Bench = {
  name: 'heartbeats',
  summary: 'Ping heartbeats as fast as possible',
  options: [
    { name: 'heartbeats', description: 'Number of heartbeats, pinged in turn', default: 10_000 },
    { name: 'seconds', description: 'Duration of each round in seconds', default: 10 },
    { name: 'rounds', description: 'Number of rounds. The result is their median', default: 3 },
    { name: 'connections', description: 'Number of concurrent connections', default: 256 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const { uuids } = await seed(config, args.heartbeats!)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      try {
        const options = { connections: args.connections!, seconds: args.seconds! }
        const run = async (suffix: string): Promise<LoadResult[]> => {
          const requests = uuids.map(uuid => requestBytes('GET', `/ping/${uuid}${suffix}`))
          let next = 0
          const request = () => requests[next++ % requests.length]!
          await load(hub, { ...options, seconds: 2 }, request)
          const rounds: LoadResult[] = []
          for (let round = 0; round < args.rounds!; round++) rounds.push(await load(hub, options, request))
          return rounds
        }
        const figuresOf = (name: string, rounds: readonly LoadResult[]): Figure[] => [
          { name, value: median(rounds.map(one => one.perSecond)), unit: '1/s' },
          { name: `${name}, p50`, value: median(rounds.map(one => one.p50)), unit: 'ms' },
          { name: `${name}, p99`, value: median(rounds.map(one => one.p99)), unit: 'ms' },
          { name: `${name}, rejected`, value: rounds.reduce((sum, one) => sum + one.failures, 0), unit: '' },
        ]
        return {
          figures: [
            ...figuresOf('pings', await run('')),
            // The first of each heartbeat raises an alert.
            ...figuresOf('failing pings', await run('/fail')),
            { name: 'memory of the hub', value: residentBytes(hub.pid) / 1e6, unit: 'MB' },
          ],
          notes: ['Each ping was flushed to disk before the response. Client and hub share the machine.'],
        }
      } finally {
        await hub.stop()
      }
    } finally {
      remove()
    }
  },
}
