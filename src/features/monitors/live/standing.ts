import type { Hub } from '../../../core/hub'
import { monitoringOf } from './watch'

/** How the monitoring of a hub is: `degraded` still serves, and says what is wrong. */
export interface MonitoringHealth {
  status: 'ok' | 'degraded' | 'failing'
  detail: string | null
}

// The engine tells each second; a busy machine may keep it from that for a while.
const longestSilenceMs = 10_000
const startsWithinMs = 30_000
const longestLagMs = 5_000
const longestFaultMs = 15_000

/** What is wrong with the monitoring of this hub, the gravest first. */
export function monitoringHealth(hub: Hub): MonitoringHealth {
  const watch = monitoringOf(hub)
  if (!watch) return { status: 'failing', detail: 'Monitoring is not running.' }
  const now = hub.clock.now()
  const found = watch.standing()
  const silentFor = now - (found.pulseAt ?? found.startedAt)
  if (silentFor > (found.pulseAt === null ? startsWithinMs : longestSilenceMs))
    return degraded('The engine of checks is not heard of, and is started again.')
  if (found.failingSince !== null && now - found.failingSince > longestFaultMs)
    return degraded('What checks found cannot be written, or the monitors not be divided among the hubs; it is tried again.')
  const { pulse } = found
  if (pulse && pulse.impaired !== null) return degraded(`Results of this hub do not count at present: ${pulse.impaired}`)
  if (pulse && pulse.lag_p99_ms > longestLagMs)
    return degraded(`Checks begin up to ${Math.round(pulse.lag_p99_ms / 1000)} s late: this machine has too much to do.`)
  return { status: 'ok', detail: null }
}

const degraded = (detail: string): MonitoringHealth => ({ status: 'degraded', detail })
