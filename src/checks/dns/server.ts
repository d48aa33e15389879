import { InvalidCheckInput } from '../check'
import { bareHost, parseHostPort, formatHostPort, type HostPort } from '../host-port'

/** A configured name server; `url` for DNS over HTTPS. */
export type DnsServer = HostPort & { url: URL | null }

/** Parses the resolver of the options; null if there is none. @throws InvalidCheckInput */
export function parseServer(options: { resolver?: string; transport?: 'udp' | 'tcp' | 'dot' | 'doh' }): DnsServer | null {
  const { resolver, transport = 'udp' } = options
  if (resolver === undefined) return null
  if (transport === 'doh') return serverOfUrl(resolver)
  try {
    return { ...parseHostPort(resolver, transport === 'dot' ? 853 : 53), url: null }
  } catch (error) {
    if (!(error instanceof InvalidCheckInput)) throw error
    throw invalid('must be a hostname or IP address, optionally with a port.')
  }
}

export const formatServer = (server: DnsServer): string => server.url?.href ?? formatHostPort(server)

function serverOfUrl(text: string): DnsServer {
  // The URL parser silently drops or rewrites these characters; the stored URL must be the one requested.
  const url = /[\s\p{Cc}\\#]/u.test(text) || !/^https:\/\//i.test(text) ? null : URL.parse(text)
  if (!url || url.username || url.password)
    throw invalid('must be an https URL without a username, password, or fragment with transport doh.')
  return { host: bareHost(url.hostname), port: Number(url.port || 443), url }
}

const invalid = (rule: string) => new InvalidCheckInput('/options/resolver', rule)
