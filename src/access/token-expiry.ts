import { and, asc, gt, inArray, isNull, lte, ne, or, sql, type SQL } from 'drizzle-orm'
import { target } from '../core/audit'
import { record } from '../core/change'
import { instant, minuteText } from '../core/clock'
import { locking } from '../core/db/dialect'
import type { Hub } from '../core/hub'
import type { NoticeDraft } from '../core/notices'
import { tokens } from './tables'
import type { TokenRow } from './tokens'

const dayMs = 86_400_000
/** How many days before its end a token is told of: the nearest first, so that one found late is told of once. */
const leads = [
  { days: 1, from: 0, severity: 'critical' },
  { days: 7, from: 1, severity: 'warning' },
] as const
type Lead = (typeof leads)[number]
const mostAtOnce = 200

/**
 * Tells of tokens that end within 7 days, and again within one. What was told is written beside the end it was told of, in the row
 * of the token: a second run, here or in another hub, tells nothing again, and an end that is moved is told of anew.
 */
export async function warnOfExpiringTokens(hub: Hub): Promise<void> {
  for (const lead of leads) while ((await warnOfSome(hub, lead)) === mostAtOnce) continue
}

async function warnOfSome(hub: Hub, lead: Lead): Promise<number> {
  return await record(hub, async tx => {
    const rows = await locking(
      tx
        .select()
        .from(tokens)
        .where(untold(lead, hub.clock.now()))
        .orderBy(asc(tokens.expiresAt), asc(tokens.id))
        .limit(mostAtOnce),
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

/** Tokens that work, end within the lead and were not told of it. One that was made for less time than the lead ends as meant. */
const untold = (lead: Lead, now: number): SQL | undefined =>
  and(
    isNull(tokens.revokedAt),
    gt(tokens.expiresAt, now + lead.from * dayMs),
    lte(tokens.expiresAt, now + lead.days * dayMs),
    sql`${tokens.expiresAt} - ${tokens.createdAt} > ${lead.days * dayMs}`,
    or(isNull(tokens.warnedEnd), ne(tokens.warnedEnd, tokens.expiresAt), gt(tokens.warnedDays, lead.days)),
  )

function expiryNotice(row: TokenRow, { days, severity }: Lead): NoticeDraft {
  const span = days === 1 ? 'a day' : `${days} days`
  const successor = row.rotatedTo === null ? '' : ` ${row.rotatedTo} took its place.`
  return {
    workspaceId: row.workspaceId,
    kind: 'token.expiring',
    severity,
    resource: target('token', row),
    text: `The token “${row.name}” (${row.hint}) stops working within ${span}, on ${minuteText(row.expiresAt!)}.${successor}`,
    details: { expires_at: instant(row.expiresAt), days_before: days, rotated_to: row.rotatedTo },
    matter: `${row.id} ${days}`,
  }
}
