import type { Family } from '../addresses'

/** A source, as far as the configuration of its client depends on it. */
export interface ConfiguredSource {
  /** URL of the hub, without a slash at the end. */
  hubUrl: string
  families: readonly Family[]
  hosts: readonly { name: string; mode: 'address' | 'prefix' }[]
}

export const configLanguages = ['ini', 'shell', 'text'] as const

/** A text to copy: a file, or the value of a field. */
export interface ConfigFile {
  /** Path of a file, or label of a field. */
  name: string
  language: (typeof configLanguages)[number]
  content: string
}

export interface ClientConfig {
  client: string
  title: string
  files: ConfigFile[]
  steps: string[]
  notes: string[]
}

/** Stands for the token, which is only known when it is created. It needs no escaping in any of the files. */
export const tokenPlaceholder = '{{TOKEN}}'

/** The values that configurations are built from. */
export interface ConfigValues {
  hubUrl: string
  /** Host and port of the hub. */
  server: string
  isHttps: boolean
  /** Names of the hosts that the client reports. */
  hosts: string[]
  /** Names of the hosts that follow the prefix, which the client doesn’t have to report. */
  prefixHosts: string[]
  hasIpv4: boolean
  hasIpv6: boolean
}

export function configValues({ hubUrl, hosts, families }: ConfiguredSource): ConfigValues {
  const byMode = (mode: 'address' | 'prefix') => hosts.filter(one => one.mode === mode).map(one => one.name)
  return {
    hubUrl,
    server: hubUrl.replace(/^https?:\/\//, ''),
    isHttps: hubUrl.startsWith('https:'),
    hosts: byMode('address'),
    prefixHosts: byMode('prefix'),
    hasIpv4: families.includes('ipv4'),
    hasIpv6: families.includes('ipv6'),
  }
}

/** The user name is ignored, but clients require one. */
export const userName = 'any'

/** The hosts for a client that needs at least one name. Names of hosts in the prefix work too. */
export const namedHosts = ({ hosts, prefixHosts }: ConfigValues): string[] =>
  hosts.length > 0 ? hosts : prefixHosts.length > 0 ? prefixHosts : ['home.example.com']

/** The hosts for a client that reports one name. The address is stored for the source, so all of its hosts follow. */
export const mainHost = (values: ConfigValues): string => {
  const names = namedHosts(values)
  return names.find(name => !name.startsWith('*')) ?? names[0]!
}

/** What applies to routers that report only one of several hosts. */
export function otherHostsNote(values: ConfigValues): string[] {
  const main = mainHost(values)
  const others = [...values.hosts, ...values.prefixHosts].filter(name => name !== main)
  return others.length === 0 ? [] : [`The same report also updates the other hosts of this source: ${others.join(', ')}.`]
}

/** The step for a file that contains the token. */
export const saveStep = (what: string, path: string): string =>
  `Save ${what} as \`${path}\`. Only root may read it: \`sudo chmod 600 ${path}\``

export const plainHttpNote = ({ isHttps }: ConfigValues): string[] =>
  isHttps
    ? []
    : ['The hub is reached over plain HTTP, so the token is sent unencrypted. Use HTTPS if the client is in another network.']
