import { and, eq, isNull, lt, ne, notExists, or, sql } from 'drizzle-orm'
import { aliased } from '../../core/db/dialect'
import type { Hub } from '../../core/hub'
import { pruneRows } from '../../core/rows'
import { certificatePresences, certificates } from './tables'
import { endedForMs } from './view'

/** How long certificates that are nowhere are kept. A lineage that is renewed once a year still shows two renewals. */
const unseenForMs = 730 * 86_400_000

/** Deletes places where certificates are no longer, and certificates that have not been seen for long. */
export async function pruneCertificates(hub: Hub): Promise<void> {
  const now = hub.clock.now()
  const { id, endedAt } = certificatePresences
  await pruneRows(hub, certificatePresences, lt(endedAt, now - endedForMs), endedAt, id)
  await pruneRows(hub, certificates, isGone(hub, now - unseenForMs), certificates.lastSeenAt, certificates.id)
}

/** Certificates that are nowhere since before a time (ms UTC), or only in a CT log and expired before it, and issued none that remain. */
function isGone({ read }: Hub, before: number) {
  const issued = aliased(certificates, 'issued')
  const { certificateId, kind, endedAt } = certificatePresences
  const elsewhere = read
    .select({ id: certificatePresences.id })
    .from(certificatePresences)
    .where(and(eq(certificateId, certificates.id), isNull(endedAt), ne(kind, 'ct')))
  const others = read
    .select({ id: issued.id })
    .from(issued)
    .where(
      and(
        eq(issued.workspaceId, certificates.workspaceId),
        eq(issued.issuerHash, certificates.subjectHash),
        ne(issued.id, certificates.id),
      ),
    )
  return and(
    // The condition of the index.
    sql`not ${certificates.inUse}`,
    lt(certificates.lastSeenAt, before),
    or(eq(certificates.presenceCount, 0), lt(certificates.notAfter, before)),
    notExists(elsewhere),
    or(eq(certificates.isCa, false), notExists(others)),
  )
}
