import { formatUtcSecond, systemClock } from '../../core/clock'
import { configFile, readConfigFile } from '../config-file'
import { readStatus } from '../state/status-file'
import type { Flags, Print } from './arguments'

/** Shows whether the hub receives reports. The exit code is 1 if it doesn’t. */
export function status(flags: Flags, { out, err }: Print): number {
  const settings = readConfigFile(flags.config ?? configFile)
  const now = readStatus(settings.runtimeFolder)
  if (!now) {
    err('The agent is not running. To start it: systemctl start bailiwick-agent\n')
    return 1
  }
  const { last_report_at: last, clock_offset_ms: offset } = now
  const lines: [string, string][] = [
    ['Hub', now.hub],
    ['Server', `${now.server_id} (agent ${now.agent_id})`],
    ['Version', now.version],
    ['Running since', formatUtcSecond(now.started_at)],
    ['Last report', last === null ? 'none yet' : formatUtcSecond(last)],
    ['Problem', now.error ?? 'none'],
    ['Waiting minutes', String(now.spooled)],
    ['Dropped minutes', String(now.dropped)],
    [
      'Clock',
      offset === null ? 'unknown' : `${Math.abs(offset / 1000).toFixed(1)} s ${offset >= 0 ? 'behind' : 'ahead of'} the hub`,
    ],
    ['Allowed', settings.allow.join(', ')],
  ]
  for (const [name, value] of lines) out(`${`${name}:`.padEnd(17)}${value}\n`)
  const isReporting = last !== null && systemClock.now() - last < 3000 * now.interval_seconds
  return isReporting && now.error === null ? 0 : 1
}
