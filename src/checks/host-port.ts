import { isIP } from 'node:net'
import { canonicalHost } from '../core/net/host-name'
import { CheckInputRefused } from './check'

export interface HostPort {
  /** A name in lower case, or an address without brackets. */
  host: string
  port: number
}

/**
 * Reads `host:port`; an IPv6 address with a port is in brackets.
 * @param usual the port where there is none; null: there must be one
 * @throws CheckInputRefused
 */
export function hostPort(text: string, usual: number | null): HostPort {
  const refused = (rule: string) => new CheckInputRefused('/target', rule)
  const [, inner, name, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? []
  const bare = isIP(text) === 6 ? text : (inner ?? name)
  const host = bare === undefined || (inner !== undefined && isIP(inner) !== 6) ? null : canonicalHost(bare)
  if (host === null) throw refused('must be a host name or an address, with a port behind a colon: mail.example.com:993.')
  const port = digits === undefined ? usual : Number(digits)
  if (port === null) throw refused('must have a port behind a colon: mail.example.com:25.')
  if (port < 1 || port > 65_535) throw refused('must have a port from 1 to 65535.')
  return { host, port }
}

export const hostPortText = ({ host, port }: HostPort): string => `${isIP(host) === 6 ? `[${host}]` : host}:${port}`
