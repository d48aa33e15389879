import { CheckInputRefused } from '../check'
import { hostPort, hostPortText, type HostPort } from '../host-port'

/** A server that is named: where it is, and with HTTPS what is asked of it there. */
export type DnsServer = HostPort & { url: URL | null }

/** The server that options name; null where they name none. @throws CheckInputRefused */
export function serverOf(given: { resolver?: string; transport?: 'udp' | 'tcp' | 'dot' | 'doh' }): DnsServer | null {
  const { resolver, transport = 'udp' } = given
  if (resolver === undefined) return null
  if (transport === 'doh') return serverOfUrl(resolver)
  try {
    return { ...hostPort(resolver, transport === 'dot' ? 853 : 53), url: null }
  } catch (error) {
    if (!(error instanceof CheckInputRefused)) throw error
    throw refused('must be a host name or an address, with a port behind a colon or without.')
  }
}

export const serverText = (server: DnsServer): string => server.url?.href ?? hostPortText(server)

function serverOfUrl(text: string): DnsServer {
  // The URL parser drops or rewrites these; what was saved must be what is called.
  const url = /[\s\p{Cc}\\#]/u.test(text) || !/^https:\/\//i.test(text) ? null : URL.parse(text)
  if (!url || url.username || url.password)
    throw refused('must be a URL of the scheme https, without user name, password and fragment, with the transport doh.')
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 443), url }
}

const refused = (rule: string) => new CheckInputRefused('/options/resolver', rule)
