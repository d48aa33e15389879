import { request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { SocksClient } from 'socks'
import type { Attempt } from '../attempt'
import { CheckFailed, codeOf, connectFailure } from '../connect-failure'
import { bareHost } from '../host-port'
import { connectTcp, connectTls } from '../connect'
import type { HttpOptions } from './options'

type Proxy = NonNullable<HttpOptions['proxy']>

/** A connection through a proxy. `absolute`: the request line must have the whole URL, because the proxy speaks HTTP. */
interface ProxiedConnection {
  socket: Socket
  absolute: boolean
}

/**
 * Connects to a target through a proxy. The network policy applies to the proxy: it resolves and reaches the target from where it is.
 * @throws CheckFailed with a message that names the proxy
 */
export async function connectThroughProxy(
  attempt: Attempt,
  proxy: Proxy,
  target: URL,
  ca: string | undefined,
): Promise<ProxiedConnection> {
  const url = new URL(proxy.url)
  const host = url.hostname
  const port = Number(url.port || defaultPorts[url.protocol])
  try {
    const socket =
      url.protocol === 'https:'
        ? await connectTls(attempt, host, port, { name: bareHost(host), verify: true, ...(ca !== undefined && { ca }) })
        : await connectTcp(attempt, host, port)
    // Nothing is known about the target yet: it is not connected, and the proxy's certificate is not its own.
    attempt.facts.connected = false
    attempt.facts.tls = null
    if (url.protocol.startsWith('socks'))
      return { socket: await throughSocks(attempt, socket, url, proxy, target), absolute: false }
    if (target.protocol === 'http:') return { socket, absolute: true }
    return { socket: await tunnel(attempt, socket, proxy, target), absolute: false }
  } catch (error) {
    const { kind, message } = connectFailure(error, 'connecting')
    throw new CheckFailed(kind, `proxy: ${message}`)
  }
}

/** `Proxy-Authorization`, if the proxy has credentials. */
export const proxyAuthorization = ({ username, password = '' }: Proxy): Record<string, string> =>
  username === undefined ? {} : { 'Proxy-Authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }

const defaultPorts: Record<string, number> = { 'http:': 80, 'https:': 443, 'socks4:': 1080, 'socks5:': 1080 }

const portOf = (target: URL): number => Number(target.port || (target.protocol === 'https:' ? 443 : 80))

async function throughSocks(attempt: Attempt, socket: Socket, url: URL, proxy: Proxy, target: URL): Promise<Socket> {
  const startedAt = attempt.context.now()
  try {
    await attempt.within(
      SocksClient.createConnection({
        command: 'connect',
        existing_socket: socket,
        proxy: {
          host: bareHost(url.hostname),
          port: Number(url.port || 1080),
          type: url.protocol === 'socks4:' ? 4 : 5,
          ...(proxy.username !== undefined && { userId: proxy.username, password: proxy.password ?? '' }),
        },
        destination: { host: bareHost(target.hostname), port: portOf(target) },
      }),
      'the connection to the target',
    )
  } catch (error) {
    if (error instanceof CheckFailed || codeOf(error) !== '') throw error
    const text = error instanceof Error ? error.message : ''
    if (/authentication/i.test(text)) throw new CheckFailed('protocol', 'authentication failed: username or password rejected')
    throw new CheckFailed('unreachable', 'could not connect to the target')
  }
  attempt.addToPhase('connect', startedAt)
  return socket
}

/** CONNECT (RFC 9110 section 9.3.6). */
async function tunnel(attempt: Attempt, socket: Socket, proxy: Proxy, target: URL): Promise<Socket> {
  const startedAt = attempt.context.now()
  const authority = `${target.hostname}:${portOf(target)}`
  const request = sendRequest({
    createConnection: () => socket,
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: { Host: authority, ...proxyAuthorization(proxy) },
  })
  const responded = new Promise<number>((resolve, reject) => {
    request.once('connect', response => resolve(response.statusCode ?? 0))
    request.once('response', response => resolve(response.statusCode ?? 0))
    request.on('error', reject)
  })
  request.end()
  const status = await attempt.within(responded, 'the response to CONNECT')
  if (status === 407) throw new CheckFailed('protocol', 'authentication required or rejected (HTTP 407)')
  if (status < 200 || status > 299) throw new CheckFailed('unreachable', `could not connect to the target (HTTP ${status})`)
  attempt.addToPhase('connect', startedAt)
  return socket
}
