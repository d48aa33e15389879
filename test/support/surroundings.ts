import { systemClock } from '../../src/core/clock'
import { openLog } from '../../src/core/log'
import { createEgress } from '../../src/core/net/egress'
import type { Surroundings } from '../../src/features/dns/providers/provider'

const egress = createEgress({ ownListeners: () => [] })

/** A world in which providers may dial servers of this machine, and that has no HTTP. */
export const loopbackSurroundings: Surroundings = {
  clock: systemClock,
  log: openLog('silent'),
  request: () => Promise.reject(new Error('nothing of this is HTTP')),
  vet: (host, port) => egress.vetHost(host, port, { allowPrivate: true, allowRanges: [], requireHttps: false }),
}
