import { join, resolve } from 'node:path'
import ipaddr from 'ipaddr.js'
import { DnsFormatError } from './dns/format-error'
import { lowerName, parseName } from './dns/name'
import { mailServerOf } from './net/mail-server'
import { parseRange, type AddressRange } from './net/address'
import { resolverOf, type Resolver } from './net/resolvers'

/** Thrown for a setting that cannot be used; the message is the plain sentence the operator sees. */
export class BadSetting extends Error {
  override name = 'BadSetting'
}

interface Setting<T, D extends string | null = string | null> {
  variable: string
  flag?: string
  default: D
  meaning: string
  read(text: string): T
}

const setting = <T, D extends string | null>(
  variable: string,
  fallback: D,
  meaning: string,
  read: (text: string) => T,
  flag?: string,
): Setting<T, D> => ({ variable, default: fallback, meaning, read, flag })

/** Every setting of the hub: environment variable, flag, default and meaning. The handbook's settings page is checked against it. */
export const settings = {
  data: setting(
    'BAILIWICK_DATA',
    './data',
    'Folder for the database, the master key and the lock.',
    text => resolve(text),
    '--data',
  ),
  listen: setting(
    'BAILIWICK_LISTEN',
    '[::]:8484',
    'Address and port to serve on, HOST:PORT; port 0 takes a free one.',
    readListen,
    '--listen',
  ),
  databaseUrl: setting(
    'BAILIWICK_DATABASE_URL',
    null,
    'postgres://… to store in PostgreSQL instead of the data folder.',
    readDatabaseUrl,
  ),
  baseUrl: setting(
    'BAILIWICK_BASE_URL',
    null,
    'Address under which clients reach the hub, such as https://hub.example.com; made from the listen address when unset.',
    readBaseUrl,
  ),
  masterKeyFile: setting(
    'BAILIWICK_MASTER_KEY_FILE',
    null,
    'File with the master key, mode 0600; DATA/master.key when unset. Required on PostgreSQL.',
    text => resolve(text),
  ),
  trustedProxies: setting(
    'BAILIWICK_TRUSTED_PROXIES',
    '',
    'Comma-separated addresses or CIDR ranges of proxies whose Forwarded and X-Forwarded-For headers are believed.',
    readRanges,
  ),
  tlsCert: setting('BAILIWICK_TLS_CERT', null, 'PEM certificate chain to serve HTTPS directly; needs BAILIWICK_TLS_KEY.', text =>
    resolve(text),
  ),
  tlsKey: setting('BAILIWICK_TLS_KEY', null, 'PEM private key to serve HTTPS directly; needs BAILIWICK_TLS_CERT.', text =>
    resolve(text),
  ),
  metricsToken: setting(
    'BAILIWICK_METRICS_TOKEN',
    null,
    'Bearer token that opens /metrics to callers that are not on loopback.',
    text => text,
  ),
  logLevel: setting(
    'BAILIWICK_LOG_LEVEL',
    'info',
    'Least severe log line written: debug, info, warn, error or silent.',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
  ),
  anonymousPerMinute: setting(
    'BAILIWICK_ANONYMOUS_PER_MINUTE',
    '300',
    'Requests without a credential that one address may make in a minute.',
    readCount(1, 1_000_000),
  ),
  failedCredentialsPerMinute: setting(
    'BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE',
    '30',
    'Wrong credentials one address may send in a minute before it is asked to wait.',
    readCount(1, 1_000_000),
  ),
  signUp: setting(
    'BAILIWICK_SIGN_UP',
    'closed',
    'Who may make a login of their own: closed (who the operator invited), invitation (who was invited to a workspace) or open (anyone).',
    oneOf('closed', 'invitation', 'open'),
  ),
  dnsListen: setting(
    'BAILIWICK_DNS_LISTEN',
    '127.0.0.1:5300',
    'Address and port of the built-in name server, UDP and TCP, HOST:PORT; port 0 takes a free one, off runs none.',
    text => (text === 'off' ? null : readListen(text)),
    '--dns-listen',
  ),
  dnsResponsesPerSecond: setting(
    'BAILIWICK_DNS_RESPONSES_PER_SECOND',
    '200',
    'Answers a second that the name server sends by UDP to one network, a /24 or /56; 0 for no limit.',
    readCount(0, 1_000_000),
  ),
  dnsPollSeconds: setting(
    'BAILIWICK_DNS_POLL_SECONDS',
    '900',
    'Seconds between two readings of a zone at a DNS provider.',
    readCount(60, 86_400),
  ),
  dnsNameservers: setting(
    'BAILIWICK_DNS_NAMESERVERS',
    null,
    'Comma-separated names of the name servers that new zones get as NS records; `ns1` of each zone itself when unset.',
    readNames,
  ),
  dnsResolvers: setting(
    'BAILIWICK_DNS_RESOLVERS',
    null,
    'Comma-separated addresses of the resolvers that targets of ALIAS records and names in checks are asked of; those of the system when unset.',
    readResolvers,
  ),
  smtpUrl: setting(
    'BAILIWICK_SMTP_URL',
    null,
    'Mail server of the installation, as `smtps://user:password@host` or `smtp://host:port?tls=offered`.',
    mailServerOf,
  ),
  mailFrom: setting('BAILIWICK_MAIL_FROM', null, 'Sender of mails, as `name@host` or `Name <name@host>`.', readMailbox),
  pingBodyLimit: setting(
    'BAILIWICK_PING_BODY_LIMIT',
    '100000',
    'Bytes of a ping body that are kept; the rest is cut off.',
    readCount(0, 1_000_000),
  ),
  pingHost: setting(
    'BAILIWICK_PING_HOST',
    null,
    'Host name on which /<uuid> alone is a ping, for clients that use the bare form.',
    readHostName,
  ),
  stopSeconds: setting(
    'BAILIWICK_STOP_SECONDS',
    '10',
    'Seconds that requests and jobs under way are given to finish when the hub stops.',
    readCount(0, 600),
  ),
} satisfies Record<string, Setting<unknown>>

