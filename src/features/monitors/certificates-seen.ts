import type { Hub } from '../../core/hub'
import { latestOf } from './live/latest'
import { monitoringOf } from './live/watch'

/**
 * The certificates that the last checks of this hub got from servers: SHA-256 by monitor. None while the results of this hub don’t count,
 * because something in its network may answer for all servers.
 */
export function certificatesSeen(hub: Hub): Map<string, string> {
  const seen = new Map<string, string>()
  const pulse = monitoringOf(hub)?.status().pulse
  if (!pulse || pulse.impaired !== null) return seen
  for (const [monitor, { result }] of latestOf(hub)) if (result.certificate) seen.set(monitor, result.certificate.sha256)
  return seen
}
