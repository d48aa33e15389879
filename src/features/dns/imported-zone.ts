import { DnsFormatError } from '../../core/dns/format-error'
import { lowerName } from '../../core/dns/name'
import { fieldsOf } from '../../core/dns/rdata'
import { TTL_MAX } from '../../core/dns/ttl'
import type { ZoneRecord } from '../../core/dns/zone-file'
import { isMadeBySigning, typeOf, valueOfRdata } from './record-values'
import type { WantedRrset } from './rrset-rules'
import { soaColumnsOf } from './soa-members'
import type { ReadMembers, ZoneRead } from './zone-intake'
import { recordNameOf } from './zone-names'
import { rrsetKey } from './zone-rows'

/**
 * Records that an import reads at most: more than any plan has in a zone but one without limits. They are kept in memory until they
 * are written.
 */
export const mostRecordsRead = 100_000

/** A zone that is read from elsewhere, record by record: its rrsets by {@link rrsetKey}, of equal values the first. */
export class ImportedZone implements ZoneRead {
  readonly rrsets = new Map<string, WantedRrset>()
  soa: ZoneRecord | null = null
  /** Records that were left out, since signing makes them. */
  skipped = 0
  hidesNameServers = false
  readonly #hashes = new Map<string, Set<string>>()

  constructor(readonly zoneName: string) {}

  /** What the SOA says of the zone. */
  get members(): ReadMembers | null {
    if (!this.soa) return null
    const { mname, rname, serial, refresh, retry, expire, minimum } = fieldsOf('SOA', this.soa.rdata) as {
      mname: string
      rname: string
    } & Record<'serial' | 'refresh' | 'retry' | 'expire' | 'minimum', number>
    return { serial, ...soaColumnsOf({ mname, rname, ttl: this.soa.ttl, refresh, retry, expire, minimum }) }
  }

  /**
   * @param record of the zone, its name absolute
   * @param pointer where it stands in what is read
   * @throws DnsFormatError
   */
  take(record: ZoneRecord, pointer: string): void {
    if (isMadeBySigning(record.type)) {
      this.skipped++
      return
    }
    const name = recordNameOf(lowerName(record.name), this.zoneName)
    if (record.type === 'SOA') return this.#takeSoa(name, record)
    const type = typeOf(record.type)
    const key = rrsetKey({ name, type })
    const value = valueOfRdata(type, record.rdata)
    let rrset = this.rrsets.get(key)
    if (!rrset) {
      // The TTL of the first is that of all (RFC 2181 section 5.2).
      this.rrsets.set(key, (rrset = { name, type, ttl: record.ttl, comment: null, values: [], pointer }))
      this.#hashes.set(key, new Set())
    }
    const known = this.#hashes.get(key)!
    if (known.has(value.hash)) return
    known.add(value.hash)
    rrset.values.push({ ...value, pointer })
  }

  #takeSoa(name: string, record: ZoneRecord): void {
    if (name !== '@') throw new DnsFormatError('An SOA must be at the apex', null, 'RFC 1035 5.2')
    if (this.soa) throw new DnsFormatError('A zone must have one SOA', null, 'RFC 1035 5.2')
    for (const [field, seconds] of Object.entries(fieldsOf('SOA', record.rdata))) {
      if (field !== 'serial' && typeof seconds === 'number' && seconds > TTL_MAX)
        throw new DnsFormatError(`${field} must be 0–${TTL_MAX} seconds`, null, 'RFC 2181 8')
    }
    this.soa = record
  }
}
