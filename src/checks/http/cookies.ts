/** Cookies set by responses, for the following requests of the same check (RFC 6265). */
export class Cookies {
  private readonly cookies = new Map<string, Cookie>()

  /** Stores the cookies of a response. @param now ms UTC */
  store(url: URL, lines: readonly string[], now: number): void {
    for (const line of lines.slice(0, maxCookies)) {
      const cookie = cookieOf(url, line)
      if (!cookie) continue
      const key = JSON.stringify([cookie.domain, cookie.hostOnly, cookie.path, cookie.name])
      const expired = cookie.maxAge !== null ? cookie.maxAge <= 0 : cookie.expires !== null && cookie.expires <= now
      if (expired) this.cookies.delete(key)
      else if (this.cookies.has(key) || this.cookies.size < maxCookies) this.cookies.set(key, cookie)
    }
  }

  /** The value of the `Cookie` header, longest path first (section 5.4); null if there is none to send. */
  header(url: URL): string | null {
    if (this.cookies.size === 0) return null
    const sent = [...this.cookies.values()]
      .filter(cookie => matchesUrl(cookie, url))
      .sort((a, b) => b.path.length - a.path.length)
      .map(cookie => `${cookie.name}=${cookie.value}`)
    return sent.length === 0 ? null : sent.join('; ')
  }
}

interface Cookie {
  name: string
  value: string
  domain: string
  hostOnly: boolean
  path: string
  secure: boolean
  maxAge: number | null
  expires: number | null
}

/** Minimum limits of section 6.1. */
const maxCookies = 50
const maxCookieBytes = 4096

function cookieOf(url: URL, line: string): Cookie | null {
  const [pair = '', ...parts] = line.split(';')
  const equals = pair.indexOf('=')
  const name = pair.slice(0, equals).trim()
  const value = pair.slice(equals + 1).trim()
  if (equals < 1 || name === '' || line.length > maxCookieBytes || !/^[\x20-\x7e\x80-\xff]*$/.test(name + value)) return null
  const attributes = new Map(
    parts.map(one => {
      const [key = '', ...rest] = one.split('=')
      return [key.trim().toLowerCase(), rest.join('=').trim()] as const
    }),
  )
  const domain = (attributes.get('domain') ?? '').replace(/^\./, '').toLowerCase()
  const host = url.hostname.toLowerCase()
  // Rejects cookies for a whole top-level domain or another site.
  if (domain !== '' && domain !== host && !(host.endsWith(`.${domain}`) && domain.includes('.'))) return null
  const path = attributes.get('path') ?? ''
  const maxAge = attributes.get('max-age') ?? ''
  const expires = Date.parse(attributes.get('expires') ?? '')
  return {
    name,
    value,
    domain: domain || host,
    hostOnly: domain === '',
    path: path.startsWith('/') ? path : url.pathname.slice(0, Math.max(1, url.pathname.lastIndexOf('/'))),
    secure: attributes.has('secure'),
    maxAge: /^-?\d+$/.test(maxAge) ? Number(maxAge) : null,
    expires: Number.isNaN(expires) ? null : expires,
  }
}

function matchesUrl(cookie: Cookie, url: URL): boolean {
  const host = url.hostname.toLowerCase()
  const sameHost = host === cookie.domain || (!cookie.hostOnly && host.endsWith(`.${cookie.domain}`))
  const underPath =
    url.pathname === cookie.path || url.pathname.startsWith(cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`)
  return sameHost && underPath && (!cookie.secure || url.protocol === 'https:')
}
