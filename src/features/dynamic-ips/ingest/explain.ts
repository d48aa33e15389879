import { maxPrefixLength, minPrefixLength, type Family, type Reading } from '../addresses'
import { masked, type Statement } from './call'
import type { ReportedOutcome } from './outcome'

const titles: Record<Family, string> = { ipv4: 'IPv4', ipv6: 'IPv6' }

/** Why an address is refused, and what to do about it. */
export function explainRefusedAddress({ text, read }: Statement): string {
  const shown = text === null ? 'the address of the connection' : `\`${masked(text).replaceAll('`', "'")}\``
  const subject =
    text === null ? 'The client sent no address, and the address of the connection' : `The client sent ${shown}, which`
  const [what, advice] = reasonOf(read)
  if (text !== null && /^<.*>$|^%[a-z]$/i.test(text))
    return `The client sent ${shown}, a placeholder that it did not replace. Check the spelling of the placeholder in its settings.`
  return `${subject} ${what}. ${advice}`
}

function reasonOf(read: Reading): [what: string, advice: string] {
  const privateAdvice = 'Other networks can’t reach it. To accept such addresses, enable `allow_private`.'
  const name = read.kind === 'refused' ? read.reason : read.class
  switch (name) {
    case 'private':
      return ['is a private address (RFC 1918)', privateAdvice]
    case 'carrier_nat':
      return ['is an address of a carrier’s network (RFC 6598)', privateAdvice]
    case 'unique_local':
      return ['is a unique local address (RFC 4193)', privateAdvice]
    case 'unspecified':
      return ['is not the address of a host', 'Check that the router has an address before it reports.']
    case 'loopback':
      return ['is a loopback address', 'Configure the client to report the address of its internet connection.']
    case 'multicast':
      return ['is a multicast address', 'Configure the client to report the address of its internet connection.']
    case 'link_local':
      return ['is a link-local address', 'Configure the client to report the address of its internet connection.']
    case 'zone_id':
      return ['contains a zone ID', 'Configure the client to report an address without the part after the percent sign.']
    case 'prefix_length':
      return [
        'does not have the length of a prefix',
        `Use an address, or an IPv6 prefix from /${minPrefixLength} to /${maxPrefixLength}.`,
      ]
    case 'prefix_missing_length':
      return ['is an address where a prefix is expected', 'Send the prefix with its length, such as `2001:db8:1:100::/56`.']
    default:
      return ['is not an IP address', 'Check the parameters in the settings of the client.']
  }
}

export const sentences = {
  tooLong: 'The request has too many parameters or addresses. Nothing was changed.',
  txt: 'The client tried to set a TXT record, which dynamic IP sources don’t support.',
  tooManyHosts: (max: number) =>
    `The request names more than ${max} hosts. Leave the hosts out: a report updates all hosts of the source, including those that it doesn’t name.`,
  badToken: 'The token is missing, incorrect, or revoked, or it can’t be used from this address or without HTTPS.',
  httpsRequired: 'The client used HTTP, but this source requires HTTPS.',
  addressNotAllowed: (address: string) => `This source does not accept requests from ${address}.`,
  callLimit: (max: number) => `The client sent more than ${max} requests in a minute. Increase its interval.`,
  changeLimit: (family: Family, max: number) => `The ${titles[family]} address changed more than ${max} times in a minute.`,
}

/** Why a host is not updated. */
export const explainHost = (name: string, problem: 'nohost' | 'notfqdn'): string =>
  problem === 'nohost'
    ? `This source has no host named \`${masked(name)}\`.`
    : `\`${masked(name)}\` is not a full host name. Check the hosts in the settings of the client.`

type Addresses = Record<'ipv4' | 'ipv6' | 'prefix6', string | null>
const labels: Record<keyof Addresses, string> = { ipv4: 'IPv4 address', ipv6: 'IPv6 address', prefix6: 'IPv6 prefix' }

/** What a report did, in sentences. */
export function explainReport(
  before: Addresses,
  after: ReportedOutcome,
  { usesCaller, ignored, isPaused }: { usesCaller: boolean; ignored: readonly Family[]; isPaused: boolean },
): string {
  const changes = (['ipv4', 'ipv6', 'prefix6'] as const).flatMap(name => {
    const [from, to] = [before[name], after[name]]
    if (from === to) return []
    if (to === null) return [`The ${labels[name]} ${from} was removed.`]
    return [from === null ? `The ${labels[name]} is ${to}.` : `The ${labels[name]} changed from ${from} to ${to}.`]
  })
  const failures = after.hosts.flatMap(({ name, result, problem }) =>
    result === 'nohost' || result === 'notfqdn' ? [explainHost(name, result)] : problem ? [`${name}: ${problem.detail}`] : [],
  )
  return [
    ...(changes.length > 0 ? changes : [after.changed ? 'The records were updated.' : 'Nothing changed.']),
    ...(usesCaller ? ['The client sent no address, so the address of the connection was used.'] : []),
    ...ignored.map(family => `${titles[family]} was ignored, because the source does not use it.`),
    ...(isPaused ? ['The source is paused, so no records or firewall rules were updated.'] : []),
    ...failures,
  ].join(' ')
}
