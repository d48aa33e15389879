import { and, asc, gt, inArray, isNull, lte, ne, or, sql, type SQL, eq } from 'drizzle-orm'
import { tokens } from '../../access/tables'
import type { TokenRow } from '../../access/token-use'
import { target } from '../../core/audit'
import { record } from '../../core/change'
import { instant, formatUtcMinute } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { forUpdate } from '../../core/db/dialect'
import type { Hub } from '../../core/hub'
import type { NoticeDraft } from '../../core/notices'

const dayMs = 86_400_000
/**
 * When workspaces are notified of an expiring token. The nearest lead comes first, so that a late check sends only one notice.
 */
const leads = [
  { days: 1, from: 0, severity: 'critical' },
  { days: 7, from: 1, severity: 'warning' },
] as const
type Lead = (typeof leads)[number]
const batchSize = 200

/**
 * Sends notices for tokens that expire within 7 days, and again within 1 day. The row of the token stores which notice was sent
 * for which expiry, so repeated runs, here or in another hub, send nothing, and a changed expiry is announced again.
 */
export async function warnOfExpiringTokens(hub: Hub): Promise<void> {
  for (const lead of leads) while ((await warnBatch(hub, lead)) === batchSize) continue
}

async function warnBatch(hub: Hub, lead: Lead): Promise<number> {
  return await record(hub, async tx => {
    const rows = await forUpdate(
      tx
        .select()
        .from(tokens)
        .where(notWarned(lead, hub.clock.now()))
        .orderBy(asc(tokens.expiresAt), asc(tokens.id))
        .limit(batchSize),
    )
    if (rows.length > 0)
      await tx
        .update(tokens)
        .set({ warnedEnd: sql`${tokens.expiresAt}`, warnedDays: lead.days })
        .where(
          inArray(
            tokens.id,
            rows.map(row => row.id),
          ),
        )
    return { result: rows.length, notices: rows.map(row => expiryNotice(row, lead)) }
  })
}

/** Active tokens that expire within the lead and had no notice. Excludes tokens whose whole lifetime is shorter than the lead. */
const notWarned = (lead: Lead, now: number): SQL | undefined =>
  and(
    isNull(tokens.revokedAt),
    gt(tokens.expiresAt, now + lead.from * dayMs),
    lte(tokens.expiresAt, now + lead.days * dayMs),
    sql`${tokens.expiresAt} - ${tokens.createdAt} > ${lead.days * dayMs}`,
    or(isNull(tokens.warnedEnd), ne(tokens.warnedEnd, tokens.expiresAt), gt(tokens.warnedDays, lead.days)),
  )

function expiryNotice(row: TokenRow, { days, severity }: Lead): NoticeDraft {
  const span = days === 1 ? '1 day' : `${days} days`
  const successor = row.rotatedTo === null ? '' : ` It was replaced by ${row.rotatedTo}.`
  return {
    workspaceId: row.workspaceId,
    kind: 'token.expiring',
    severity,
    resource: target('token', row),
    text: `The token “${row.name}” (${row.hint}) expires within ${span}, on ${formatUtcMinute(row.expiresAt!)}.${successor}`,
    details: { expires_at: instant(row.expiresAt), days_before: days, rotated_to: row.rotatedTo },
    dedupKey: `${row.id} ${days}`,
  }
}

/** A token that expires soon. */
interface ExpiringToken {
  id: string
  name: string
  hint: string
  expires_at: string
  /** The token that replaced it. */
  rotated_to: string | null
}

/** The active tokens of a workspace that expire before a time (ms UTC): their number, and the first ones. */
export async function expiringTokens(
  { hub, workspaceId }: Ctx,
  before: number,
  max: number,
): Promise<{ total: number; data: ExpiringToken[] }> {
  const { id, name, hint, expiresAt, rotatedTo } = tokens
  const rows = await hub.read
    .select({ id, name, hint, expiresAt, rotatedTo })
    .from(tokens)
    .where(
      and(eq(tokens.workspaceId, workspaceId), isNull(tokens.revokedAt), gt(expiresAt, hub.clock.now()), lte(expiresAt, before)),
    )
    .orderBy(asc(expiresAt), asc(id))
  return {
    total: rows.length,
    data: rows.slice(0, max).map(row => ({
      id: row.id,
      name: row.name,
      hint: row.hint,
      expires_at: instant(row.expiresAt!),
      rotated_to: row.rotatedTo,
    })),
  }
}
