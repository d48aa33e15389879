/** How connections to a mail server are encrypted. `starttls`: required. `opportunistic`: STARTTLS if the server offers it. */
export const mailTls = ['implicit', 'starttls', 'opportunistic', 'none'] as const
type MailTls = (typeof mailTls)[number]

/** A mail submission server (RFC 6409) or relay (RFC 5321). */
export interface MailServer {
  host: string
  port: number
  tls: MailTls
  user: string | null
  password: string | null
}

/** Default ports (RFC 6409 section 3.1, RFC 8314 section 7.3). */
export const mailPort = (tls: MailTls): number => (tls === 'implicit' ? 465 : 587)

/**
 * Parses the URL of a mail server: `smtps://user:password@host:port`, or `smtp://…` with STARTTLS. `?tls=opportunistic` uses STARTTLS
 * if the server offers it, and `?tls=none` never. Both are only allowed without a password, so that it is never sent unencrypted.
 * @throws Error that says what is wrong
 */
export function parseMailServer(text: string): MailServer {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === '')
    throw new Error('it must be a URL that starts with smtp:// or smtps://.')
  const tlsParameter = url.searchParams.get('tls')
  const unknown = [...url.searchParams.keys()].filter(name => name !== 'tls')
  if (unknown.length > 0) throw new Error(`unknown parameter '${unknown[0]}'; only tls is supported.`)
  if (tlsParameter !== null && (url.protocol === 'smtps:' || !['starttls', 'opportunistic', 'none'].includes(tlsParameter)))
    throw new Error('tls must be starttls, opportunistic, or none, and can only be used with smtp://.')
  const tls = url.protocol === 'smtps:' ? 'implicit' : ((tlsParameter ?? 'starttls') as MailTls)
  const [user, password] = [url.username, url.password].map(part => (part === '' ? null : decodeURIComponent(part)))
  if ((user === null) !== (password === null)) throw new Error('it must not contain only a user or only a password.')
  if (password !== null && (tls === 'opportunistic' || tls === 'none'))
    throw new Error(`a password requires TLS: remove tls=${tls}.`)
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return { host, port: url.port === '' ? mailPort(tls) : Number(url.port), tls, user: user!, password: password! }
}
