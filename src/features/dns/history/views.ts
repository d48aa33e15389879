import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../../core/clock'
import { textOf } from '../../../dns/rdata'
import { metadataView } from '../records/rrset-metadata'
import type { SoaFields } from '../zones/soa-fields'
import type { RrsetDiff } from './zone-versions'
import { maxRrsetsShown, type ChangesetView, type RrsetChangeView } from './shapes'
import type { dnsChangesets, StoredRrset } from './tables'

export type ChangesetRow = typeof dnsChangesets.$inferSelect

export const changesetView = (row: ChangesetRow): ChangesetView => ({
  id: row.id,
  zone_id: row.zoneId,
  version: row.version,
  serial_before: row.serialBefore,
  serial_after: row.serialAfter,
  soa: row.soaBefore && row.soaAfter && { before: row.soaBefore, after: row.soaAfter },
  origin: row.origin,
  actor: { type: row.actor.type, id: row.actor.id, name: row.actor.name },
  note: row.note,
  plan_id: row.planId,
  created: row.created,
  updated: row.updated,
  deleted: row.deleted,
  rrset_count: row.rrsetCount,
  occurred_at: instant(row.occurredAt),
  request_id: row.requestId,
})

/** Null if both are equal. */
export const soaChange = (before: SoaFields, after: SoaFields): ChangesetView['soa'] =>
  isDeepStrictEqual(before, after) ? null : { before, after }

// A value of 64 KiB takes about four times as much as text.
const maxCharacters = 4 * 1024 * 1024

/** Changes as the API returns them, up to the limits of a response. */
export async function rrsetChangeViews(
  changes: Iterable<RrsetDiff> | AsyncIterable<RrsetDiff>,
): Promise<{ rrsets: RrsetChangeView[]; truncated: boolean }> {
  const rrsets: RrsetChangeView[] = []
  let characters = 0
  for await (const { name, type, before, after } of changes) {
    const shown = { name, type, before: before && rrsetState(type, before), after: after && rrsetState(type, after) }
    for (const state of [shown.before, shown.after]) for (const { content } of state?.records ?? []) characters += content.length
    if (rrsets.length === maxRrsetsShown || (characters > maxCharacters && rrsets.length > 0)) return { rrsets, truncated: true }
    rrsets.push(shown)
  }
  return { rrsets, truncated: false }
}

const rrsetState = (
  type: string,
  { ttl, options, records, ...metadata }: StoredRrset,
): NonNullable<RrsetChangeView['before']> => ({
  ttl,
  options,
  ...metadataView(metadata),
  records: records.map(([id, rdata]) => ({ id, content: textOf(type, Buffer.from(rdata, 'base64')) })),
})
