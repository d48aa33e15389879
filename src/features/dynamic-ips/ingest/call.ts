import { oneLine } from '../../../core/one-line'
import { readAddress, readPrefix, type Family, type Reading } from '../addresses'
import { tokenNames } from './presented'
import type { Pair, Pairs } from './raw-query'

export type Dialect = 'dyndns2' | 'duckdns' | 'dynv6' | 'json'

/** What a value of the source becomes: null removes it. A member that is absent keeps it. */
export interface Values<Value = Statement> {
  ipv4?: Value | null
  ipv6?: Value | null
  prefix6?: Value | null
}

/** An address or prefix as it was sent, and how it was read. */
export interface Statement {
  /** Null for the address of the connection. */
  text: string | null
  read: Reading
}

/** What a request asks for, before it is known for which source. */
export interface Call {
  dialect: Dialect
  /** As sent, without empty ones. Null for all hosts of the source. */
  hosts: string[] | null
  values: Values
  /** Addresses for single hosts, by name as sent, in lowercase. */
  perHost: Map<string, Values>
  /** Whether the address of the connection is used because no address was sent. */
  usesCaller: boolean
  /** Whether there are too many parameters or values, so that none is used. */
  tooLong: boolean
  /** Whether a DuckDNS client wants to set a TXT record. */
  wantsTxt: boolean
  verbose: boolean
  /** The parameters for the history, without secrets. */
  given: Record<string, string>
}

export interface CallOptions {
  dialect: Dialect
  /** The address of the connection. */
  caller: string
  /** Whether both addresses are removed, whatever else is sent. */
  offline?: boolean
}

/** Interprets the parameters of a request. The first statement about each family and about the prefix applies. */
export function readCall({ pairs, tooLong }: Pairs, { dialect, caller, offline = false }: CallOptions): Call {
  const call: Call = {
    dialect,
    hosts: null,
    values: {},
    perHost: new Map(),
    usesCaller: false,
    tooLong,
    wantsTxt: false,
    verbose: false,
    given: givenOf(pairs),
  }
  const reader = new ValueReader(dialect, readAddress(caller))
  let removesAll = offline
  for (const [name, value] of pairs) {
    const about = meanings.get(name)
    const [, family, host] = /^(myipv4|myipv6):(.+)$/s.exec(name) ?? []
    if (about === 'host') addHosts(call, value)
    else if (about !== undefined) reader.add(name, about, value)
    else if (family && host) reader.addForHost(call.perHost, host.toLowerCase(), family === 'myipv4' ? 'ipv4' : 'ipv6', value)
    else if (name === 'offline') removesAll ||= isOn(value)
    else if (dialect === 'duckdns' && name === 'clear') removesAll ||= isOn(value)
    else if (dialect === 'duckdns' && name === 'txt') call.wantsTxt ||= value !== ''
    else if (name === 'verbose') call.verbose ||= isOn(value)
  }
  call.tooLong ||= reader.tooLong
  if (removesAll) return { ...call, values: { ipv4: null, ipv6: null }, perHost: new Map() }
  call.usesCaller = !reader.hasAny
  if (call.usesCaller) reader.add('myip', 'any', 'auto')
  call.values = reader.values
  return call
}

type About = 'host' | 'prefix' | 'any' | Family

const meanings = new Map<string, About>([
  ...['hostname', 'domain', 'domains', 'host', 'host_id', 'zone', 'Hostname'].map((name): [string, About] => [name, 'host']),
  ...['myip', 'ip'].map((name): [string, About] => [name, 'any']),
  ...['myipv4', 'ipv4', 'ip4', 'ipaddr'].map((name): [string, About] => [name, 'ipv4']),
  ...['myipv6', 'ipv6', 'ip6', 'myip6', 'ip6addr'].map((name): [string, About] => [name, 'ipv6']),
  ...['ip6lanprefix', 'ipv6prefix', 'praefix', 'prefix'].map((name): [string, About] => [name, 'prefix']),
])

/** Parameters that remove the address if they are empty. ddclient sends an empty `myip` if it doesn’t know the address. */
const removing = new Set(['myipv4', 'ipv4', 'myipv6', 'ipv6'])
const keeping = new Set(['preserve', 'no', 'nochg'])
const isOn = (value: string): boolean => /^(yes|true|1)$/i.test(value)

