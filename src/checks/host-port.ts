import { isIP } from 'node:net'
import { canonicalHost } from '../core/net/host-name'
import { InvalidCheckInput } from './check'

export interface HostPort {
  /** A name in lower case, or an address without brackets. */
  host: string
  port: number
}

/**
 * Parses `host:port`. An IPv6 address with a port must be in brackets.
 * @param defaultPort used if the text has no port; null if a port is required
 * @throws InvalidCheckInput
 */
export function parseHostPort(text: string, defaultPort: number | null): HostPort {
  const invalid = (rule: string) => new InvalidCheckInput('/target', rule)
  const [, inner, name, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const bare = isIP(text) === 6 ? text : (inner ?? name)
  const host = bare === undefined || (inner !== undefined && isIP(inner) !== 6) ? null : canonicalHost(bare)
  if (host === null) throw invalid('must be a hostname or IP address with a port, such as mail.example.com:993.')
  const port = digits === undefined ? defaultPort : Number(digits)
  if (port === null) throw invalid('must include a port, such as mail.example.com:25.')
  if (port < 1 || port > 65_535) throw invalid('must have a port between 1 and 65535.')
  return { host, port }
}

/** The host of a URL without the brackets of an IPv6 address. */
export const bareHost = (host: string): string => host.replace(/^\[|\]$/g, '')

export const formatHostPort = ({ host, port }: HostPort): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
