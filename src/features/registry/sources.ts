import type { Config } from '../../core/config'
import type { NetworkPolicy } from '../../core/net/egress'
import { serverOf, type Bootstrap } from './bootstrap'
import { profileOf, type LifecycleProfile } from './profiles'
import { registryFileOf } from './registry-file'
import { icannForm, whoisForms, type WhoisForm } from './whois-forms'

interface SourceFields {
  /**
   * Identifies the server, for its pace: `rdap:rdap.example`, `whois:whois.example:4343`. Top-level domains with the same server share it.
   */
  server: string
  /** Who says that this server is responsible: IANA, this program, or the operator. */
  origin: 'iana' | 'extra' | 'operator'
}
/** A server that knows the names of a top-level domain. */
export type RegistrySource = SourceFields &
  /** `base` is a URL that ends with a slash. */
  ({ kind: 'rdap'; base: string } | { kind: 'whois'; form: WhoisForm; port: number })

/** RDAP servers of registries that are not in the list of IANA. */
const extraServers: Readonly<Record<string, string>> = {
  ch: 'https://rdap.nic.ch/',
  de: 'https://rdap.denic.de/',
  io: 'https://rdap.identitydigital.services/rdap/',
  li: 'https://rdap.nic.li/',
}

const whoisPort = 43

/** The servers of a name, the preferred one first. Empty if none is known. */
export function sourcesOf(config: Config, bootstrap: Bootstrap, name: string): RegistrySource[] {
  const tld = name.slice(name.lastIndexOf('.') + 1)
  const own = operatorSources(config, tld)
  if (own.length > 0) return own
  const sources: RegistrySource[] = []
  const base = serverOf(bootstrap, name)
  if (base !== null) sources.push(rdapSource(base, 'iana'))
  else if (Object.hasOwn(extraServers, tld)) sources.push(rdapSource(extraServers[tld]!, 'extra'))
  if (Object.hasOwn(whoisForms, tld)) sources.push(whoisSource(whoisForms[tld]!, whoisPort, 'iana'))
  return sources
}

/** The operator’s servers replace all others. */
const operatorSources = (config: Config, tld: string): RegistrySource[] =>
  (registryFileOf(config).sources ?? [])
    .filter(one => one.tlds.includes(tld))
    .map(one => {
      if (one.kind === 'rdap') return rdapSource(one.url!.replace(/\/?$/, '/'), 'operator')
      const form =
        one.form === undefined ? (whoisForms[tld] ?? icannForm) : one.form === 'icann' ? icannForm : whoisForms[one.form]!
      return whoisSource({ ...form, host: one.host! }, one.port ?? whoisPort, 'operator')
    })

const rdapSource = (base: string, origin: RegistrySource['origin']): RegistrySource => ({
  kind: 'rdap',
  server: rdapServer(base),
  origin,
  base,
})

const whoisSource = (form: WhoisForm, port: number, origin: RegistrySource['origin']): RegistrySource => ({
  kind: 'whois',
  server: `whois:${form.host}${port === whoisPort ? '' : `:${port}`}`,
  origin,
  form,
  port,
})

/** The key of the server of a URL. */
export const rdapServer = (url: string): string => `rdap:${new URL(url).host}`

/** All top-level domains with a known server, in order. */
export function knownTlds(config: Config, bootstrap: Bootstrap): string[] {
  const own = (registryFileOf(config).sources ?? []).flatMap(one => one.tlds)
  const listed = [...bootstrap.servers.keys()].filter(suffix => !suffix.includes('.'))
  return [...new Set([...listed, ...own, ...Object.keys(extraServers), ...Object.keys(whoisForms)])].sort()
}

/**
 * Names that are certainly registered, where it isn’t `nic` below the top-level domain. The first three are reserved by IANA (RFC 2606
 * section 3), the others belong to the registries.
 */
const canaries: Readonly<Record<string, string>> = {
  ...{ com: 'example.com', net: 'example.net', org: 'example.org' },
  ...{ be: 'dnsbelgium.be', ca: 'cira.ca', cn: 'cnnic.cn', de: 'denic.de', dk: 'punktum.dk', edu: 'educause.edu' },
  ...{ ee: 'internet.ee', eu: 'eurid.eu', fi: 'traficom.fi', fr: 'afnic.fr', hk: 'hkirc.hk', ie: 'weare.ie', jp: 'jprs.jp' },
  ...{ lt: 'domreg.lt', lu: 'dns.lu', nl: 'sidn.nl', no: 'norid.no', nu: 'iis.nu', pl: 'dns.pl', pt: 'dns.pt' },
  ...{ ro: 'rotld.ro', ru: 'cctld.ru', se: 'iis.se', sk: 'sk-nic.sk', uk: 'nominet.uk' },
}

/** A name below a top-level domain that is certainly registered: a server that doesn’t know it is broken. */
export function canaryOf(config: Config, tld: string): string {
  const own = registryFileOf(config).canaries ?? {}
  if (Object.hasOwn(own, tld)) return own[tld]!
  return Object.hasOwn(canaries, tld) ? canaries[tld]! : `nic.${tld}`
}

/** The life cycle of names below a top-level domain; null if it isn’t known. */
export function lifecycleOf(config: Config, tld: string): LifecycleProfile | null {
  const own = registryFileOf(config).profiles ?? {}
  return Object.hasOwn(own, tld) ? own[tld]! : profileOf(tld)
}

/** How fast a server is queried by all hubs together. */
interface Pace {
  /** Milliseconds between queries. */
  everyMs: number
  /** Queries that can be sent at once after a pause. */
  burst: number
  /** Queries per day (UTC). */
  perDay: number
}

const slowServers = ['whois.nic.it', 'whois.eu', 'whois.registro.br', 'rdap.registro.br', 'rdap.eu', 'rdap.pubtest.nic.it']

export function paceOf(config: Config, server: string): Pace {
  const [kind, host] = [server.slice(0, server.indexOf(':')), server.slice(server.indexOf(':') + 1)]
  const own = registryFileOf(config).paces?.[server] ?? {}
  const usual = slowServers.includes(host)
    ? { everyMs: 20_000, burst: 1 }
    : kind === 'rdap'
      ? { everyMs: 2000, burst: 3 }
      : { everyMs: 5000, burst: 1 }
  return {
    everyMs: own.seconds === undefined ? usual.everyMs : own.seconds * 1000,
    burst: own.burst ?? usual.burst,
    perDay: own.per_day ?? config.registryPerDay,
  }
}

/**
 * What queries to registries may reach: public addresses, and the servers in the operator’s settings, which may also be in a private
 * network.
 */
export function registryPolicy(config: Config): NetworkPolicy {
  const { sources = [] } = registryFileOf(config)
  const hosts = sources.map(one => (one.kind === 'rdap' ? new URL(one.url!).hostname.replace(/^\[|\]$/g, '') : one.host!))
  const bootstrap = config.rdapBootstrapUrl === null ? [] : [new URL(config.rdapBootstrapUrl).hostname.replace(/^\[|\]$/g, '')]
  return { allowPrivate: false, allowRanges: [...new Set([...hosts, ...bootstrap])], requireHttps: false }
}
