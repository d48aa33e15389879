/** How a connection to a mail server is made private. `starttls`: before anything else is said. `offered`: where the server offers it. */
export const mailTls = ['implicit', 'starttls', 'offered', 'none'] as const
export type MailTls = (typeof mailTls)[number]

/** A server that takes mail for others (RFC 6409), or for its own people (RFC 5321). */
export interface MailServer {
  host: string
  port: number
  tls: MailTls
  user: string | null
  password: string | null
}

/** Ports as RFC 6409 section 3.1 and RFC 8314 section 7.3 have them. */
export const mailPort = (tls: MailTls): number => (tls === 'implicit' ? 465 : 587)

/**
 * The server that an address names: `smtps://user:password@host:port`, or `smtp://…` with STARTTLS. With `?tls=offered` that is used
 * where the server offers it, with `?tls=none` never; both only without a password, which must not travel in the clear.
 * @throws Error saying what is wrong with it
 */
export function mailServerOf(text: string): MailServer {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('it must be an address that starts with smtp:// or smtps://.')
  const asked = url.searchParams.get('tls')
  const unknown = [...url.searchParams.keys()].filter(name => name !== 'tls')
  if (unknown.length > 0) throw new Error(`'${unknown[0]}' is not known there; tls is.`)
  if (asked !== null && (url.protocol === 'smtps:' || !['starttls', 'offered', 'none'].includes(asked)))
    throw new Error('tls must be starttls, offered or none, and goes with smtp:// alone.')
  const tls = url.protocol === 'smtps:' ? 'implicit' : ((asked ?? 'starttls') as MailTls)
  const [user, password] = [url.username, url.password].map(part => (part === '' ? null : decodeURIComponent(part)))
  if ((user === null) !== (password === null)) throw new Error('user and password go together.')
  if (password !== null && (tls === 'offered' || tls === 'none'))
    throw new Error(`a password goes over TLS alone: leave tls=${tls} out.`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: url.port === '' ? mailPort(tls) : Number(url.port), tls, user: user!, password: password! }
}
