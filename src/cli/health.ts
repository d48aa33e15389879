import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { InvalidArgumentError, type Command } from 'commander'
import type { Config } from '../core/config'
import { Failure } from './failure'
import { readConfig, withListen, type SettingFlags } from './settings'

const timeoutMs = 5000

export function addHealth(program: Command): void {
  withListen(program.command('health').description('Ask a running hub whether it is well; for container health checks.'))
    .option('--url <address>', 'where the hub is reached (default: this machine, at the port of --listen)', readUrl)
    .addHelpText(
      'after',
      `
Exit code 0 when it answers well within 5 seconds, 1 otherwise.

Examples:
  bailiwick health
  bailiwick health --url https://hub.example.com`,
    )
    .action(async (flags: SettingFlags & { url?: URL }) => {
      const base = flags.url ?? ownAddress(readConfig(flags))
      const status = await statusOf(new URL('/healthz', base), flags.url !== undefined)
      if (status !== 200) throw new Failure(`The hub at ${base.origin} answers /healthz with ${status}.`)
      console.log('ok')
    })
}

/** Where a hub with these settings answers on this machine. */
function ownAddress({ listen, tlsCert }: Config): URL {
  const host =
    listen.host === '::' || listen.host === '0.0.0.0' ? '127.0.0.1' : listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return new URL(`${tlsCert ? 'https' : 'http'}://${host}:${listen.port}`)
}

/** On this machine's own address the certificate names another host, so there it is not looked at. */
function statusOf(url: URL, checkCertificate: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Failure(`The hub at ${url.origin} does not answer: ${why}.`))
    const ask = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = ask(url, { timeout: timeoutMs, rejectUnauthorized: checkCertificate, agent: false }, answer => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    request.on('timeout', () => {
      request.destroy()
      fail(`nothing within ${timeoutMs / 1000} seconds`)
    })
    request.on('error', error => fail((error as NodeJS.ErrnoException).code ?? error.message))
    request.end()
  })
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It must be an http:// or https:// address.')
  return url
}
