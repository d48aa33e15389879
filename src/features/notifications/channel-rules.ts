import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import { memberships, users, workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { invalid, Problem } from '../../core/problem'
import type { Settings } from '../../core/sealed-settings'
import { topicOf } from './message-kinds'
import type { ChannelRow } from './tables'

/** What the schema cannot say of a channel. @throws Problem 422 */
export function refuseBadChoices({ quietHours }: Partial<ChannelRow>): void {
  if (!quietHours) return
  const wrong = (member: string, code: string, detail: string) => invalid([{ pointer: `#/quiet_hours/${member}`, code, detail }])
  if (quietHours.from === quietHours.to)
    throw wrong('to', 'not_allowed', 'must differ from `from`: to hold everything, switch the channel off.')
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(quietHours.timezone)
  } catch {
    throw wrong('timezone', 'format', 'must be the IANA name of a time zone such as Europe/Berlin.')
  }
}

/**
 * Refuses to send notices where they did not go before to callers who may not read them.
 * @param before null where everything would go somewhere new
 * @throws Problem 403 `insufficient_permission`, `narrowed_token`
 */
export function refuseUnreadable(
  ctx: Ctx,
  before: Pick<ChannelRow, 'forEverything' | 'topics'> | null,
  after: Pick<ChannelRow, 'forEverything' | 'topics'>,
): void {
  if (
    ctx.resourceIds !== null &&
    !isDeepStrictEqual([before?.forEverything, before?.topics], [after.forEverything, after.topics])
  )
    throw new Problem(
      'narrowed_token',
      'A channel is told of the whole workspace: a token narrowed to some resources may not choose topics or where they go.',
    )
  const noticesOf = (one: typeof after | null) =>
    one?.forEverything ? one.topics.filter(topic => topic === 'notices' || topicOf(topic) === 'notices') : []
  const known = noticesOf(before)
  const opened = noticesOf(after).filter(topic => !known.includes('notices') && !known.includes(topic))
  if (opened.length === 0 || ctx.permissions.has('account.read')) return
  throw new Problem('insufficient_permission', 'To have notices sent needs the permission account.read; name other topics.', {
    members: { required_permission: 'account.read' },
  })
}

/**
 * Holds mail over the server of the installation to people of the workspace, but for the operator's own: it must not become a way to
 * write to anybody.
 * @throws Problem 422 at the first address that is nobody's
 */
export async function refuseStrangers(ctx: Ctx, kind: string, settings: Settings, read: Reader = ctx.hub.read): Promise<void> {
  if (kind !== 'email' || settings['server'] !== undefined) return
  const [own] = await read
    .select({ isOperator: workspaces.isOperator })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  if (own!.isOperator) return
  const rows = await read
    .select({ email: users.email })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.workspaceId, ctx.workspaceId))
  const known = new Set(rows.map(row => row.email))
  const stranger = (settings['to'] as string[]).findIndex(address => !known.has(address.toLowerCase()))
  if (stranger === -1) return
  throw invalid([
    {
      pointer: `#/settings/to/${stranger}`,
      code: 'not_allowed',
      detail: 'must be the address of a member of the workspace, or goes with a `server` of your own.',
    },
  ])
}