type Settings = typeof settings
type Value<S> = S extends Setting<infer T> ? T : never

/** The settings of one process, read and checked; a setting without default is null when unset. */
export type Config = {
  [K in keyof Settings]: Settings[K] extends Setting<unknown, string> ? Value<Settings[K]> : Value<Settings[K]> | null
}

/**
 * Reads every setting: flags first, then the environment, then the default.
 * @throws BadSetting naming the variable and the rule.
 */
export function loadConfig(
  flags: { [K in keyof Settings]?: string } = {},
  env: Record<string, string | undefined> = process.env,
): Config {
  const config: Record<string, unknown> = {}
  for (const [key, one] of Object.entries(settings) as [keyof Settings, Setting<unknown>][]) {
    const flagged = flags[key]
    const text = flagged ?? (env[one.variable] || one.default)
    if (text === null || text === undefined) {
      config[key] = null
      continue
    }
    try {
      config[key] = one.read(text)
    } catch (error) {
      throw new BadSetting(`${flagged !== undefined && one.flag ? one.flag : one.variable}: ${(error as Error).message}`)
    }
  }
  const whole = config as Config
  if (!whole.tlsCert !== !whole.tlsKey)
    throw new BadSetting('BAILIWICK_TLS_CERT and BAILIWICK_TLS_KEY go together: set both or neither.')
  if (!whole.smtpUrl !== !whole.mailFrom)
    throw new BadSetting('BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM go together: set both or neither.')
  if (whole.databaseUrl && !whole.masterKeyFile) {
    throw new BadSetting(
      'BAILIWICK_MASTER_KEY_FILE: it must be set on PostgreSQL, since all hubs of one database share the master key.',
    )
  }
  return whole
}

/** What commands that speak to a hub over its API find in the environment: its address and a token. */
export const hubAccess = (
  env: Record<string, string | undefined> = process.env,
): { url: string | null; token: string | null } => ({
  url: env[accessVariables.url] || null,
  token: env[accessVariables.token] || null,
})

/** Their names; the handbook has them with the commands, since a hub does not read them. */
export const accessVariables = { url: 'BAILIWICK_URL', token: 'BAILIWICK_TOKEN' } as const

