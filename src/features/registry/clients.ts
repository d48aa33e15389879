import { createConnection } from 'node:net'
import type { Hub } from '../../core/hub'
import { EgressRefused } from '../../core/net/egress'
import { FetchFailed } from '../../core/net/fetch-failure'
import { guardedFetch, type GuardedResponse } from '../../core/net/guarded-fetch'
import { egressOf } from '../../core/net/hub-egress'
import { version } from '../../core/version'
import { maxRdapBytes, readRdap } from './rdap-response'
import { unknown, type Reading } from './reading'
import { registryPolicy, type RegistrySource } from './sources'
import type { WhoisForm } from './whois-forms'
import { maxWhoisBytes, readWhois } from './whois-response'

const rdapMs = 15_000
const whoisMs = 10_000

/** Queries a server for a name. Never throws for what the server or the network does. @param name A-labels */
export const ask = (hub: Hub, source: RegistrySource, name: string): Promise<Reading> =>
  source.kind === 'rdap' ? askRdap(hub, `${source.base}domain/${name}`, name) : askWhois(hub, source.form, source.port, name)

/** Queries an RDAP server (RFC 7480). @param url of the domain */
export async function askRdap(hub: Hub, url: string, name: string): Promise<Reading> {
  try {
    const response = await get(hub, url, { Accept: 'application/rdap+json' })
    const { status, headers, body, bodyTruncated } = response
    return readRdap({ status, headers, body, isTooLong: bodyTruncated }, name, hub.clock.now())
  } catch (error) {
    if (error instanceof FetchFailed) return unknown(error.message)
    throw error
  }
}

/**
 * Sends a request to a server of a registry, and follows one redirect (RFC 7480 section 5.2), which the network policy applies to as well.
 * @throws FetchFailed
 */
export async function get(hub: Hub, url: string, headers: Record<string, string>): Promise<GuardedResponse> {
  const contact = hub.config.contact
  const send = (to: string) =>
    guardedFetch(
      {
        url: to,
        headers: {
          ...headers,
          'Accept-Encoding': 'identity',
          'User-Agent': `Bailiwick/${version}${contact === null ? '' : ` (+${contact})`}`,
        },
      },
      {
        egress: egressOf(hub),
        policy: registryPolicy(hub.config),
        limits: { totalMs: rdapMs, maxBodyBytes: maxRdapBytes },
      },
    )
  const response = await send(url)
  const location = response.headers.get('location')
  const next = [301, 302, 303, 307, 308].includes(response.status) && location !== null ? URL.parse(location, url) : null
  // Never downgrade a secure connection.
  if (!next || (url.startsWith('https:') && next.protocol !== 'https:')) return response
  return await send(next.href)
}

/** Queries a WHOIS server (RFC 3912): one line, and everything until the server closes the connection. */
async function askWhois(hub: Hub, form: WhoisForm, port: number, name: string): Promise<Reading> {
  try {
    const { address } = await egressOf(hub).vetHost(form.host, port, registryPolicy(hub.config))
    const line = (form.query ?? '{name}').replace('{name}', name)
    const received = await exchange(hub, address, port, `${line}\r\n`)
    return typeof received === 'string' ? unknown(received) : readWhois(received, form, name)
  } catch (error) {
    if (error instanceof EgressRefused) return unknown(error.message)
    throw error
  }
}

/** Returns the response, or why there is none. */
function exchange(hub: Hub, address: string, port: number, text: string): Promise<Uint8Array | string> {
  const { promise, resolve } = Promise.withResolvers<Uint8Array | string>()
  const chunks: Buffer[] = []
  let size = 0
  const socket = createConnection({ host: address, port })
  const timer = hub.clock.after(whoisMs, () => end('The query timed out.'))
  const end = (result: Uint8Array | string) => {
    timer.cancel()
    socket.destroy()
    resolve(result)
  }
  socket.on('error', () =>
    end(size > 0 ? 'The server closed the connection before its response was complete.' : 'The connection failed.'),
  )
  socket.on('connect', () => socket.write(text))
  socket.on('end', () => end(Buffer.concat(chunks)))
  socket.on('data', chunk => {
    chunks.push(Buffer.from(chunk))
    size += chunk.length
    if (size > maxWhoisBytes) end(`The response is larger than ${maxWhoisBytes / 1024} KiB.`)
  })
  return promise
}
