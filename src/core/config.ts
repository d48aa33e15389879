import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { DnsFormatError } from '../dns/format-error'
import { lowerName, parseName } from '../dns/name'
import { parseMailServer } from './net/mail-server'
import { parseRange, type AddressRange } from './net/address'
import { resolverOf, type Resolver } from './net/resolvers'

/** Thrown for an invalid setting. The message is shown to the operator. */
export class InvalidSetting extends Error {
  override name = 'InvalidSetting'
}

interface Setting<T, D extends string | null = string | null> {
  variable: string
  flag?: string
  default: D
  description: string
  parse(text: string): T
}

const setting = <T, D extends string | null>(
  variable: string,
  fallback: D,
  description: string,
  parse: (text: string) => T,
  flag?: string,
): Setting<T, D> => ({ variable, default: fallback, description, parse, flag })

/** All settings of the hub: environment variable, flag, default and description. A test compares the handbook with it. */
export const settings = {
  data: setting(
    'BAILIWICK_DATA',
    './data',
    'Folder for the database, the master key, and the lock file.',
    text => resolve(text),
    '--data',
  ),
  listen: setting(
    'BAILIWICK_LISTEN',
    '[::]:8484',
    'Address and port to listen on, as HOST:PORT. Port 0 picks a free port.',
    parseListen,
    '--listen',
  ),
  databaseUrl: setting(
    'BAILIWICK_DATABASE_URL',
    null,
    'PostgreSQL URL, postgres://…, to use PostgreSQL instead of SQLite.',
    parseDatabaseUrl,
  ),
  baseUrl: setting(
    'BAILIWICK_BASE_URL',
    null,
    'Public URL of the hub, such as https://hub.example.com. Derived from the listen address if not set.',
    parseBaseUrl,
  ),
  masterKeyFile: setting(
    'BAILIWICK_MASTER_KEY_FILE',
    null,
    'File with the master key, mode 0600. Default: DATA/master.key. Required with PostgreSQL.',
    text => resolve(text),
  ),
  trustedProxies: setting(
    'BAILIWICK_TRUSTED_PROXIES',
    '',
    'Comma-separated addresses or CIDR ranges of proxies whose Forwarded and X-Forwarded-For headers are trusted.',
    parseRanges,
  ),
  tlsCert: setting('BAILIWICK_TLS_CERT', null, 'PEM certificate chain for serving HTTPS. Requires BAILIWICK_TLS_KEY.', text =>
    resolve(text),
  ),
  tlsKey: setting('BAILIWICK_TLS_KEY', null, 'PEM private key for serving HTTPS. Requires BAILIWICK_TLS_CERT.', text =>
    resolve(text),
  ),
  metricsToken: setting(
    'BAILIWICK_METRICS_TOKEN',
    null,
    'Bearer token for /metrics. Without it, only loopback addresses can read /metrics.',
    text => text,
  ),
  logLevel: setting(
    'BAILIWICK_LOG_LEVEL',
    'info',
    'Minimum log level: debug, info, warn, error, or silent.',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
  ),
  anonymousPerMinute: setting(
    'BAILIWICK_ANONYMOUS_PER_MINUTE',
    '300',
    'Maximum number of unauthenticated requests per minute from one address.',
    parseCount(1, 1_000_000),
  ),
  failedCredentialsPerMinute: setting(
    'BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE',
    '30',
    'Maximum number of failed sign-ins and invalid tokens per minute from one address.',
    parseCount(1, 1_000_000),
  ),
  signUp: setting(
    'BAILIWICK_SIGN_UP',
    'closed',
    'Who can sign up: closed (only people invited by the operator), invitation (anyone invited to a workspace), or open (anyone).',
    oneOf('closed', 'invitation', 'open'),
  ),
  dnsListen: setting(
    'BAILIWICK_DNS_LISTEN',
    '127.0.0.1:5300',
    'Address and port of the built-in name server for UDP and TCP, as HOST:PORT. Port 0 picks a free port; off disables the name server.',
    text => (text === 'off' ? null : parseListen(text)),
    '--dns-listen',
  ),
  dnsResponsesPerSecond: setting(
    'BAILIWICK_DNS_RESPONSES_PER_SECOND',
    '200',
    'Maximum number of UDP responses per second that the name server sends to one network (/24 or /56). 0 disables the limit.',
    parseCount(0, 1_000_000),
  ),
  dnsThreads: setting('BAILIWICK_DNS_THREADS', '1', 'Number of threads that answer DNS queries.', parseCount(1, 64)),
  dnsPollSeconds: setting(
    'BAILIWICK_DNS_POLL_SECONDS',
    '900',
    'How often the hub checks a zone at its DNS provider for changes, in seconds.',
    parseCount(60, 86_400),
  ),
  dnsNameservers: setting(
    'BAILIWICK_DNS_NAMESERVERS',
    null,
    'Comma-separated hostnames for the NS records of new zones. Default: `ns1` in the zone itself.',
    text => {
      const names = parseNames('the hostname of a name server, such as ns1.example.net')(text)
      if (names.length === 0) throw new Error('It contains no hostname.')
      return names
    },
  ),
  dnsPrivateZones: setting(
    'BAILIWICK_DNS_PRIVATE_ZONES',
    '',
    'Comma-separated domains that exist only in your network, such as `corp.example.com`. Private addresses in zones at or below them cause no warning.',
    parseNames('a domain, such as corp.example.com'),
  ),
  dnsResolvers: setting(
    'BAILIWICK_DNS_RESOLVERS',
    null,
    'Comma-separated addresses of the resolvers for ALIAS targets and hostnames in checks. Default: the system resolvers.',
    parseResolvers,
  ),
  rdapBootstrapUrl: setting(
    'BAILIWICK_RDAP_BOOTSTRAP_URL',
    'https://data.iana.org/rdap/dns.json',
    'URL of the list of RDAP servers (RFC 9224), which is fetched once a day while domains are watched. off uses the list of this version.',
    text => (text === 'off' ? null : parseFileUrl(text)),
  ),
  registryFile: setting(
    'BAILIWICK_REGISTRY_FILE',
    null,
    'JSON file with additional RDAP and WHOIS servers, and other facts about registries. The servers in it can be in a private network.',
    text => resolve(text),
  ),
  registryPerDay: setting(
    'BAILIWICK_REGISTRY_PER_DAY',
    '2000',
    'Maximum number of queries per day (UTC) that all hubs together send to one RDAP or WHOIS server.',
    parseCount(1, 1_000_000),
  ),
  contact: setting(
    'BAILIWICK_CONTACT',
    null,
    'Email address or URL that is sent to RDAP servers in the User-Agent header, so that their operators can contact you.',
    parseContact,
  ),
  smtpUrl: setting(
    'BAILIWICK_SMTP_URL',
    null,
    'Mail server for outgoing mail, as `smtps://user:password@host` or `smtp://host:port?tls=opportunistic`.',
    parseMailServer,
  ),
  mailFrom: setting(
    'BAILIWICK_MAIL_FROM',
    null,
    'From address of outgoing mail, as `name@host` or `Name <name@host>`.',
    parseMailbox,
  ),
  pingBodyLimit: setting(
    'BAILIWICK_PING_BODY_LIMIT',
    '100000',
    'Maximum size of a stored ping body in bytes. Longer bodies are truncated.',
    parseCount(0, 1_000_000),
  ),
  pingHost: setting(
    'BAILIWICK_PING_HOST',
    null,
    'Hostname that accepts pings at /<uuid>, for clients that use the short form.',
    parseHostName,
  ),
  stopSeconds: setting(
    'BAILIWICK_STOP_SECONDS',
    '10',
    'How long running requests and jobs can take to finish when the hub stops, in seconds.',
    parseCount(0, 600),
  ),
} satisfies Record<string, Setting<unknown>>

