import { rdataOfFields } from '../../core/dns/rdata'
import type { ZoneRow } from './zone-rows'

/** The SOA of a zone but for its serial: names absolute with the dot, spans in seconds. */
export interface SoaMembers {
  mname: string
  rname: string
  ttl: number
  refresh: number
  retry: number
  expire: number
  minimum: number
}

export const soaMembers = (zone: ZoneRow): SoaMembers => ({
  mname: zone.soaMname,
  rname: zone.soaRname,
  ttl: zone.soaTtl,
  refresh: zone.soaRefresh,
  retry: zone.soaRetry,
  expire: zone.soaExpire,
  minimum: zone.soaMinimum,
})

/** The columns of a zone that have the members. */
export const soaColumnsOf = (soa: SoaMembers) => ({
  soaMname: soa.mname,
  soaRname: soa.rname,
  soaTtl: soa.ttl,
  soaRefresh: soa.refresh,
  soaRetry: soa.retry,
  soaExpire: soa.expire,
  soaMinimum: soa.minimum,
})

/** The value of an SOA record. */
export function soaRdataOf(members: SoaMembers, serial: number): Uint8Array {
  const { ttl: _, ...fields } = members
  return rdataOfFields('SOA', { ...fields, serial }, null)
}
