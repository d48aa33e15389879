/** Cookies that answers set, for the requests that follow within one check (RFC 6265). They live no longer than that. */
export class Cookies {
  private readonly kept = new Map<string, Cookie>()

  /** Takes what an answer sets. @param now ms UTC */
  take(url: URL, lines: readonly string[], now: number): void {
    for (const line of lines.slice(0, cookiesMost)) {
      const cookie = cookieOf(url, line)
      if (!cookie) continue
      const key = JSON.stringify([cookie.domain, cookie.hostOnly, cookie.path, cookie.name])
      const over = cookie.maxAge !== null ? cookie.maxAge <= 0 : cookie.expires !== null && cookie.expires <= now
      if (over) this.kept.delete(key)
      else if (this.kept.has(key) || this.kept.size < cookiesMost) this.kept.set(key, cookie)
    }
  }

  /** Value of the `Cookie` header; null when there is none to send. The longest path is first (section 5.4). */
  header(url: URL): string | null {
    if (this.kept.size === 0) return null
    const sent = [...this.kept.values()]
      .filter(one => goesTo(one, url))
      .sort((a, b) => b.path.length - a.path.length)
      .map(one => `${one.name}=${one.value}`)
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

/** What section 6.1 asks of a client. */
const cookiesMost = 50
const octetsMost = 4096

function cookieOf(url: URL, line: string): Cookie | null {
  const [pair = '', ...attributes] = line.split(';')
  const equals = pair.indexOf('=')
  const name = pair.slice(0, equals).trim()
  const value = pair.slice(equals + 1).trim()
  if (equals < 1 || name === '' || line.length > octetsMost || !/^[\x20-\x7e\x80-\xff]*$/.test(name + value)) return null
  const given = new Map(
    attributes.map(one => {
      const [key = '', ...rest] = one.split('=')
      return [key.trim().toLowerCase(), rest.join('=').trim()] as const
    }),
  )
  const domain = (given.get('domain') ?? '').replace(/^\./, '').toLowerCase()
  const host = url.hostname.toLowerCase()
  // A cookie for a whole top-level domain, or for somebody else's, is not taken.
  if (domain !== '' && domain !== host && !(host.endsWith(`.${domain}`) && domain.includes('.'))) return null
  const path = given.get('path') ?? ''
  const maxAge = given.get('max-age') ?? ''
  const expires = Date.parse(given.get('expires') ?? '')
  return {
    name,
    value,
    domain: domain || host,
    hostOnly: domain === '',
    path: path.startsWith('/') ? path : url.pathname.slice(0, Math.max(1, url.pathname.lastIndexOf('/'))),
    secure: given.has('secure'),
    maxAge: /^-?\d+$/.test(maxAge) ? Number(maxAge) : null,
    expires: Number.isNaN(expires) ? null : expires,
  }
}

function goesTo(cookie: Cookie, url: URL): boolean {
  const host = url.hostname.toLowerCase()
  const there = host === cookie.domain || (!cookie.hostOnly && host.endsWith(`.${cookie.domain}`))
  const below =
    url.pathname === cookie.path || url.pathname.startsWith(cookie.path.endsWith('/') ? cookie.path : `${cookie.path}/`)
  return there && below && (!cookie.secure || url.protocol === 'https:')
}
