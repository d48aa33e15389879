import { and, eq } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { rdataOfText } from '../../../core/dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import { dnsRecords, dnsRrsets } from '../tables'
import { dnsAliasAddresses } from './tables'

/** What an ALIAS stands for by now. */
export interface AliasAddresses {
  /** Below the zone, `@` for the apex. */
  name: string
  /** Seconds: the smaller of those of the ALIAS and of its target. */
  ttl: number
  A: Uint8Array[]
  AAAA: Uint8Array[]
}

/**
 * The addresses of the ALIASes of a zone, by their names. One that was not looked up yet is not among them.
 * @param name only of this one
 */
export async function aliasAddressesOf(read: Reader, zoneId: string, name?: string): Promise<Map<string, AliasAddresses>> {
  const rows = await read
    .select({
      name: dnsAliasAddresses.name,
      ipv4: dnsAliasAddresses.ipv4,
      ipv6: dnsAliasAddresses.ipv6,
      targetTtl: dnsAliasAddresses.ttl,
      ttl: dnsRrsets.ttl,
    })
    .from(dnsAliasAddresses)
    .innerJoin(dnsRrsets, eq(dnsRrsets.id, dnsAliasAddresses.rrsetId))
    .innerJoin(dnsRecords, and(eq(dnsRecords.rrsetId, dnsRrsets.id), eq(dnsRecords.target, dnsAliasAddresses.target)))
    .where(and(eq(dnsAliasAddresses.zoneId, zoneId), name === undefined ? undefined : eq(dnsAliasAddresses.name, name)))
  return new Map(
    rows.map(row => [
      row.name,
      {
        name: row.name,
        ttl: Math.min(row.ttl, row.targetTtl),
        A: row.ipv4.map(address => rdataOfText('A', address, null)),
        AAAA: row.ipv6.map(address => rdataOfText('AAAA', address, null)),
      },
    ]),
  )
}

/**
 * RRsets with A and AAAA in the place of each ALIAS, for whoever knows no ALIAS. Where nothing is known of its target yet there is
 * nothing in its place: whoever plans by this must wait for it, or would remove what is there.
 */
export const expandAliases = (
  rrsets: readonly ProviderRrset[],
  addressesOf: (name: string) => AliasAddresses | undefined,
): ProviderRrset[] =>
  rrsets.flatMap(rrset => {
    if (rrset.type !== 'ALIAS') return [rrset]
    const found = addressesOf(rrset.name)
    return (['A', 'AAAA'] as const).flatMap(type =>
      found && found[type].length > 0 ? [{ ...rrset, type, ttl: Math.min(rrset.ttl, found.ttl), values: found[type] }] : [],
    )
  })