export const maxHosts = 20
// Twice what a report can use: both families, and the prefix.
const maxListed = 6

function addHosts(call: Call, value: string): void {
  const names = value
    .split(',', maxHosts + 2)
    .map(one => one.trim())
    .filter(one => one !== '' && one.toUpperCase() !== 'YES')
  if (names.length > 0 && (call.hosts?.length ?? 0) <= maxHosts) call.hosts = [...(call.hosts ?? []), ...names]
}

class ValueReader {
  readonly values: Values = {}
  /** Whether any parameter is about an address or the prefix. */
  hasAny = false
  tooLong = false
  /** What must not be changed by a later parameter. */
  private readonly settled = new Set<keyof Values>()

  constructor(
    private readonly dialect: Dialect,
    private readonly caller: Reading,
  ) {}

  add(name: string, about: Exclude<About, 'host'>, value: string): void {
    const own: keyof Values = about === 'prefix' ? 'prefix6' : about === 'any' ? 'ipv4' : about
    for (const text of this.listed(value)) {
      if (text === '') {
        if (!removing.has(name) || this.dialect === 'duckdns') continue
        this.set(own, null)
      } else if (text === '-') this.set(own, null)
      else if (keeping.has(text.toLowerCase())) this.set(own, undefined)
      else if (text.toLowerCase() === 'auto') {
        this.hasAny = true
        if (about === 'any' || (this.caller.kind === 'address' && this.caller.family === about))
          this.set(memberOf(this.caller, own), { text: null, read: this.caller })
      } else {
        const read = this.read(about, text)
        this.set(memberOf(read, own), { text, read })
      }
    }
  }

  /** An address for a single host. Anything else keeps the host at the address of the source. */
  addForHost(perHost: Map<string, Values>, host: string, family: Family, value: string): void {
    this.hasAny = true
    const values = perHost.get(host) ?? {}
    for (const text of this.listed(value)) {
      if (text === '' || text === '-' || keeping.has(text.toLowerCase())) continue
      const read = text.toLowerCase() === 'auto' ? this.caller : readAddress(text)
      values[memberOf(read, family)] ??= { text, read }
    }
    perHost.set(host, values)
  }

  private read(about: Exclude<About, 'host'>, text: string): Reading {
    if (about === 'prefix') return readPrefix(text)
    const read = readAddress(text)
    // Routers put either family into either parameter. In JSON, that is a mistake.
    const isMistake = this.dialect === 'json' && about !== 'any' && read.kind === 'address' && read.family !== about
    return isMistake ? { kind: 'refused', reason: 'unreadable' } : read
  }

  private listed(value: string): string[] {
    const texts = value.split(',', maxListed + 1).map(one => one.trim())
    if (texts.length > maxListed) this.tooLong = true
    return texts.length > 1 ? texts.filter(one => one !== '') : texts
  }

  private set(member: keyof Values, value: Statement | null | undefined): void {
    this.hasAny = true
    if (this.settled.has(member)) return
    this.settled.add(member)
    if (value !== undefined) this.values[member] = value
  }
}

/** What a value is about. If it can’t be read, it is about what its parameter is for. */
const memberOf = (read: Reading, own: keyof Values): keyof Values =>
  read.kind === 'address' ? read.family : read.kind === 'prefix' ? 'prefix6' : own

const maxShown = 40
const maxShownLength = 200

/** The parameters for the history. Repeated ones are joined. */
function givenOf(pairs: readonly Pair[]): Record<string, string> {
  const shown = new Map<string, string>()
  for (const [name, value] of pairs) {
    const key = masked(name).slice(0, 60)
    const text = tokenNames.has(name) ? '***' : masked(value)
    const before = shown.get(key)
    if (before === undefined && shown.size >= maxShown) continue
    shown.set(key, (before === undefined ? text : `${before},${text}`).slice(0, maxShownLength))
  }
  return Object.fromEntries(shown)
}

/** Text of a client on one line, without tokens. */
export const masked = (text: string): string =>
  oneLine(text.slice(0, 1000).replace(/bw_[a-z]+_[A-Za-z0-9]*/gi, '***'), maxShownLength)
