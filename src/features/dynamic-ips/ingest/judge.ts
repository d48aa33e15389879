import type { Family, Reading } from '../addresses'
import { maxHosts, type Call, type Statement, type Values } from './call'
import { explainHost, explainRefusedAddress, sentences } from './explain'
import { resolveHosts, type ResolvedHost } from './hosts'
import type { Outcome, RefusalCode } from './outcome'

/** The settings of a source that decide what it accepts. */
export interface SourceRules {
  families: readonly Family[]
  allowPrivate: boolean
  /** Full names. */
  hosts: readonly string[]
}

/** What a source accepts of a call. */
export interface Accepted {
  kind: 'accepted'
  values: Values<string>
  perHost: Map<string, { ipv4?: string; ipv6?: string }>
  /** The hosts that the client named, in order; null for all hosts of the source. */
  hosts: ResolvedHost[] | null
  /** Families that were sent, but that the source does not use. */
  ignored: Family[]
}

type Refused = Extract<Outcome, { kind: 'refused' }>

/**
 * Applies the settings of a source to a call. An address that is refused refuses the whole call; a host that is not of the source
 * does not.
 * @param user of Basic authentication. It names the host if nothing else does.
 */
export function judgeCall(call: Call, source: SourceRules, user: string | null): Accepted | Refused {
  if (call.tooLong) return refused('dnserr', sentences.tooLong)
  if (call.wantsTxt) return refused('dnserr', sentences.txt)
  if (call.hosts && call.hosts.length > maxHosts) return refused('numhost', sentences.tooManyHosts(maxHosts))

  const ignored = new Set<Family>()
  const values: Values<string> = {}
  for (const [member, value] of entriesOf(call.values)) {
    const family = member === 'prefix6' ? 'ipv6' : member
    const isUsed = source.families.includes(family)
    if (!isUsed && value !== null) ignored.add(family)
    if (!isUsed) continue
    if (value === null) values[member] = null
    else {
      const accepted = acceptedText(value, source)
      if (accepted.refusal) return accepted.refusal
      values[member] = accepted.text
    }
  }

  const perHost = new Map<string, { ipv4?: string; ipv6?: string }>()
  for (const [name, own] of call.perHost) {
    const host = resolveHosts([name], source.hosts, call.dialect)[0]!.host
    if (host === null) return refused('nohost', explainHost(name, 'nohost'))
    const addresses: { ipv4?: string; ipv6?: string } = {}
    for (const [member, value] of entriesOf(own)) {
      // A single host has no prefix of its own.
      if (value === null || value === undefined || (member === 'prefix6' && value.read.kind === 'prefix')) continue
      const family = member === 'prefix6' ? 'ipv6' : member
      if (!source.families.includes(family)) {
        ignored.add(family)
        continue
      }
      const accepted = acceptedText(value, source)
      if (accepted.refusal) return accepted.refusal
      addresses[family] = accepted.text
    }
    perHost.set(host, addresses)
  }
  const hosts = hostsOf(call, source, user, perHost)
  // The other dialects have a result for each host.
  const unknown = call.dialect === 'json' ? hosts?.find(one => one.problem !== null) : undefined
  if (unknown) return refused(unknown.problem!, explainHost(unknown.asked, unknown.problem!))
  return { kind: 'accepted', values, perHost, hosts, ignored: [...ignored] }
}

function hostsOf(
  call: Call,
  source: SourceRules,
  user: string | null,
  perHost: ReadonlyMap<string, unknown>,
): ResolvedHost[] | null {
  const named = call.hosts ?? userHost(user, source, call)
  if (!named) return null
  const resolved = resolveHosts(named, source.hosts, call.dialect)
  const known = new Set(resolved.map(one => one.host))
  const more = [...perHost.keys()].filter(host => !known.has(host))
  return [...resolved, ...more.map(host => ({ asked: host, host, problem: null }))]
}

const userHost = (user: string | null, source: SourceRules, call: Call): string[] | null =>
  user !== null && resolveHosts([user], source.hosts, call.dialect)[0]!.host !== null ? [user] : null

function acceptedText(statement: Statement, source: SourceRules): { text: string; refusal?: undefined } | { refusal: Refused } {
  const { read } = statement
  if (read.kind === 'refused' || (read.class !== 'public' && !source.allowPrivate))
    return { refusal: refused('dnserr', explainRefusedAddress(statement)) }
  return { text: textOf(read) }
}

const textOf = (read: Exclude<Reading, { kind: 'refused' }>): string => (read.kind === 'prefix' ? read.prefix : read.address)

const entriesOf = (values: Values): [keyof Values, Statement | null][] =>
  Object.entries(values).filter(([, value]) => value !== undefined) as [keyof Values, Statement | null][]

const refused = (code: RefusalCode, detail: string): Refused => ({ kind: 'refused', code, detail })
