import type { Hub } from '../../../core/hub'
import { monitoringOf } from './watch'

/** The health of monitoring on a hub. `degraded` still works; `detail` says what is wrong. */
interface MonitoringHealth {
  status: 'ok' | 'degraded' | 'failing'
  detail: string | null
}

// The engine reports every second, but a busy machine may delay it.
const maxSilenceMs = 10_000
const startsWithinMs = 30_000
const maxLagMs = 5_000
const maxFaultMs = 15_000

/** The health of monitoring on this hub. Reports the most severe problem. */
export function monitoringHealth(hub: Hub): MonitoringHealth {
  const watch = monitoringOf(hub)
  if (!watch) return { status: 'failing', detail: 'Monitoring is not running.' }
  const now = hub.clock.now()
  const status = watch.status()
  const silentFor = now - (status.pulseAt ?? status.startedAt)
  if (silentFor > (status.pulseAt === null ? startsWithinMs : maxSilenceMs))
    return degraded('The check engine is not responding and is being restarted.')
  if (status.failingSince !== null && now - status.failingSince > maxFaultMs)
    return degraded('Check results can’t be stored, or monitors can’t be divided among the hubs. Retrying.')
  const { pulse } = status
  if (pulse && pulse.impaired !== null) return degraded(`Check results of this hub are being discarded: ${pulse.impaired}`)
  if (pulse && pulse.lag_p99_ms > maxLagMs)
    return degraded(`Checks start up to ${Math.round(pulse.lag_p99_ms / 1000)} s late, because this machine is overloaded.`)
  return { status: 'ok', detail: null }
}

const degraded = (detail: string): MonitoringHealth => ({ status: 'degraded', detail })
