import { and, asc, inArray, isNull, or } from 'drizzle-orm'
import type { Ctx } from '../../core/ctx'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { acknowledgeOutage, unacknowledgeOutage } from '../incidents/outages/acknowledged-outages'
import { joined, noDrafts, type Drafts, type Outage } from '../incidents/outages/outage'
import { openIncident, resolveIncident } from '../incidents/outages/outages'
import type { Subject } from '../incidents/subject'
import { certificateSubjects } from '../certificates/summary'
import { endpointSubjects } from '../tls-endpoints/last-scans'
import { subjectIdOf } from './changes-of'
import { gapKindOf, gapSeverities } from './kinds'
import { certificateGaps, type GapRow } from './tables'

// Gaps that visitors notice, or will notice soon, open incidents. Those of a TLS endpoint, or of a certificate that no endpoint presents,
// share one.

/** Whether a gap is one that opens an incident. */
const isGrave = ({ kind, severity }: Pick<GapRow, 'kind' | 'severity'>): boolean => {
  const { isServed, opensIncident } = gapKindOf(kind)
  return (severity === 'critical' || severity === 'high') && (isServed ?? opensIncident ?? false)
}

const isActive = (gap: Pick<GapRow, 'kind' | 'severity' | 'status'> | null): boolean =>
  gap !== null && (gap.status === 'open' || gap.status === 'acknowledged') && isGrave(gap)

/** The gaps of these subjects that may keep an incident open. */
const activeOf = (subjectIds: readonly string[]) =>
  and(
    or(
      inArray(certificateGaps.endpointId, [...subjectIds]),
      and(inArray(certificateGaps.certificateId, [...subjectIds]), isNull(certificateGaps.endpointId)),
    ),
    inArray(certificateGaps.status, ['open', 'acknowledged']),
    inArray(certificateGaps.severity, ['critical', 'high']),
  )

/** The gaps that keep the incident of a subject open, the most severe first, and open ones before acknowledged ones. */
async function gapsOfSubject(tx: Tx, subjectId: string): Promise<GapRow[]> {
  const rows = await tx
    .select()
    .from(certificateGaps)
    .where(activeOf([subjectId]))
    .orderBy(asc(certificateGaps.rank), asc(certificateGaps.id))
  return rows.filter(isGrave).toSorted((a, b) => gapSeverities.indexOf(a.severity) - gapSeverities.indexOf(b.severity))
}

/** A gap before and after a change; before is null if it is new. */
export interface GapChange {
  before: GapRow | null
  after: GapRow
}

/**
 * What follows for incidents when gaps have changed, within the caller's transaction. Call it after all of them are written: an incident is
 * about the most severe gap of its subject. The transaction must hold `lockGaps`.
 * @param by.now ms UTC
 * @param by.ctx who removed an acknowledgement
 */
export async function followGaps(
  tx: Tx,
  hub: Hub,
  changes: readonly GapChange[],
  by: { now: number; ctx?: Ctx },
): Promise<Drafts> {
  const relevant = changes.filter(
    ({ before, after }) =>
      isActive(before) !== isActive(after) ||
      (isActive(after) && (before?.status !== after.status || before.severity !== after.severity)),
  )
  const bySubject = Map.groupBy(relevant, ({ after }) => subjectIdOf(after))
  const drafts: Drafts[] = []
  // In a fixed order, to avoid deadlocks.
  for (const subjectId of [...bySubject.keys()].toSorted())
    if (subjectId !== null) drafts.push(await followSubject(tx, hub, subjectId, bySubject.get(subjectId)!, by))
  return joined(...drafts)
}

async function followSubject(
  tx: Tx,
  hub: Hub,
  subjectId: string,
  changes: readonly GapChange[],
  { now, ctx }: { now: number; ctx?: Ctx },
): Promise<Drafts> {
  const gaps = await gapsOfSubject(tx, subjectId)
  const [worst] = gaps
  if (!worst) return await resolveIncident(tx, hub, { subject: subjectId, at: now, reason: 'recovered' })
  const outage = await outageOf(tx, worst, now)
  if (!outage) return noDrafts()
  const opened = await openIncident(tx, hub, outage)
  const { id: incidentId } = opened.incident
  const others = gaps.filter(one => one.incidentId !== incidentId).map(one => one.id)
  if (others.length > 0) await tx.update(certificateGaps).set({ incidentId }).where(inArray(certificateGaps.id, others))
  if (!changes.some(({ before, after }) => before?.status === 'acknowledged' && after.status === 'open')) return opened
  const text = 'The certificate gap is no longer acknowledged.'
  const again = await unacknowledgeOutage(tx, hub, incidentId, { at: now, text, ...(ctx && { ctx }) })
  return joined(opened, again)
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

/**
 * Acknowledges the incident of a gap that was acknowledged, unless another gap of its subject is open. The transaction must hold `lockGaps`:
 * if the last two are acknowledged at the same time, the second one must see the first one.
 */
export async function acknowledgeGapIncident(tx: Tx, ctx: Ctx, gap: GapRow): Promise<Drafts> {
  const subjectId = subjectIdOf(gap)
  if (gap.incidentId === null || subjectId === null || !isGrave(gap)) return noDrafts()
  if ((await gapsOfSubject(tx, subjectId)).some(one => one.status === 'open')) return noDrafts()
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
  const { kind, severity, endpointId, certificateId } = certificateGaps
  const rows = await read
    .select({ kind, severity, endpointId, certificateId })
    .from(certificateGaps)
    .where(activeOf(subjects.map(one => one.id)))
  const failing = new Set(rows.filter(isGrave).map(subjectIdOf))
  return subjects.map(one => ({ ...one, isFailing: failing.has(one.id) }) as Subject)
}
