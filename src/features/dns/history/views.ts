import { isDeepStrictEqual } from 'node:util'
import { instant } from '../../../core/clock'
import { textOf } from '../../../core/dns/rdata'
import { shownMembers } from '../rrset-members'
import type { SoaMembers } from '../soa-members'
import type { Between } from './as-of'
import { mostShown, type ChangesetView, type RrsetChangeView } from './shapes'
import type { dnsChangesets, KeptRrset } from './tables'

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

/** Null where they are alike. */
export const soaChange = (before: SoaMembers, after: SoaMembers): ChangesetView['soa'] =>
  isDeepStrictEqual(before, after) ? null : { before, after }

// A value of 64 KiB takes some four times as much as text.
const mostCharacters = 4 * 1024 * 1024

/** As many of them as fit an answer. */
export async function rrsetsShown(
  changes: Iterable<Between> | AsyncIterable<Between>,
): Promise<{ rrsets: RrsetChangeView[]; truncated: boolean }> {
  const rrsets: RrsetChangeView[] = []
  let characters = 0
  for await (const { name, type, before, after } of changes) {
    const shown = { name, type, before: before && formShown(type, before), after: after && formShown(type, after) }
    for (const form of [shown.before, shown.after]) for (const { content } of form?.records ?? []) characters += content.length
    if (rrsets.length === mostShown || (characters > mostCharacters && rrsets.length > 0)) return { rrsets, truncated: true }
    rrsets.push(shown)
  }
  return { rrsets, truncated: false }
}

const formShown = (type: string, { ttl, options, records, ...members }: KeptRrset): NonNullable<RrsetChangeView['before']> => ({
  ttl,
  options,
  ...shownMembers(members),
  records: records.map(([id, rdata]) => ({ id, content: textOf(type, Buffer.from(rdata, 'base64')) })),
})
