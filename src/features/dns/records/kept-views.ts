import { jsonText, withKeptText } from '../../../core/kept-text'
import type { Reader } from '../../../core/db/transaction'
import { rowsById } from '../../../core/db/rows-by-id'
import type { RecordRow } from './rows'
import type { DnsRecordView } from './shapes'
import { dnsRecords } from './tables'
import { recordViews } from './views'
import { zoneBriefs } from '../zones/briefs'

const maxViews = 5000
// With the number of views, limits the memory they use.
const maxLength = 2000

interface Kept {
  version: number
  updatedAt: number
  view: DnsRecordView
}

const keptViews = new WeakMap<Reader, Map<string, Kept>>()

/** The columns of a record that {@link keptRecordViews} needs. */
export const keyColumns = {
  id: dnsRecords.id,
  zoneId: dnsRecords.zoneId,
  version: dnsRecords.version,
  updatedAt: dnsRecords.updatedAt,
}
type KeyRow = Pick<RecordRow, keyof typeof keyColumns>

/**
 * Like {@link recordViews}, for requests that read: views are kept in memory and reused while the version of the record is the same. A
 * change of its rrset changes the version too. The sync status has no version, so records of zones with sync targets aren’t kept,
 * and neither are long ones.
 * @param read the handle of the hub, not of a transaction
 * @param load returns whole records, for those whose view isn’t kept
 */
export async function keptRecordViews(
  read: Reader,
  rows: readonly KeyRow[],
  load = (ids: ReadonlySet<string>): Promise<Map<string, RecordRow>> =>
    rowsById<RecordRow>(read, 'dns_records', dnsRecords, dnsRecords.id, ids),
): Promise<DnsRecordView[]> {
  const zones = await zoneBriefs(read, new Set(rows.map(row => row.zoneId)))
  let kept = keptViews.get(read)
  if (!kept) keptViews.set(read, (kept = new Map()))
  const found = new Map<string, DnsRecordView>()
  const missing = new Set<string>()
  for (const { id, zoneId, version, updatedAt } of rows) {
    const one = zones.get(zoneId)?.targetCount === 0 ? kept.get(id) : undefined
    if (one && one.version === version && one.updatedAt === updatedAt) found.set(id, one.view)
    else missing.add(id)
  }
  if (missing.size > 0) {
    const records = await load(missing)
    for (const view of await recordViews(read, [...records.values()], zones)) {
      found.set(view.id, view)
      if (zones.get(view.zone_id)?.targetCount !== 0) continue
      const { version, updatedAt } = records.get(view.id)!
      kept.delete(view.id)
      if (jsonText(withKeptText(view)).length > maxLength) continue
      if (kept.size >= maxViews) kept.delete(kept.keys().next().value!)
      kept.set(view.id, { version, updatedAt, view })
    }
  }
  // Skip records of zones that are being deleted, and records deleted since the page was read.
  return rows.flatMap(row => (zones.has(row.zoneId) ? (found.get(row.id) ?? []) : []))
}
