import { DnsFormatError } from '../../../dns/format-error'
import { lowerName } from '../../../dns/name'
import { fieldsOf } from '../../../dns/rdata'
import { TTL_MAX } from '../../../dns/ttl'
import type { ZoneRecord } from '../../../dns/zone-file'
import { isDnssecGenerated, typeOf, valueOfRdata } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { soaColumnsOf } from '../zones/soa-fields'
import type { ParsedZoneFields, ParsedZone } from './apply-import'
import { recordNameOf, rrsetKey } from '../zones/names'

/** Maximum number of records an import reads, since they are held in memory. Plans with limits allow fewer records per zone. */
export const maxImportRecords = 100_000

/** Collects the records of an import, by {@link rrsetKey}. Drops duplicate values. */
export class ImportedZone implements ParsedZone {
  readonly rrsets = new Map<string, WantedRrset>()
  soa: ZoneRecord | null = null
  /** Number of DNSSEC records skipped. */
  skipped = 0
  hidesNameServers = false
  readonly #hashes = new Map<string, Set<string>>()

  constructor(readonly zoneName: string) {}

  /** Zone fields from the SOA. */
  get fields(): ParsedZoneFields | null {
    if (!this.soa) return null
    const { mname, rname, serial, refresh, retry, expire, minimum } = fieldsOf('SOA', this.soa.rdata) as {
      mname: string
      rname: string
    } & Record<'serial' | 'refresh' | 'retry' | 'expire' | 'minimum', number>
    return { serial, ...soaColumnsOf({ mname, rname, ttl: this.soa.ttl, refresh, retry, expire, minimum }) }
  }

  /**
   * @param record with an absolute name
   * @param pointer to the record in the request
   * @throws DnsFormatError
   */
  add(record: ZoneRecord, pointer: string): void {
    if (isDnssecGenerated(record.type)) {
      this.skipped++
      return
    }
    const name = recordNameOf(lowerName(record.name), this.zoneName)
    if (record.type === 'SOA') return this.#addSoa(name, record)
    const type = typeOf(record.type)
    const key = rrsetKey({ name, type })
    const value = valueOfRdata(type, record.rdata)
    let rrset = this.rrsets.get(key)
    if (!rrset) {
      // All records use the TTL of the first one (RFC 2181 section 5.2).
      this.rrsets.set(key, (rrset = { name, type, ttl: record.ttl, comment: null, values: [], pointer }))
      this.#hashes.set(key, new Set())
    }
    const hashes = this.#hashes.get(key)!
    if (hashes.has(value.hash)) return
    hashes.add(value.hash)
    rrset.values.push({ ...value, pointer })
  }

  #addSoa(name: string, record: ZoneRecord): void {
    if (name !== '@') throw new DnsFormatError('The SOA record must be at the apex', null, 'RFC 1035 5.2')
    if (this.soa) throw new DnsFormatError('A zone can have only one SOA record', null, 'RFC 1035 5.2')
    for (const [field, seconds] of Object.entries(fieldsOf('SOA', record.rdata))) {
      if (field !== 'serial' && typeof seconds === 'number' && seconds > TTL_MAX)
        throw new DnsFormatError(`${field} must be between 0 and ${TTL_MAX} seconds`, null, 'RFC 2181 8')
    }
    this.soa = record
  }
}
