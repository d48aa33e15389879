import { eq } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import type { Op, ProviderRrset } from '../providers/provider'
import type { WantedRrset } from '../changes/rrset-rules'
import { flatMapInTurns } from '../../../core/time-slices'
import { dnsRrsets } from '../records/tables'
import { rrsetKey } from '../zones/names'
import { drivenKeys, rrsetsAt, type Rrset } from '../records/rows'
import { type ZoneRow } from '../zones/rows'
import { blockReasons, defaultLimitPercent, type BlockReason } from './guards'
import { fingerprintsMatch, exactComparison, fingerprintOf } from '../sync/fingerprint'

/** Computes what edits would do to the local zone, and the reasons that block them. */
export async function editsOf(
  tx: Reader,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
): Promise<{ ops: Op[]; reasons: BlockReason[] }> {
  const prior = await rrsetsAt(tx, zone.id, wanted)
  const ops = await flatMapInTurns(wanted, one => [opOf(one, prior.get(rrsetKey(one)))].filter(op => op !== null))
  const locked = new Set([...prior].flatMap(([key, one]) => (one.row.locked ? [key] : [])))
  const existing = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  const driven = await drivenKeys(tx, zone.id)
  const reasons = blockReasons({ ops, existing, limits: limitsOf(zone), locked, driven, unsupported: [], isFirst: false })
  return { ops, reasons }
}

export const limitsOf = (zone: Pick<ZoneRow, 'updateLimit' | 'deleteLimit'>) => ({
  update: zone.updateLimit ?? defaultLimitPercent,
  delete: zone.deleteLimit ?? defaultLimitPercent,
})

function opOf(wanted: WantedRrset, prior: Rrset | undefined): Op | null {
  const { name, type } = wanted
  const before = prior ? toProviderRrset(prior) : null
  const options = wanted.options === undefined ? prior?.row.options : wanted.options
  const after: ProviderRrset | null =
    wanted.values.length === 0
      ? null
      : { name, type, ttl: wanted.ttl, values: wanted.values.map(one => one.rdata), ...(options && { options }) }
  if (
    fingerprintsMatch(before && fingerprintOf(before, exactComparison), after && fingerprintOf(after, exactComparison)) &&
    sameOptions(before, after)
  )
    return null
  return { action: before === null ? 'create' : after === null ? 'delete' : 'update', name, type, before, after }
}

/** Compares `proxied` exactly: fingerprints treat an unset value as equal. */
const sameOptions = (before: ProviderRrset | null, after: ProviderRrset | null): boolean =>
  before?.options?.proxied === after?.options?.proxied

/** Converts a stored rrset to the form that providers use. */
export const toProviderRrset = ({ row, records }: Rrset): ProviderRrset => ({
  name: row.name,
  type: row.type,
  ttl: row.ttl,
  values: records.map(record => record.rdata),
  ...(row.options && { options: row.options }),
})
