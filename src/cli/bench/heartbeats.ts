import type { Bench } from './bench'
import { residentBytes, temporaryInstallation, startServer } from './child-processes'
import { load, requestBytes } from './load'
import { seed } from './seed'

/** `bailiwick bench heartbeats`: throughput of durable pings. */
export const heartbeatsBench: Bench = {
  name: 'heartbeats',
  summary: 'Ping heartbeats as fast as possible',
  options: [
    { name: 'heartbeats', description: 'Number of heartbeats, pinged in turn', default: 10_000 },
    { name: 'seconds', description: 'Duration of the run in seconds', default: 10 },
    { name: 'connections', description: 'Number of concurrent connections', default: 256 },
  ],
  async run(args) {
    const { config, folder, remove } = temporaryInstallation()
    try {
      const { uuids } = await seed(config, args.heartbeats!)
      const hub = await startServer(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
      try {
        const requests = uuids.map(uuid => requestBytes('GET', `/ping/${uuid}`))
        let next = 0
        const request = () => requests[next++ % requests.length]!
        const options = { connections: args.connections!, seconds: args.seconds! }
        await load(hub, { ...options, seconds: 2 }, request)
        const result = await load(hub, options, request)
        return {
          figures: [
            { name: 'pings', value: result.perSecond, unit: '1/s' },
            { name: 'p50', value: result.p50, unit: 'ms' },
            { name: 'p99', value: result.p99, unit: 'ms' },
            { name: 'failures', value: result.failures, unit: '' },
            { name: 'memory of the hub', value: residentBytes(hub.pid) / 1e6, unit: 'MB' },
          ],
          notes: ['Each ping was committed with synchronous=FULL before the response. Client and hub share the machine.'],
        }
      } finally {
        await hub.stop()
      }
    } finally {
      remove()
    }
  },
}
