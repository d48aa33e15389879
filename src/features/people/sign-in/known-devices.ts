import { isSecureOrigin, readCookie } from '../../../access/sessions'
import { constantTimeEqual, encodeBase64url, hmacSha256 } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { oneTimeCodesSince } from '../second-factors/one-time-codes'
import type { User } from '../users'

// Device cookies, as described by OWASP: a browser that a user has signed in with proves so by a cookie, and is not affected by failed
// attempts of others. The cookie gives no access. Its value is a random ID of the browser and a proof for each user, separated by dots.
// A proof is the time of the sign-in and a MAC, which also covers the password hash and whether one-time codes are enabled: it becomes
// invalid when either changes.

const maxUsers = 10
const maxAgeSeconds = 365 * 24 * 3600

const nameOf = (hub: Hub): string => (isSecureOrigin(hub) ? '__Host-bailiwick_device' : 'bailiwick_device')

/** Creates the proofs of a user at a browser, given the seconds since 1970 of the sign-in in base 36. */
async function proverOf(hub: Hub, device: string, user: Pick<User, 'id' | 'passwordHash'>): Promise<(time: string) => string> {
  const state = `${user.id} ${user.passwordHash} ${await oneTimeCodesSince(hub.read, user.id)}`
  const key = hub.keys.derive('device-cookies')
  return time => `${time}~${encodeBase64url(hmacSha256(key, `${device} ${time} ${state}`))}`
}

const timeOf = (proof: string): string => proof.slice(0, proof.indexOf('~'))

/** The ID of the browser that sent a request if the user has signed in with it before, or null. */
export async function knownDevice(hub: Hub, request: Request, user: Pick<User, 'id' | 'passwordHash'>): Promise<string | null> {
  const { device, proofs } = parse(hub, request)
  const prove = await proverOf(hub, device, user)
  return proofs.some(proof => constantTimeEqual(proof, prove(timeOf(proof)))) ? device : null
}

/** The Set-Cookie value that adds a user to the browser that sent a request. */
export async function deviceCookieHeader(hub: Hub, request: Request, user: Pick<User, 'id' | 'passwordHash'>): Promise<string> {
  const { device, proofs } = parse(hub, request)
  const prove = await proverOf(hub, device, user)
  const others = proofs.filter(proof => proof !== prove(timeOf(proof)))
  const value = [device, prove(secondsNow(hub).toString(36)), ...others].slice(0, maxUsers + 1).join('.')
  const secure = isSecureOrigin(hub) ? '; Secure' : ''
  return `${nameOf(hub)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}${secure}`
}

const secondsNow = (hub: Hub): number => Math.floor(hub.clock.now() / 1000)

/** The ID of the browser, a new one if it has none, and the proofs in its cookie that are not too old. */
function parse(hub: Hub, request: Request): { device: string; proofs: string[] } {
  const [device = '', ...proofs] = (readCookie(nameOf(hub), request.headers.get('cookie')) ?? '').split('.')
  if (!/^[\w-]{22}$/.test(device)) return { device: encodeBase64url(crypto.getRandomValues(new Uint8Array(16))), proofs: [] }
  const oldest = secondsNow(hub) - maxAgeSeconds
  const isRecent = (proof: string) => /^[0-9a-z]{1,9}~[\w-]{43}$/.test(proof) && parseInt(timeOf(proof), 36) > oldest
  return { device, proofs: proofs.filter(isRecent).slice(0, maxUsers) }
}
