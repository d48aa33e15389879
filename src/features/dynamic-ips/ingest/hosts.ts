import { domainToASCII } from 'node:url'
import type { Dialect } from './call'

/** A host as a client named it: a host of the source, or why it is none. */
export interface ResolvedHost {
  asked: string
  /** Full name of the host of the source; null if it has no such host. */
  host: string | null
  problem: 'nohost' | 'notfqdn' | null
}

/** Finds the hosts that a client named among those of the source. */
export function resolveHosts(asked: readonly string[], hosts: readonly string[], dialect: Dialect): ResolvedHost[] {
  const known = new Set(hosts)
  return asked.map(text => {
    const name = normalized(text)
    const host = name === null ? null : findHost(name, known, takesLabels(dialect))
    const problem = host !== null ? null : name === null || !(name.includes('.') || takesLabels(dialect)) ? 'notfqdn' : 'nohost'
    return { asked: text, host, problem }
  })
}

/** DuckDNS and dynv6 clients send the first label of a name. */
const takesLabels = (dialect: Dialect): boolean => dialect === 'duckdns' || dialect === 'dynv6'

/** Lowercase, in A-labels, and without the final dot. Null for a placeholder that the client did not replace, and for other texts. */
function normalized(text: string): string | null {
  const lower = text.toLowerCase().replace(/\.$/, '')
  const name = /^[\p{ASCII}]*$/u.test(lower) ? lower : domainToASCII(lower)
  return name.length <= 2 * maxNameLength && /^(\*\.)?[a-z0-9_-]+(\.(\*\.)?[a-z0-9_-]+)*$/.test(name) ? name : null
}

const maxNameLength = 253

function findHost(name: string, known: ReadonlySet<string>, takesLabel: boolean): string | null {
  if (known.has(name)) return name
  // UniFi gateways send the name twice, without a separator.
  const half = name.slice(0, name.length / 2)
  if (`${half}${half}` === name && known.has(half)) return half
  if (!takesLabel || name.includes('.')) return null
  const matching = [...known].filter(one => one.startsWith(`${name}.`))
  return matching.length === 1 ? matching[0]! : null
}
