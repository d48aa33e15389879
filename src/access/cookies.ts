import type { Hub } from '../core/hub'

/**
 * Name of the session cookie. Over HTTPS it has the `__Host-` prefix, which browsers bind to this origin
 * (RFC 6265bis section 4.1.3.2); over plain HTTP browsers would refuse that, and a LAN hub must work from the first minute.
 */
export const sessionCookie = (hub: Hub): string => (isSecure(hub) ? '__Host-bailiwick' : 'bailiwick')

/** The Set-Cookie value that starts a session of `seconds`, or ends it with an empty value and 0. */
export function sessionCookieHeader(hub: Hub, value: string, seconds: number): string {
  return `${sessionCookie(hub)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}${isSecure(hub) ? '; Secure' : ''}`
}

/** The session cookie's value in a Cookie header, or null. */
export function readSessionCookie(hub: Hub, header: string | null): string | null {
  if (!header) return null
  const name = `${sessionCookie(hub)}=`
  for (const part of header.split(';')) {
    const pair = part.trim()
    if (pair.startsWith(name)) return pair.slice(name.length) || null
  }
  return null
}

const isSecure = (hub: Hub) => hub.baseUrl.startsWith('https:')
