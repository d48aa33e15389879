import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { InvalidArgumentError, type Command } from 'commander'
import type { Config } from '../core/config'
import { Failure } from './failure'
import { readConfig, withListen, type SettingFlags } from './settings'

const timeoutMs = 5000

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
      const status = await statusOf(new URL('/healthz', base), flags.url !== undefined)
      if (status !== 200) throw new Failure(`The hub at ${base.origin} is unhealthy: /healthz returned ${status}.`)
      console.log('ok')
    })
}

/** The URL on this machine of a hub with these settings. */
function localUrl({ listen, tlsCert }: Config): URL {
  const host =
    listen.host === '::' || listen.host === '0.0.0.0' ? '127.0.0.1' : listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return new URL(`${tlsCert ? 'https' : 'http'}://${host}:${listen.port}`)
}

/** Returns the status code. The certificate doesn't cover the local address, so it is not checked there. */
function statusOf(url: URL, checkCertificate: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Failure(`The hub at ${url.origin} is not responding: ${reason}.`))
    const send = url.protocol === 'https:' ? requestHttps : requestHttp
    const request = send(url, { timeout: timeoutMs, rejectUnauthorized: checkCertificate, agent: false }, response => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    request.on('timeout', () => {
      request.destroy()
      fail(`timed out after ${timeoutMs / 1000} seconds`)
    })
    request.on('error', error => fail((error as NodeJS.ErrnoException).code ?? error.message))
    request.end()
  })
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It must be an http:// or https:// URL.')
  return url
}
