import { parseAddress } from '../../core/net/address'
import { DnsFormatError } from '../../core/dns/format-error'
import { isWithin, lowerName, nameOf, parseName } from '../../core/dns/name'
import type { Hub } from '../../core/hub'
import { valueOf, type RecordValue } from './record-values'
import type { WantedRrset } from './rrset-rules'
import { ruleKept } from './rule-problems'
import type { dnsZones } from './tables'
import { originOf, recordNameOf } from './zone-names'
import { builtin, type ZoneInput } from './zone-shapes'

const nsTtl = 86_400

/**
 * The records that a zone begins with: NS as asked for, or those of the installation; else `ns1` of the zone itself, with the address
 * of the hub as glue. A zone at a provider begins without any where none were asked for: they are the provider's.
 * @throws Problem 422
 */
export function firstRrsets(
  hub: Hub,
  zoneName: string,
  input: Pick<ZoneInput, 'nameservers' | 'provider_id'>,
): { nameservers: string[]; rrsets: WantedRrset[] } {
  const given = input.nameservers?.map((one, place) => ruleKept(`#/nameservers/${place}`, () => serverName(one, zoneName)))
  const isHere = (input.provider_id ?? builtin) === builtin
  const nameservers = given ?? hub.config.dnsNameservers ?? (isHere ? [`ns1.${zoneName}.`] : [])
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
    if (!given && isHere && isWithin(name, origin))
      rrsets.push(rrset(recordNameOf(name, zoneName), type, [valueOf(type, { content: address }, origin)]))
  }
  return { nameservers, rrsets }
}

/** The name of a name server: of one label it is below the zone, else absolute. */
function serverName(text: string, zoneName: string): string {
  const name = lowerName(parseName(text, text.includes('.') ? '.' : originOf(zoneName)))
  if (name === '.' || name.includes('*')) throw new DnsFormatError('must be the name of a name server', null, 'RFC 1035 3.3.11')
  return name
}

/** The address under which the hub is reached, where that is told by its settings; loopback where it is told by name. */
function ownAddress(hub: Hub): string {
  const host = new URL(hub.baseUrl).hostname.replace(/^\[(.*)\]$/, '$1')
  return parseAddress(host) ? host : '127.0.0.1'
}

type SoaColumns = Pick<
  typeof dnsZones.$inferInsert,
  'soaMname' | 'soaRname' | 'soaTtl' | 'soaRefresh' | 'soaRetry' | 'soaExpire' | 'soaMinimum'
>

/** Members of the SOA as columns. @param fresh the names of a new zone; null where members that are absent stay as they are */
export function soaColumns<F extends { mname: string; rname: string } | null>(
  fresh: F,
  given: NonNullable<ZoneInput['soa']>,
  zoneName: string,
): F extends null ? Partial<SoaColumns> : SoaColumns {
  const { mname, rname } = given
  const set: Partial<SoaColumns> = {
    soaMname: mname === undefined ? fresh?.mname : ruleKept('#/soa/mname', () => serverName(mname, zoneName)),
    soaRname: rname === undefined ? fresh?.rname : ruleKept('#/soa/rname', () => mailboxName(rname, zoneName)),
    soaTtl: given.ttl ?? (fresh ? 3600 : undefined),
    soaRefresh: given.refresh ?? (fresh ? 3600 : undefined),
    soaRetry: given.retry ?? (fresh ? 600 : undefined),
    soaExpire: given.expire ?? (fresh ? 1_209_600 : undefined),
    soaMinimum: given.minimum ?? (fresh ? 300 : undefined),
  }
  return Object.fromEntries(Object.entries(set).filter(([, value]) => value !== undefined)) as never
}

/** A mailbox as the SOA has it: what is before the @ is one label (RFC 1035 section 8). */
function mailboxName(text: string, zoneName: string): string {
  const at = text.lastIndexOf('@')
  if (at <= 0) return lowerName(parseName(text, text.includes('.') ? '.' : originOf(zoneName)))
  const local = text.slice(0, at)
  // oxlint-disable-next-line no-control-regex -- the question is whether all of it is ASCII
  if (!/^[\x21-\x7e]+$/.test(local)) throw new DnsFormatError('must have only ASCII before the @', null, 'RFC 1035 8')
  return parseName(nameOf([local]) + lowerName(parseName(text.slice(at + 1), '.')), null)
}