/** Environment variables that start with BAILIWICK_ but name no setting: most often a typing error. */
export function unknownSettings(env: Record<string, string | undefined> = process.env): string[] {
  const known = new Set<string>([...Object.values(settings).map(one => one.variable), ...Object.values(accessVariables)])
  return Object.keys(env).filter(name => name.startsWith('BAILIWICK_') && !name.startsWith('BAILIWICK_TEST_') && !known.has(name))
}

/** PostgreSQL address, or null for SQLite. Read when the process starts, because the tables are built for one engine. */
export const databaseUrl: string | null = process.env.BAILIWICK_DATABASE_URL || null

export const sqliteFile = (config: Config): string => join(config.data, 'bailiwick.db')
export const masterKeyFile = (config: Config): string => config.masterKeyFile ?? join(config.data, 'master.key')

/** The address clients use, without a trailing slash: as set, or made from where the hub listens. */
export function baseUrl(config: Config, port: number): string {
  if (config.baseUrl) return config.baseUrl
  const { host } = config.listen
  const name = host === '::' || host === '0.0.0.0' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return `${config.tlsCert ? 'https' : 'http'}://${name}:${port}`
}

/** HOST:PORT, with an IPv6 host in brackets; `:PORT` listens on every address. */
function readListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65535) throw new Error(`'${text}' is not HOST:PORT, such as 127.0.0.1:8484 or [::]:8484.`)
  const host = match[1] ?? (match[2] || '::')
  if (match[1] && !ipaddr.IPv6.isValid(match[1])) throw new Error(`'${match[1]}' is not an IPv6 address.`)
  return { host, port }
}

function readDatabaseUrl(text: string): string {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text))
    throw new Error('it must be an address that starts with postgres://.')
  return text
}

function readBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new Error(`'${text}' is not an http:// or https:// address.`)
  if (url.search || url.hash || url.username || url.pathname !== '/')
    throw new Error('it must be scheme, host and port only, without path, query or login.')
  return url.origin
}

/** A mailbox (RFC 5322 section 3.4), of which the parts are not looked into beyond what would break a header. */
function readMailbox(text: string): string {
  if (!/^(?:[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+|[^<>@\p{Cc}]+ <[^<>@\s\p{Cc}]+@[^<>@\s\p{Cc}]+>)$/u.test(text))
    throw new Error(`'${text}' is not a mailbox such as alerts@example.com or Bailiwick <alerts@example.com>.`)
  return text
}

/** A name that can stand in a Host header (RFC 1123 section 2.1): without scheme, port and path. */
function readHostName(text: string): string {
  const name = text.toLowerCase()
  const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
  if (name.length > 253 || !name.split('.').every(part => label.test(part)))
    throw new Error(`'${text}' is not a host name such as ping.example.com, without scheme, port and path.`)
  return name
}

function readRanges(text: string): AddressRange[] {
  return text
    .split(',')
    .map(part => part.trim())
    .filter(Boolean)
    .map(part => {
      const range = parseRange(part)
      if (!range) throw new Error(`'${part}' is neither an IP address nor a CIDR range.`)
      return range
    })
}

/** Names of hosts as they are in DNS: absolute, in lower case. */
function readNames(text: string): string[] {
  return text.split(',').map(part => {
    try {
      const name = lowerName(parseName(part.trim(), '.'))
      if (name !== '.' && !name.includes('*')) return name
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error
    }
    throw new Error(`'${part.trim()}' is not the name of a name server, such as ns1.example.net.`)
  })
}

/** Addresses, each with a port behind a colon or not. */
function readResolvers(text: string): Resolver[] {
  return text.split(',').map(part => {
    const resolver = resolverOf(part.trim())
    if (!resolver) throw new Error(`'${part.trim()}' is not the address of a resolver, such as 192.0.2.1 or [2001:db8::1]:53.`)
    return resolver
  })
}

function readCount(least: number, most: number) {
  return (text: string): number => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || value > most)
      throw new Error(`'${text}' is not a whole number from ${least} to ${most}.`)
    return value
  }
}

function oneOf<const T extends string>(...words: T[]) {
  return (text: string): T => {
    if (!words.includes(text as T)) throw new Error(`'${text}' is not one of ${words.join(', ')}.`)
    return text as T
  }
}