type Settings = typeof settings
type Value<S> = S extends Setting<infer T> ? T : never

/** The validated settings of a process. Settings without a default are null if not set. */
export type Config = {
  [K in keyof Settings]: Settings[K] extends Setting<unknown, string> ? Value<Settings[K]> : Value<Settings[K]> | null
} & {
  /** What errors about a setting call it: the flag if it was set with the flag, otherwise the environment variable. */
  names: Record<keyof Settings, string>
}

/**
 * Loads all settings: flags override the environment, which overrides the defaults.
 * @throws InvalidSetting with the name of the flag or variable, and the rule
 */
export function loadConfig(
  flags: { [K in keyof Settings]?: string } = {},
  env: Record<string, string | undefined> = process.env,
): Config {
  const config: Record<string, unknown> = {}
  const names: Record<string, string> = {}
  for (const [key, one] of Object.entries(settings) as [keyof Settings, Setting<unknown>][]) {
    const flagged = flags[key]
    const name = (flagged !== undefined && one.flag) || one.variable
    names[key] = name
    const text = flagged ?? (env[one.variable] || one.default)
    if (text === null || text === undefined) {
      config[key] = null
      continue
    }
    try {
      config[key] = one.parse(text)
    } catch (error) {
      throw new InvalidSetting(`${name}: ${(error as Error).message}`)
    }
  }
  const whole = { ...config, names } as Config
  if (!whole.tlsCert !== !whole.tlsKey) throw new InvalidSetting('BAILIWICK_TLS_CERT and BAILIWICK_TLS_KEY must be set together.')
  if (!whole.smtpUrl !== !whole.mailFrom)
    throw new InvalidSetting('BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM must be set together.')
  if (whole.databaseUrl && !whole.masterKeyFile) {
    throw new InvalidSetting(
      'BAILIWICK_MASTER_KEY_FILE: required with PostgreSQL, because all hubs of a database share the master key.',
    )
  }
  return whole
}

/** Environment settings of commands that call the API of a hub: its URL and a token. */
export const hubAccess = (
  env: Record<string, string | undefined> = process.env,
): { url: string | null; token: string | null } => ({
  url: env[accessVariables.url] || null,
  token: env[accessVariables.token] || null,
})

