import { and, eq } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import { rdataOfText } from '../../../dns/rdata'
import type { ProviderRrset } from '../providers/provider'
import { dnsRecords, dnsRrsets } from '../records/tables'
import { dnsAliasAddresses } from './tables'

/** The current addresses of an ALIAS. */
export interface AliasAddresses {
  /** Relative to the zone, `@` for the apex. */
  name: string
  /** Seconds: the smaller of the TTLs of the ALIAS and its target. */
  ttl: number
  A: Uint8Array[]
  AAAA: Uint8Array[]
}

/**
 * The addresses of the ALIAS records of a zone, by name. Without those that haven’t been resolved yet.
 * @param name only this ALIAS
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
 * Replaces each ALIAS by A and AAAA rrsets, for providers and transfers that don’t support ALIAS. An ALIAS that hasn’t been
 * resolved yet is dropped: callers must wait for it, or a sync would delete the addresses at the provider.
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
