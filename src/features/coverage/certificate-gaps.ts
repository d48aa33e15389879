import { ne } from 'drizzle-orm'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import { listingOf, listPage } from '../../core/list'
import { idsFilter, searchFilter, textFilter, timeFilters, wordsFilter } from '../../core/list-filters'
import { editableView } from '../../core/members'
import { conflict, invalid, notFound } from '../../core/problem'
import { changedRow, findRow, lockRow, saveRow } from '../../core/rows'
import { rowsOf } from '../../registry'
import { gapsJobAfter } from '../certificates/gaps-job'
import { acknowledgeGapIncident, followGaps } from './gap-incidents'
import { gapEvent, gapRank, lockGaps, timelineWith } from './gap-rows'
import { gapKindNames, gapSeverities } from './kinds'
import { gapStatuses, type CertificateGapView, type GapAcknowledgement } from './shapes'
import { certificateGaps, type GapRow } from './tables'

export const gapRows = rowsOf('certificate_gap', certificateGaps)

const maxAcknowledgedMs = 366 * 86_400_000
const idFilter = (column: Parameters<typeof textFilter>[0], what: string) => textFilter(column, `Only gaps of this ${what}.`)

export const gapListing = listingOf('certificate-gaps', certificateGaps, {
  condition: ne(certificateGaps.status, 'pending'),
  filters: {
    ids: idsFilter(certificateGaps.id),
    kind: wordsFilter(certificateGaps.kind, gapKindNames, 'Only gaps of these kinds.'),
    severity: wordsFilter(certificateGaps.severity, gapSeverities, 'Only gaps with these severities.'),
    status: wordsFilter(certificateGaps.status, gapStatuses, 'Only gaps with these statuses.'),
    name: textFilter(certificateGaps.name, 'Only gaps of this name.', { maxLength: 253 }),
    q: searchFilter([certificateGaps.name], 'Only gaps whose name contains all words of this text.'),
    zone_id: idFilter(certificateGaps.zoneId, 'zone'),
    endpoint_id: idFilter(certificateGaps.endpointId, 'TLS endpoint'),
    certificate_id: idFilter(certificateGaps.certificateId, 'certificate'),
    server_id: idFilter(certificateGaps.serverId, 'server'),
    ...timeFilters('opened_at', certificateGaps.openedAt),
  },
  sorts: { severity: certificateGaps.rank, opened_at: certificateGaps.openedAt, name: certificateGaps.name },
})

const view = (row: GapRow): CertificateGapView => ({
  id: row.id,
  kind: row.kind,
  severity: row.severity,
  status: row.status === 'pending' ? 'open' : row.status,
  name: row.name,
  zone_id: row.zoneId,
  endpoint_id: row.endpointId,
  certificate_id: row.certificateId,
  server_id: row.serverId,
  incident_id: row.incidentId,
  detail: row.detail,
  fix: row.fix,
  evidence: row.evidence,
  issuable: row.isIssuable,
  opened_at: instant(row.openedAt),
  acknowledged_at: instant(row.acknowledgedAt),
  acknowledged_until: instant(row.acknowledgedUntil),
  acknowledged_by: row.acknowledgedBy,
  note: row.note,
  resolved_at: instant(row.resolvedAt),
  ...editableView(row),
})

export const listCertificateGaps = (ctx: Ctx, query: Record<string, unknown>) => listPage(ctx, gapListing, query, view)

/** @throws Problem 404 */
export async function getCertificateGap(ctx: Ctx, id: string): Promise<CertificateGapView> {
  return view(await findGap(ctx, id))
}

/** @throws Problem 404 */
export async function findGap(ctx: Ctx, id: string): Promise<GapRow> {
  const row = await findRow(ctx.hub.read, ctx, gapRows, id)
  if (row.status === 'pending') throw notFound('certificate gap')
  return row
}

/** Locks a gap that isn’t resolved until the transaction ends. @throws Problem 404, 409 if it is resolved, 412 */
export async function lockUnresolved(tx: Tx, ctx: Ctx, id: string): Promise<GapRow> {
  const row = await lockRow(tx, ctx, gapRows, id)
  if (row.status === 'pending') throw notFound('certificate gap')
  if (row.status === 'resolved') throw isResolved()
  return row
}

export const isResolved = () => conflict('The gap is resolved.')

/**
 * Accepts a gap until it is resolved, or until a time. Acknowledging it again replaces the acknowledgement.
 * @throws Problem 404, 409 if it is resolved, 412, 422 if the time is not in the future
 */
export function acknowledgeCertificateGap(
  ctx: Ctx,
  id: string,
  { until, note }: GapAcknowledgement,
): Promise<CertificateGapView> {
  const now = ctx.hub.clock.now()
  const untilMs = until ? Date.parse(until) : null
  if (untilMs !== null && (untilMs <= now || untilMs > now + maxAcknowledgedMs))
    throw invalid([{ pointer: '#/until', code: 'range', detail: 'must be in the future, at most 366 days from now.' }])
  const { type, id: actorId, name } = ctx.actor
  const actor = { type, id: actorId, name }
  return changeGap(ctx, 'certificates.gap.acknowledge', id, row => ({
    ...{ status: 'acknowledged', acknowledgedAt: now, acknowledgedUntil: untilMs, acknowledgedBy: actor, note },
    timeline: timelineWith(row.timeline, { at: now, kind: 'acknowledged', text: note, actor }),
  }))
}

/** Removes the acknowledgement, if there is one. @throws Problem 404, 409 if the gap is resolved, 412 */
export const unacknowledgeCertificateGap = (ctx: Ctx, id: string): Promise<CertificateGapView> =>
  changeGap(ctx, 'certificates.gap.unacknowledge', id, row => {
    if (row.status === 'open') return {}
    const { type, id: actorId, name } = ctx.actor
    const entry = { at: ctx.hub.clock.now(), kind: 'unacknowledged', text: '', actor: { type, id: actorId, name } } as const
    return { status: 'open', ...unacknowledged, timeline: timelineWith(row.timeline, entry) }
  })

/** The columns of a gap that isn’t acknowledged. */
export const unacknowledged = { acknowledgedAt: null, acknowledgedUntil: null, acknowledgedBy: null, note: '' }

const changeGap = (
  ctx: Ctx,
  action: 'certificates.gap.acknowledge' | 'certificates.gap.unacknowledge',
  id: string,
  columnsOf: (row: GapRow) => Partial<GapRow>,
): Promise<CertificateGapView> =>
  change(ctx, action, async tx => {
    await lockGaps(tx, ctx.workspaceId)
    const before = await lockUnresolved(tx, ctx, id)
    const columns = columnsOf(before)
    const after = await saveRow(tx, ctx, gapRows, before, { ...columns, rank: gapRank({ ...before, ...columns }) })
    const changed = await changedRow(gapRows, before, after, view)
    if (after.status === before.status && action === 'certificates.gap.unacknowledge') return changed
    const now = ctx.hub.clock.now()
    const { events, jobs, audits, notices } =
      after.status === 'acknowledged'
        ? await acknowledgeGapIncident(tx, ctx, after)
        : await followGaps(tx, ctx.hub, [{ before, after }], { now, ctx })
    const changes = after.status === before.status ? [] : [gapEvent(after, now)]
    const until = after.acknowledgedUntil
    const expiry = until === null ? [] : [gapsJobAfter(ctx.workspaceId, id, until)]
    return { ...changed, events: [...changes, ...events], jobs: [...jobs, ...expiry], audits, notices }
  })
