import { and, asc, eq, gte, inArray, isNull, lte, or, sql } from 'drizzle-orm'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countRows } from '../../core/db/counts'
import type { Reader } from '../../core/db/transaction'
import { containsWord } from '../../core/list-filters'
import { levelOf, isOverdue } from './status'
import { certificates, type CertificateRow } from './tables'

/** A certificate in use that has to be replaced. */
interface ExpiringCertificate {
  id: string
  name: string
  level: NonNullable<CertificateRow['alarmLevel']>
  expires_at: string
  renewal_overdue: boolean
}

/** The certificates of a workspace that are in use and have to be replaced: their number, and the first to expire. */
export async function certificatesToReplace(
  { hub, workspaceId }: Ctx,
  max: number,
): Promise<{ total: number; data: ExpiringCertificate[] }> {
  const now = hub.clock.now()
  const isIn = and(
    eq(certificates.workspaceId, workspaceId),
    // The condition of the index.
    sql`${certificates.inUse}`,
    lte(certificates.expiringFrom, now),
    isNull(certificates.revokedAt),
  )
  const rows = await hub.read
    .select()
    .from(certificates)
    .where(isIn)
    .orderBy(asc(certificates.notAfter), asc(certificates.id))
    .limit(max)
  return {
    total:
      rows.length < max
        ? rows.length
        : await countRows(hub.read, hub.read.select({ id: certificates.id }).from(certificates).where(isIn)),
    data: rows.map(row => ({
      id: row.id,
      name: nameOf(row),
      level: levelOf(row, now) ?? 'expiring',
      expires_at: instant(row.notAfter),
      renewal_overdue: isOverdue(row, now),
    })),
  }
}

/** A certificate in use, and when it ends (ms UTC). */
interface EndingCertificate {
  id: string
  name: string
  issuer: string
  names: string[]
  notAfter: number
  createdAt: number
}

const maxNames = 5

/**
 * The certificates of a workspace that are in use and end after a time, the first to end first.
 * @param of `from`: ms UTC. `tags`: only certificates with one of these; all if empty
 */
export async function endingCertificates(
  read: Reader,
  workspaceId: string,
  of: { from: number; tags: readonly string[]; max: number },
): Promise<EndingCertificate[]> {
  const rows = await read
    .select()
    .from(certificates)
    .where(
      and(
        eq(certificates.workspaceId, workspaceId),
        gte(certificates.notAfter, of.from),
        sql`${certificates.inUse}`,
        isNull(certificates.revokedAt),
        of.tags.length === 0 ? undefined : or(...of.tags.map(tag => containsWord(certificates.tags, tag))),
      ),
    )
    .orderBy(asc(certificates.notAfter), asc(certificates.id))
    .limit(of.max)
  return rows.map(row => ({
    id: row.id,
    name: nameOf(row),
    issuer: row.issuer,
    names: row.contents.dns_names.slice(0, maxNames),
    notAfter: row.notAfter,
    createdAt: row.createdAt,
  }))
}

const nameOf = ({ commonName, contents, subject }: CertificateRow): string => commonName || contents.dns_names[0] || subject

/** The certificates of a workspace with these IDs, as subjects of incidents. */
export async function certificateSubjects(read: Reader, workspaceId: string, ids: readonly string[]) {
  const own = ids.filter(id => id.startsWith('cert_'))
  if (own.length === 0) return []
  const rows = await read
    .select()
    .from(certificates)
    .where(and(eq(certificates.workspaceId, workspaceId), inArray(certificates.id, own)))
  return rows.map(row => {
    const name = nameOf(row).slice(0, maxName)
    return { type: 'certificate' as const, id: row.id, name, tags: row.tags, target: null }
  })
}

const maxName = 253
