import { isIP } from 'node:net'

/**
 * The hostname of a monitor target: a URL, `host:port`, `[address]:port`, a host or a name.
 * @returns in lower case, without a trailing dot; null if the target is an IP address or has no hostname
 */
export function hostOf(target: string): string | null {
  const host = (URL.canParse(target) && target.includes('://') ? new URL(target).hostname : withoutPort(target))
    .toLowerCase()
    .replace(/\.$/, '')
  return host === '' || host.startsWith('[') || isIP(host) !== 0 || /[\s/]/.test(host) ? null : host
}

const withoutPort = (target: string): string => (isIP(target) === 0 ? target.replace(/:\d{1,5}$/, '') : target)

/** Whether a name equals another one or is below it. Both in lower case. */
export const isAtOrBelow = (name: string, above: string): boolean => name === above || name.endsWith(`.${above}`)

/**
 * Whether a record affects how `host` resolves: it is at the name itself, a wildcard covering it, or a delegation or redirection
 * above it (RFC 4592, RFC 6672).
 */
export function affectsHost(host: string, record: { fqdn: string; type: string }): boolean {
  const fqdn = record.fqdn.toLowerCase().replace(/\.$/, '')
  if (fqdn === host) return true
  if (fqdn.startsWith('*.')) return host.endsWith(fqdn.slice(1))
  return ['NS', 'DS', 'DNAME'].includes(record.type) && isAtOrBelow(host, fqdn)
}
