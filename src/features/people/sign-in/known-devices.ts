import { isSecureOrigin, readCookie } from '../../../access/sessions'
import { constantTimeEqual, encodeBase64url, hmacSha256 } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'

// Device cookies, as described by OWASP: a browser that a user has signed in with proves so by a cookie, and is not affected by failed
// attempts of others. The cookie gives no access. Its value is a random ID of the browser and a MAC for each user, separated by dots.

const maxUsers = 10
const maxAgeSeconds = 365 * 24 * 3600

const nameOf = (hub: Hub): string => (isSecureOrigin(hub) ? '__Host-bailiwick_device' : 'bailiwick_device')

const macOf = (hub: Hub, device: string, userId: string): string =>
  encodeBase64url(hmacSha256(hub.keys.derive('device-cookies'), `${device} ${userId}`))

/** The ID of the browser that sent a request if the user has signed in with it before, or null. */
export function knownDevice(hub: Hub, request: Request, userId: string): string | null {
  const { device, macs } = parse(hub, request)
  const own = macOf(hub, device, userId)
  return macs.some(mac => constantTimeEqual(mac, own)) ? device : null
}

/** The Set-Cookie value that adds a user to the browser that sent a request. */
export function deviceCookieHeader(hub: Hub, request: Request, userId: string): string {
  const { device, macs } = parse(hub, request)
  const own = macOf(hub, device, userId)
  const value = [device, own, ...macs.filter(mac => mac !== own)].slice(0, maxUsers + 1).join('.')
  const secure = isSecureOrigin(hub) ? '; Secure' : ''
  return `${nameOf(hub)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`
}

/** The ID of the browser, a new one if it has none, and the MACs in its cookie. */
function parse(hub: Hub, request: Request): { device: string; macs: string[] } {
  const [device = '', ...macs] = (readCookie(nameOf(hub), request.headers.get('cookie')) ?? '').split('.')
  if (!/^[\w-]{22}$/.test(device)) return { device: encodeBase64url(crypto.getRandomValues(new Uint8Array(16))), macs: [] }
  return { device, macs: macs.filter(mac => /^[\w-]{43}$/.test(mac)).slice(0, maxUsers) }
}
