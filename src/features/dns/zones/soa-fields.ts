import { rdataOfFields } from '../../../dns/rdata'
import type { ZoneRow } from './rows'

/** SOA fields of a zone, without the serial. Names are absolute with a trailing dot; intervals are in seconds. */
export interface SoaFields {
  mname: string
  rname: string
  ttl: number
  refresh: number
  retry: number
  expire: number
  minimum: number
}

export const soaFieldsOf = (zone: ZoneRow): SoaFields => ({
  mname: zone.soaMname,
  rname: zone.soaRname,
  ttl: zone.soaTtl,
  refresh: zone.soaRefresh,
  retry: zone.soaRetry,
  expire: zone.soaExpire,
  minimum: zone.soaMinimum,
})

/** SOA fields as columns of a zone. */
export const soaColumnsOf = (soa: SoaFields) => ({
  soaMname: soa.mname,
  soaRname: soa.rname,
  soaTtl: soa.ttl,
  soaRefresh: soa.refresh,
  soaRetry: soa.retry,
  soaExpire: soa.expire,
  soaMinimum: soa.minimum,
})

/** The rdata of the SOA record. */
export function soaRdataOf(soa: SoaFields, serial: number): Uint8Array {
  const { ttl: _, ...fields } = soa
  return rdataOfFields('SOA', { ...fields, serial }, null)
}
