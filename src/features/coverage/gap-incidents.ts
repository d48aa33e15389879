import { and, asc, eq, inArray, ne } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { acknowledgeOutage, unacknowledgeOutage } from '../incidents/outages/acknowledged-outages'
import { joined, noDrafts, type Drafts, type Outage } from '../incidents/outages/outage'
import { openIncident, resolveIncident } from '../incidents/outages/outages'
import type { Subject } from '../incidents/subject'
import { certificateSubjects } from '../certificates/summary'
import { endpointSubjects } from '../tls-endpoints/last-scans'
import { gapKindOf, gapSeverities } from './kinds'
import { certificateGaps, type GapRow } from './tables'

// Gaps that visitors notice, or will notice soon, open incidents. Those of a TLS endpoint, or of a certificate that no endpoint presents,
// share one.

const unresolved = ['open', 'acknowledged'] as const

/** Whether a gap opens an incident. */
const isGrave = ({ kind, severity }: Pick<GapRow, 'kind' | 'severity'>): boolean => {
  const { isServed, opensIncident } = gapKindOf(kind)
  return (severity === 'critical' || severity === 'high') && (isServed ?? opensIncident ?? false)
}

const subjectIdOf = ({ endpointId, certificateId }: GapRow): string | null => endpointId ?? certificateId

/**
 * What follows for its incident when a gap has changed, within the caller's transaction.
 * @param before as it was; null if it is new
 * @param by.now ms UTC
 * @param by.ctx who removed an acknowledgement
 * @returns the ID of its incident, which has to be stored
 */
export async function followGap(
  tx: Tx,
  hub: Hub,
  before: GapRow | null,
  after: GapRow,
  { now, ctx }: { now: number; ctx?: Ctx },
): Promise<{ incidentId: string | null; drafts: Drafts }> {
  const { incidentId } = after
  const wasOpen = before?.status === 'open' && isGrave(before) && before.severity === after.severity
  if (after.status === 'open' && isGrave(after) && !wasOpen) {
    const outage = await outageOf(tx, after, now)
    if (!outage) return { incidentId, drafts: noDrafts() }
    const opened = await openIncident(tx, hub, outage)
    if (before?.status !== 'acknowledged') return { incidentId: opened.incident.id, drafts: opened }
    const text = 'The certificate gap is no longer acknowledged.'
    const again = await unacknowledgeOutage(tx, hub, opened.incident.id, { at: now, text, ...(ctx && { ctx }) })
    return { incidentId: opened.incident.id, drafts: joined(opened, again) }
  }
  if (incidentId === null || after.status === 'pending') return { incidentId, drafts: noDrafts() }
  const isOver =
    after.status === 'resolved' ? before?.status !== 'resolved' : !isGrave(after) && before !== null && isGrave(before)
  return { incidentId, drafts: isOver ? await endOf(tx, hub, after, incidentId, now) : noDrafts() }
}

/** Resolves the incident of a gap that is over, unless others share it. Then it is about the most severe one of those. */
async function endOf(tx: Tx, hub: Hub, gap: GapRow, incidentId: string, now: number): Promise<Drafts> {
  const [worst] = await othersOf(tx, gap, incidentId)
  const subject = subjectIdOf(worst ?? gap)
  if (!worst) return subject === null ? noDrafts() : await resolveIncident(tx, hub, { subject, at: now, reason: 'recovered' })
  const outage = await outageOf(tx, worst, now)
  return outage ? await openIncident(tx, hub, outage) : noDrafts()
}

/** Other gaps of an incident, the most severe first. */
async function othersOf(tx: Tx, { id, workspaceId }: GapRow, incidentId: string): Promise<GapRow[]> {
  const rows = await tx
    .select()
    .from(certificateGaps)
    .where(
      and(
        eq(certificateGaps.workspaceId, workspaceId),
        eq(certificateGaps.incidentId, incidentId),
        ne(certificateGaps.id, id),
        inArray(certificateGaps.status, [...unresolved]),
      ),
    )
    .orderBy(asc(certificateGaps.rank), asc(certificateGaps.id))
  return rows.filter(isGrave).toSorted((a, b) => gapSeverities.indexOf(a.severity) - gapSeverities.indexOf(b.severity))
}

async function outageOf(tx: Tx, gap: GapRow, now: number): Promise<Outage | null> {
  const id = subjectIdOf(gap)
  const [subject] = id === null ? [] : await namedSubjects(tx, gap.workspaceId, [id])
  if (!subject) return null
  return {
    workspaceId: gap.workspaceId,
    subject,
    kind: 'certificate.gap',
    predicate: gapKindOf(gap.kind).predicate,
    severity: gap.severity === 'critical' ? 'critical' : 'warning',
    startedAt: now,
    confirmedAt: now,
    cause: gap.detail,
    locations: [],
    evidence: { gap_id: gap.id, kind: gap.kind, fix: gap.fix, ...gap.evidence },
    channelIds: null,
    link: null,
  }
}

/** Acknowledges the incident of a gap that was acknowledged, unless another gap of it is open. */
export async function acknowledgeGapIncident(tx: Tx, ctx: Ctx, gap: GapRow): Promise<Drafts> {
  if (gap.incidentId === null || !isGrave(gap)) return noDrafts()
  const others = await othersOf(tx, gap, gap.incidentId)
  if (others.some(one => one.status === 'open')) return noDrafts()
  return await acknowledgeOutage(tx, ctx, gap.incidentId, { note: gap.note, until: gap.acknowledgedUntil })
}

type NamedSubject = Outage['subject'] & { target: string | null }

const namedSubjects = async (read: Reader, workspaceId: string, ids: readonly string[]): Promise<NamedSubject[]> => [
  ...(await endpointSubjects(read, workspaceId, ids)),
  ...(await certificateSubjects(read, workspaceId, ids)),
]

/** The TLS endpoints and certificates of a workspace with these IDs, as subjects of incidents. */
export async function gapSubjects(read: Reader, workspaceId: string, ids: readonly string[]): Promise<Subject[]> {
  const subjects = await namedSubjects(read, workspaceId, ids)
  if (subjects.length === 0) return []
  const rows = await read
    .select()
    .from(certificateGaps)
    .where(and(eq(certificateGaps.workspaceId, workspaceId), inArray(certificateGaps.status, [...unresolved])))
    .orderBy(asc(certificateGaps.id))
  const failing = new Set(rows.filter(isGrave).map(subjectIdOf))
  return subjects.map(one => ({ ...one, isFailing: failing.has(one.id) }) as Subject)
}
