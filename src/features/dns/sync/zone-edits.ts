import { eq } from 'drizzle-orm'
import type { Reader } from '../../../core/db/transaction'
import type { Op, ProviderRrset } from '../providers/provider'
import type { WantedRrset } from '../rrset-rules'
import { dnsRrsets } from '../tables'
import { rrsetKey, rrsetsAt, type Rrset, type ZoneRow } from '../zone-rows'
import { blocksOf, usualLimit, type BlockReason } from './guards'
import { alike, exactly, printOf } from './normalise'

/** What edits would do to a zone as it is kept here, and the reasons not to do so unasked. */
export async function editsOf(
  tx: Reader,
  zone: ZoneRow,
  wanted: readonly WantedRrset[],
): Promise<{ ops: Op[]; reasons: BlockReason[] }> {
  const prior = await rrsetsAt(
    tx,
    zone.id,
    wanted.map(one => one.name),
  )
  const ops = wanted.flatMap(one => opOf(one, prior.get(rrsetKey(one))) ?? [])
  const locked = new Set([...prior].flatMap(([key, one]) => (one.row.locked ? [key] : [])))
  const existing = await tx
    .select({ name: dnsRrsets.name, type: dnsRrsets.type })
    .from(dnsRrsets)
    .where(eq(dnsRrsets.zoneId, zone.id))
  const reasons = blocksOf({ ops, existing, limits: limitsOf(zone), locked, unfit: [], isFirst: false })
  return { ops, reasons }
}

export const limitsOf = (zone: Pick<ZoneRow, 'updateLimit' | 'deleteLimit'>) => ({
  update: zone.updateLimit ?? usualLimit,
  delete: zone.deleteLimit ?? usualLimit,
})

function opOf(wanted: WantedRrset, prior: Rrset | undefined): Op | null {
  const { name, type } = wanted
  const before = prior ? rrsetKept(prior) : null
  const options = wanted.options === undefined ? prior?.row.options : wanted.options
  const after: ProviderRrset | null =
    wanted.values.length === 0
      ? null
      : { name, type, ttl: wanted.ttl, values: wanted.values.map(one => one.rdata), ...(options && { options }) }
  if (alike(before && printOf(before, exactly), after && printOf(after, exactly)) && sameOptions(before, after)) return null
  return { action: before === null ? 'create' : after === null ? 'delete' : 'update', name, type, before, after }
}

/** Edits may take back what was said of proxying, which a provider would not notice. */
const sameOptions = (before: ProviderRrset | null, after: ProviderRrset | null): boolean =>
  before?.options?.proxied === after?.options?.proxied

/** An rrset that is kept here, as providers are told of it. */
export const rrsetKept = ({ row, records }: Rrset): ProviderRrset => ({
  name: row.name,
  type: row.type,
  ttl: row.ttl,
  values: records.map(record => record.rdata),
  ...(row.options && { options: row.options }),
})
