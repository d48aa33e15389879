import type { Command } from 'commander'
import { unknownSettings } from '../core/config'
import { openLog } from '../core/log'
import { version } from '../core/version'
import type { Threads } from '../hub/run'
import type { EndWith } from './index'
import { endOnSurprises, stopAsked } from './stopping'
import { readConfig, withData, withDnsListen, withListen, type SettingFlags } from './settings'

export function addServe(program: Command, _: EndWith, threads: Threads): void {
  withDnsListen(withListen(withData(program.command('serve').description('Run the hub.'))))
    .addHelpText(
      'after',
      `
Prints the address, and a link to make the first user while there is none; logs go to standard error, one JSON object a line.
SIGTERM or SIGINT lets requests under way finish; a second one stops at once.

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
  for (const variable of unknownSettings()) log.warn({ variable }, `${variable} names no setting and has no effect`)
  endOnSurprises(error => log.fatal({ err: error }, 'an error that nothing caught'))

  // Heard from here on, so that a stop during the start is not lost.
  const asked = stopAsked()
  const { runHub } = await import('../hub/run')
  const running = await runHub(config, threads)
  const dns = running.nameServer ? `\nAnswers DNS at ${hostAndPort(running.nameServer)}` : ''
  console.log(`Bailiwick ${version} serves at ${running.hub.baseUrl}${dns}`)
  if (running.setupLink) console.log(`Make the first user at ${running.setupLink}`)
  log.info({ signal: await asked }, 'stopping')
  await running.stop()
}

/** As a client takes it. */
export const hostAndPort = ({ host, port }: { host: string; port: number }) =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`
