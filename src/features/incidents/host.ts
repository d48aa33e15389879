import { isIP } from 'node:net'

/**
 * The name that a monitor asks for: of a URL, `host:port`, `[address]:port`, a host or a name.
 * @returns in lower case, without the dot at the end; null where the target is an address, or names nothing
 */
export function hostOf(target: string): string | null {
  const host = (URL.canParse(target) && target.includes('://') ? new URL(target).hostname : withoutPort(target))
    .toLowerCase()
    .replace(/\.$/, '')
  return host === '' || host.startsWith('[') || isIP(host) !== 0 || /[\s/]/.test(host) ? null : host
}

const withoutPort = (target: string): string => (isIP(target) === 0 ? target.replace(/:\d{1,5}$/, '') : target)

/** Whether a name is another one, or lies below it. Both in lower case. */
export const isWithin = (name: string, above: string): boolean => name === above || name.endsWith(`.${above}`)

/**
 * Whether a record at `fqdn` has a say in how `host` is found: it is at the name itself, a wildcard that covers it, or a delegation
 * or redirection of a name above (RFC 4592, RFC 6672).
 */
export function bearsOn(host: string, record: { fqdn: string; type: string }): boolean {
  const fqdn = record.fqdn.toLowerCase().replace(/\.$/, '')
  if (fqdn === host) return true
  if (fqdn.startsWith('*.')) return host.endsWith(fqdn.slice(1))
  return ['NS', 'DS', 'DNAME'].includes(record.type) && isWithin(host, fqdn)
}
