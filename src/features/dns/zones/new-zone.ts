import { parseAddress } from '../../../core/net/address'
import { DnsFormatError } from '../../../dns/format-error'
import { isWithin, lowerName, nameOf, parseName } from '../../../dns/name'
import type { Hub } from '../../../core/hub'
import { valueOf, type RecordValue } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { parseField } from '../records/parse-field'
import { soaColumnsOf, type SoaFields } from './soa-fields'
import { originOf, recordNameOf } from './names'
import { builtin, type ZoneInput } from './shapes'

const nsTtl = 86_400

/**
 * The initial records of a zone: the given NS records, or those of the installation, or else `ns1` of the zone itself with the
 * hub’s address as glue. A zone at a provider gets no NS records by default, since the provider sets its own.
 * @throws Problem 422
 */
export function initialRrsets(
  hub: Hub,
  zoneName: string,
  input: Pick<ZoneInput, 'nameservers' | 'provider_id'>,
): { nameservers: string[]; rrsets: WantedRrset[] } {
  const requested = input.nameservers?.map((one, place) => parseField(`#/nameservers/${place}`, () => serverName(one, zoneName)))
  const isBuiltin = (input.provider_id ?? builtin) === builtin
  const nameservers = requested ?? hub.config.dnsNameservers ?? (isBuiltin ? [`ns1.${zoneName}.`] : [])
  if (nameservers.length === 0) return { nameservers, rrsets: [] }
  const rrset = (name: string, type: string, values: RecordValue[]): WantedRrset => ({
    name,
    type,
    ttl: nsTtl,
    comment: '',
    values: values.map((value, place) => ({ ...value, pointer: `#/nameservers/${place}` })),
    pointer: '#/nameservers',
  })
  const origin = originOf(zoneName)
  const rrsets = [
    rrset(
      '@',
      'NS',
      nameservers.map(name => valueOf('NS', { fields: { target: name } }, origin)),
    ),
  ]
  const address = ownAddress(hub)
  const type = address.includes(':') ? 'AAAA' : 'A'
  for (const name of nameservers) {
    if (!requested && isBuiltin && isWithin(name, origin))
      rrsets.push(rrset(recordNameOf(name, zoneName), type, [valueOf(type, { content: address }, origin)]))
  }
  return { nameservers, rrsets }
}

/** Parses a name server name. A single label is relative to the zone; other names are absolute. */
function serverName(text: string, zoneName: string): string {
  const name = lowerName(parseName(text, text.includes('.') ? '.' : originOf(zoneName)))
  if (name === '.' || name.includes('*'))
    throw new DnsFormatError('must be the hostname of a name server', null, 'RFC 1035 3.3.11')
  return name
}

/** The IP address in the base URL of the hub; loopback if the base URL has a hostname. */
function ownAddress(hub: Hub): string {
  const host = new URL(hub.baseUrl).hostname.replace(/^\[(.*)\]$/, '$1')
  return parseAddress(host) ? host : '127.0.0.1'
}

type SoaColumns = ReturnType<typeof soaColumnsOf>

// Seconds.
const soaDefaults = { ttl: 3600, refresh: 3600, retry: 600, expire: 1_209_600, minimum: 300 }

/** SOA fields as columns. @param defaults names for a new zone; null to set only the given fields */
export function soaColumns<F extends { mname: string; rname: string } | null>(
  defaults: F,
  input: NonNullable<ZoneInput['soa']>,
  zoneName: string,
): F extends null ? Partial<SoaColumns> : SoaColumns {
  const { mname, rname } = input
  const soa = {
    ...(defaults && { ...soaDefaults, ...defaults }),
    ...input,
    ...(mname !== undefined && { mname: parseField('#/soa/mname', () => serverName(mname, zoneName)) }),
    ...(rname !== undefined && { rname: parseField('#/soa/rname', () => mailboxName(rname, zoneName)) }),
  }
  const columns = soaColumnsOf(soa as SoaFields)
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined)) as never
}

/** Converts a mailbox to its SOA form: the part before the @ becomes one label (RFC 1035 section 8). */
function mailboxName(text: string, zoneName: string): string {
  const at = text.lastIndexOf('@')
  if (at <= 0) return lowerName(parseName(text, text.includes('.') ? '.' : originOf(zoneName)))
  const local = text.slice(0, at)
  // oxlint-disable-next-line no-control-regex -- checks for non-ASCII characters
  if (!/^[\x21-\x7e]+$/.test(local))
    throw new DnsFormatError('must contain only ASCII characters before the @', null, 'RFC 1035 8')
  return parseName(nameOf([local]) + lowerName(parseName(text.slice(at + 1), '.')), null)
}