/** Their variables. Documented with the commands, because the hub itself doesn't read them. */
const accessVariables = { url: 'BAILIWICK_URL', token: 'BAILIWICK_TOKEN' } as const

/** Environment variables that start with BAILIWICK_ but are not settings; usually typos. */
export function unknownSettings(env: Record<string, string | undefined> = process.env): string[] {
  const known = new Set<string>([...Object.values(settings).map(one => one.variable), ...Object.values(accessVariables)])
  return Object.keys(env).filter(name => name.startsWith('BAILIWICK_') && !name.startsWith('BAILIWICK_TEST_') && !known.has(name))
}

/** PostgreSQL URL, or null for SQLite. Read at process start, because the table definitions depend on the engine. */
export const databaseUrl: string | null = process.env.BAILIWICK_DATABASE_URL || null

export const sqliteFile = (config: Config): string => join(config.data, 'bailiwick.db')
export const masterKeyFile = (config: Config): string => config.masterKeyFile ?? join(config.data, 'master.key')

/** The public URL without a trailing slash: as configured, or derived from the listen address. */
export function baseUrl(config: Config, port: number): string {
  if (config.baseUrl) return config.baseUrl
  const { host } = config.listen
  const name = host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  // The origin has no default port.
  return new URL(`${config.tlsCert ? 'https' : 'http'}://${name}:${port}`).origin
}

/** Parses HOST:PORT, with IPv6 hosts in brackets. `:PORT` listens on all addresses. */
function parseListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65535) throw new Error(`'${text}' is not HOST:PORT, such as 127.0.0.1:8484 or [::]:8484.`)
  const host = match[1] ?? (match[2] || '::')
  if (match[1] && !ipaddr.IPv6.isValid(match[1])) throw new Error(`'${match[1]}' is not an IPv6 address.`)
  return { host, port }
}

function parseDatabaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) throw new Error('must be a URL that starts with postgres://.')
  return text
}

function parseBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`'${text}' is not an http:// or https:// URL.`)
  if (url.search || url.hash || url.username || url.pathname !== '/')
    throw new Error('must consist of scheme, host, and port only, without path, query, username, or password.')
  return url.origin
}

/** Parses a mailbox (RFC 5322 section 3.4). Rejects only what could break a header. */
function parseMailbox(text: string): string {
  if (!/^(?:[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+|[^<>@\p{Cc}]+ <[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+>)$/u.test(text))
    throw new Error(`'${text}' is not a mailbox such as alerts@example.com or Bailiwick <alerts@example.com>.`)
  return text
}

function parseFileUrl(text: string): string {
  const url = /^https?:\/\//.test(text) ? URL.parse(text) : null
  if (!url || url.username || url.password || url.hash)
    throw new Error(`'${text}' is not an http:// or https:// URL without username, password, and fragment.`)
  return url.href
}

/** Parses what is allowed in a comment of a User-Agent header (RFC 9110 section 10.1.5). */
function parseContact(text: string): string {
  if (!/^(?:https?:\/\/|mailto:)?[\w.+~/@%-]{3,200}$/.test(text) || !/[@/]/.test(text))
    throw new Error(`'${text}' is neither an email address nor a URL, such as ops@example.com.`)
  return text
}

/** Parses a hostname (RFC 1123 section 2.1) without scheme, port and path. */
function parseHostName(text: string): string {
  const name = text.toLowerCase()
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
  if (name.length > 253 || !name.split('.').every(part => label.test(part)))
    throw new Error(`'${text}' is not a hostname such as ping.example.com, without scheme, port, or path.`)
  return name
}

function parseRanges(text: string): AddressRange[] {
  return partsOf(text).map(part => {
    const range = parseRange(part)
    if (!range) throw new Error(`'${part}' is neither an IP address nor a CIDR range.`)
    return range
  })
}

/** Parses a comma-separated list into absolute DNS names in lower case. @param what what each of them must be, for the error */
function parseNames(what: string) {
  return (text: string): string[] =>
    partsOf(text).map(part => {
      try {
        const name = lowerName(parseName(part, '.'))
        if (name !== '.' && !name.includes('*')) return name
      } catch (error) {
        if (!(error instanceof DnsFormatError)) throw error
      }
      throw new Error(`'${part}' is not ${what}.`)
    })
}

const partsOf = (text: string): string[] =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)

/** Parses addresses with optional ports. */
function parseResolvers(text: string): Resolver[] {
  return text.split(',').map(part => {
    const resolver = resolverOf(part.trim())
    if (!resolver) throw new Error(`'${part.trim()}' is not a resolver address, such as 192.0.2.1 or [2001:db8::1]:53.`)
    return resolver
  })
}

function parseCount(min: number, max: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max)
      throw new Error(`'${text}' is not a whole number between ${min} and ${max}.`)
    return value
  }
}

function oneOf<const T extends string>(...words: T[]) {
  return (text: string): T => {
    if (!words.includes(text as T)) throw new Error(`'${text}' must be one of ${words.join(', ')}.`)
    return text as T
  }
}
