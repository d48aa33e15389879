import type { Command } from 'commander'
import { systemClock } from '../core/clock'
import { unknownSettings } from '../core/config'
import { openLog } from '../core/log'
import { version } from '../core/version'
import type { Threads } from '../hub/run'
import type { EndWith } from './failure'
import { exitOnUncaughtErrors, stopRequested } from './shutdown'
import { readConfig, withData, withDnsListen, withListen, type SettingFlags } from './settings'

export function addServe(program: Command, _: EndWith, threads: Threads): void {
  withDnsListen(withListen(withData(program.command('serve').description('Run a hub, the Bailiwick server'))))
    .addHelpText(
      'after',
      `
Prints the URL of the hub and, if there are no users yet, a link to create the first one.
Logs go to standard error, one JSON object per line.
On SIGTERM or SIGINT, the hub finishes running requests before it stops. A second signal stops it immediately.

Examples:
  bailiwick serve
  bailiwick serve --data /var/lib/bailiwick --listen 127.0.0.1:8484
  BAILIWICK_DATABASE_URL=postgres://bailiwick@db/bailiwick BAILIWICK_MASTER_KEY_FILE=/etc/bailiwick/key bailiwick serve`,
    )
    .action(async (flags: SettingFlags) => {
      await serve(flags, threads)
    })
}

async function serve(flags: SettingFlags, threads: Threads): Promise<void> {
  const config = readConfig(flags)
  const log = openLog(config.logLevel)
  for (const variable of unknownSettings()) log.warn({ variable }, `${variable} is not a setting and has no effect`)
  exitOnUncaughtErrors(error => log.fatal({ err: error }, 'uncaught error'))

  // Registered before the start, so that a signal during the start is not lost.
  const stop = stopRequested()
  const { runHub } = await import('../hub/run')
  const stopping = new AbortController()
  void stop.then(signal => stopping.abort(signal))
  const running = await runHub(config, threads, systemClock, { signal: stopping.signal }).catch(error => {
    if (!stopping.signal.aborted) throw error
    return null
  })
  if (!running) {
    log.info({ signal: stopping.signal.reason }, 'stopped while waiting for the database')
    return
  }
  const dns = running.nameServer ? `\nThe name server is listening on ${hostAndPort(running.nameServer)}` : ''
  console.log(`Bailiwick ${version} is running at ${running.hub.baseUrl}${dns}`)
  if (running.setupLink) console.log(`Create the first user at ${running.setupLink}`)
  log.info({ signal: await stop }, 'stopping')
  await running.stop()
}

/** `host:port`, with IPv6 addresses in brackets. */
export const hostAndPort = ({ host, port }: { host: string; port: number }) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`
