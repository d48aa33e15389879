import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Config } from '../core/config'
import { Failure } from './failure'

const timeoutMs = 5000

/** The URL on this machine of a hub with these settings. */
export function localUrl({ listen, tlsCert }: Config): URL {
  return urlOn({ ...listen, https: tlsCert !== null })
}

/** The URL on this machine of a hub that listens there. */
export function urlOn(listen: { host: string; port: number; https: boolean }): URL {
  const host =
    listen.host === '::' || listen.host === '0.0.0.0' ? '127.0.0.1' : listen.host.includes(':') ? `[${listen.host}]` : listen.host
  return new URL(`${listen.https ? 'https' : 'http'}://${host}:${listen.port}`)
}

/**
 * Sends a GET request to a hub.
 * @param options `checkCertificate`: false for the local address, which the certificate doesn't cover
 * @throws Failure if the hub doesn't respond within 5 seconds
 */
export function getFromHub(
  url: URL,
  { checkCertificate, headers }: { checkCertificate: boolean; headers?: Record<string, string> },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string) => reject(new Failure(`The hub at ${url.origin} is not responding: ${reason}.`))
    const failed = (error: NodeJS.ErrnoException) => fail(error.code ?? error.message)
    const options = { timeout: timeoutMs, rejectUnauthorized: checkCertificate, agent: false, headers }
    const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, options, response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', failed)
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }))
    })
    request.on('timeout', () => {
      request.destroy()
      fail(`timed out after ${timeoutMs / 1000} seconds`)
    })
    request.on('error', failed)
    request.end()
  })
}
