import type { Bench } from './bench'
import { residentBytes, scratch, serveAgain } from './hub-process'
import { load, requestBytes } from './load'
import { seed } from './seed'

/** `bailiwick bench heartbeats`: pings that are on the disk when they are answered. */
export const heartbeatsBench: Bench = {
  name: 'heartbeats',
  summary: 'Ping heartbeats as fast as they are durably recorded.',
  options: [
    { name: 'heartbeats', meaning: 'how many are pinged, one after the other', default: 10_000 },
    { name: 'seconds', meaning: 'length of the run', default: 10 },
    { name: 'connections', meaning: 'connections kept busy', default: 256 },
  ],
  async run(args) {
    const { config, folder, remove } = scratch()
    try {
      const { uuids } = await seed(config, args.heartbeats!)
      const hub = await serveAgain(['serve', '--data', folder, '--listen', '127.0.0.1:0', '--dns-listen', 'off'])
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
          notes: ['Each ping was committed with synchronous=FULL before it was answered; client and hub share the machine.'],
        }
      } finally {
        await hub.stop()
      }
    } finally {
      remove()
    }
  },
}
