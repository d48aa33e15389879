import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { forIds } from '../../core/db/id-list'
import { prepared } from '../../core/db/prepared'
import type { Reader, Tx } from '../../core/db/transaction'
import { updateRows } from '../../core/db/update-rows'
import { isTurnOver, yieldToEventLoop } from '../../core/time-slices'
import { firstAlarmAt, nextAlarmAt, renewsItself } from './life'
import { sourceOf, type CertificateSource } from './places'
import { certificatePresences, certificates, type CertificateRow, type PresenceRow } from './tables'

/** At most this many certificates of a lineage are compared, the newest first: a six-day certificate has about a hundred in a year. */
const maxLineage = 100

/**
 * Updates the columns of certificates that follow from where they are and from the others of their lineage.
 * @param ids of certificates whose presences have changed
 * @param now the time (ms UTC)
 */
export async function refreshCertificates(tx: Tx, workspaceId: string, ids: ReadonlySet<string>, now: number): Promise<void> {
  const changed = await rowsOf(tx, [...ids])
  for (const lineageId of new Set(changed.map(row => row.lineageId))) {
    const members = await lineageOf(tx, workspaceId, lineageId)
    const known = new Set(members.map(one => one.id))
    const rows = [...members, ...changed.filter(row => row.lineageId === lineageId && !known.has(row.id))]
    await refreshLineage(tx, rows, now)
    if (isTurnOver()) await yieldToEventLoop()
  }
}

/** Updates the other certificates of a lineage after one was deleted. @param now the time (ms UTC) */
export const refreshRemaining = async (tx: Tx, workspaceId: string, lineageId: string, now: number): Promise<void> =>
  await refreshLineage(tx, await lineageOf(tx, workspaceId, lineageId), now)

const columns = {
  id: certificates.id,
  lineageId: certificates.lineageId,
  isOnlyIssuer: certificates.isOnlyIssuer,
  notBefore: certificates.notBefore,
  notAfter: certificates.notAfter,
  renewalDueAt: certificates.renewalDueAt,
  revokedAt: certificates.revokedAt,
  lastSeenAt: certificates.lastSeenAt,
  supersededBy: certificates.supersededBy,
  inUse: certificates.inUse,
  sources: certificates.sources,
  presenceCount: certificates.presenceCount,
  autoRenewing: certificates.autoRenewing,
  alarmLevel: certificates.alarmLevel,
  alarmAt: certificates.alarmAt,
  expiringFrom: certificates.expiringFrom,
}
type Member = Pick<CertificateRow, keyof typeof columns>

const rowsOf = (read: Reader, ids: readonly string[]): Promise<Member[]> =>
  forIds(ids, (size, list, values) =>
    prepared(read, `certificates-to-refresh|${size}`, handle =>
      handle
        .select(columns)
        .from(certificates)
        .where(sql`${certificates.id} in ${list}`),
    ).execute(values),
  )

const lineageOf = (read: Reader, workspaceId: string, lineageId: string): Promise<Member[]> =>
  prepared(read, 'certificates-of-lineage', handle =>
    handle
      .select(columns)
      .from(certificates)
      .where(
        and(
          eq(certificates.workspaceId, sql.placeholder('workspaceId')),
          eq(certificates.lineageId, sql.placeholder('lineageId')),
        ),
      )
      .orderBy(desc(certificates.notBefore))
      .limit(maxLineage),
  ).execute({ workspaceId, lineageId })

/** Where certificates are now. */
const placesOfAll = (read: Reader, ids: readonly string[]): Promise<Pick<PresenceRow, 'certificateId' | 'kind' | 'isUse'>[]> =>
  forIds(ids, (size, list, values) => {
    const { certificateId, kind, isUse, endedAt } = certificatePresences
    return prepared(read, `places-of-certificates|${size}`, handle =>
      handle
        .select({ certificateId, kind, isUse })
        .from(certificatePresences)
        .where(and(sql`${certificateId} in ${list}`, isNull(endedAt))),
    ).execute(values)
  })

async function refreshLineage(tx: Tx, rows: readonly Member[], now: number): Promise<void> {
  const presences = await placesOfAll(
    tx,
    rows.map(row => row.id),
  )
  const placesOf = Map.groupBy(presences, one => one.certificateId)
  const oldestFirst = [...rows].sort((a, b) => a.notBefore - b.notBefore || a.notAfter - b.notAfter)
  const newest = oldestFirst.findLast(row => placesOf.get(row.id)?.some(one => one.isUse))
  const changed: (Pick<Member, (typeof refreshed)[number]> & { id: string })[] = []
  for (const [at, row] of oldestFirst.entries()) {
    const places = placesOf.get(row.id) ?? []
    const after = derived(row, places, { newest, isOlder: newest !== undefined && oldestFirst.indexOf(newest) > at, now })
    const autoRenewing = places.some(one => one.kind === 'issued') || renewsItself(oldestFirst.slice(0, at + 1))
    const isAlarmed = after.inUse && !after.supersededBy && row.revokedAt === null
    const alarmAt = isAlarmed ? nextAlarmAt({ ...row, autoRenewing }, row.alarmLevel) : null
    const values = { ...after, autoRenewing, alarmAt, expiringFrom: firstAlarmAt({ ...row, autoRenewing }) }
    const isSame = Object.entries(values).every(
      ([name, value]) => JSON.stringify(value) === JSON.stringify(row[name as keyof Member]),
    )
    if (!isSame) changed.push({ id: row.id, ...values })
  }
  await updateRows(tx, certificates, { name: 'refreshed', set: refreshed }, changed)
}

const refreshed = [
  ...(['inUse', 'supersededBy', 'sources', 'presenceCount', 'lastSeenAt', 'isOnlyIssuer'] as const),
  ...(['autoRenewing', 'alarmAt', 'expiringFrom'] as const),
] as const

/** What follows from where a certificate is, and from the newest one of its lineage that is in use. */
function derived(
  row: Member,
  places: readonly Pick<PresenceRow, 'kind' | 'isUse'>[],
  { newest, isOlder, now }: { newest: Member | undefined; isOlder: boolean; now: number },
): Pick<Member, 'inUse' | 'supersededBy' | 'sources' | 'presenceCount' | 'lastSeenAt' | 'isOnlyIssuer'> {
  const isServed = places.some(one => one.isUse && one.kind !== 'upload' && one.kind !== 'issued')
  const supersededBy = isOlder && !isServed ? newest!.id : null
  const sources: CertificateSource[] = [...new Set(places.map(one => sourceOf(one.kind)))].sort()
  return {
    inUse: supersededBy === null && places.some(one => one.isUse),
    supersededBy,
    sources,
    presenceCount: places.length,
    // It was seen until now.
    lastSeenAt: places.length === 0 && row.presenceCount > 0 ? now : row.lastSeenAt,
    isOnlyIssuer: row.isOnlyIssuer && places.length === 0,
  }
}
