import { InvalidArgumentError, type Command } from 'commander'
import { Failure } from './failure'
import { getFromHub, localUrl } from './hub-request'
import { readConfig, withListen, type SettingFlags } from './settings'

export function addHealth(program: Command): void {
  withListen(program.command('health').description('Check the health of a running hub, for container health checks'))
    .option('--url <url>', 'URL of the hub (default: this machine, at the port of --listen)', parseUrl)
    .addHelpText(
      'after',
      `
The exit code is 0 if the hub is healthy and responds within 5 seconds, otherwise 1.

Examples:
  bailiwick health
  bailiwick health --url https://hub.example.com`,
    )
    .action(async (flags: SettingFlags & { url?: URL }) => {
      const base = flags.url ?? localUrl(readConfig(flags))
      const { status } = await getFromHub(new URL('/healthz', base), { checkCertificate: flags.url !== undefined })
      if (status !== 200) throw new Failure(`The hub at ${base.origin} is unhealthy: /healthz returned ${status}.`)
      console.log('ok')
    })
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It must be an http:// or https:// URL.')
  return url
}
