import { request as sendRequest } from 'node:http'
import type { Socket } from 'node:net'
import { SocksClient } from 'socks'
import type { Attempt } from '../attempt'
import { CheckFailed, codeOf, connectFailure } from '../connect-failure'
import { connectTcp, connectTls } from '../tls-connect'
import type { HttpOptions } from './options'

type Proxy = NonNullable<HttpOptions['proxy']>

/** A connection through which a target can be asked. `absolute`: the request line has the whole URL, since the proxy speaks HTTP. */
export interface ProxiedConnection {
  socket: Socket
  absolute: boolean
}

/**
 * Connects to a target through a proxy. The proxy is what the network policy is about: it looks the target up, and whatever it reaches
 * it reaches from where it is.
 * @throws CheckFailed that says it was the proxy
 */
export async function connectProxied(
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
        ? await connectTls(attempt, host, port, { name: bare(host), verify: true, ...(ca !== undefined && { ca }) })
        : await connectTcp(attempt, host, port)
    // Of the target nothing is known yet: it is neither connected, nor is the proxy's certificate its own.
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

/** `Proxy-Authorization`, where the proxy has credentials. */
export const proxyAuthorization = ({ username, password = '' }: Proxy): Record<string, string> =>
  username === undefined ? {} : { 'Proxy-Authorization': `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }

const defaultPorts: Record<string, number> = { 'http:': 80, 'https:': 443, 'socks4:': 1080, 'socks5:': 1080 }

const bare = (host: string): string => host.replace(/^\[|\]$/g, '')

const portOf = (target: URL): number => Number(target.port || (target.protocol === 'https:' ? 443 : 80))

async function throughSocks(attempt: Attempt, socket: Socket, url: URL, proxy: Proxy, target: URL): Promise<Socket> {
  const began = attempt.around.now()
  try {
    await attempt.within(
      SocksClient.createConnection({
        command: 'connect',
        existing_socket: socket,
        proxy: {
          host: bare(url.hostname),
          port: Number(url.port || 1080),
          type: url.protocol === 'socks4:' ? 4 : 5,
          ...(proxy.username !== undefined && { userId: proxy.username, password: proxy.password ?? '' }),
        },
        destination: { host: bare(target.hostname), port: portOf(target) },
      }),
      'no connection',
    )
  } catch (error) {
    if (error instanceof CheckFailed || codeOf(error) !== '') throw error
    const text = error instanceof Error ? error.message : ''
    if (/authentication/i.test(text)) throw new CheckFailed('protocol', 'it refuses the user name or password')
    throw new CheckFailed('unreachable', 'it did not connect to the target')
  }
  attempt.spent('connect', began)
  return socket
}

/** CONNECT (RFC 9110 section 9.3.6). */
async function tunnel(attempt: Attempt, socket: Socket, proxy: Proxy, target: URL): Promise<Socket> {
  const began = attempt.around.now()
  const authority = `${target.hostname}:${portOf(target)}`
  const asking = sendRequest({
    createConnection: () => socket,
    method: 'CONNECT',
    path: authority,
    setHost: false,
    headers: { Host: authority, ...proxyAuthorization(proxy) },
  })
  const answered = new Promise<number>((resolve, reject) => {
    asking.once('connect', response => resolve(response.statusCode ?? 0))
    asking.once('response', response => resolve(response.statusCode ?? 0))
    asking.on('error', reject)
  })
  asking.end()
  const status = await attempt.within(answered, 'no answer to CONNECT')
  if (status === 407) throw new CheckFailed('protocol', 'it wants other credentials (HTTP 407)')
  if (status < 200 || status > 299) throw new CheckFailed('unreachable', `it did not connect to the target (HTTP ${status})`)
  attempt.spent('connect', began)
  return socket
}
