import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import { memberships, users, workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { invalid, Problem } from '../../core/problem'
import type { Settings } from '../../core/sealed-settings'
import { topicOf } from './message-kinds'
import type { ChannelRow } from './tables'

/** Checks what the schema can't express. @throws Problem 422 */
export function refuseInvalidQuietHours({ quietHours }: Partial<ChannelRow>): void {
  if (!quietHours) return
  const invalidField = (member: string, code: string, detail: string) =>
    invalid([{ pointer: `#/quiet_hours/${member}`, code, detail }])
  if (quietHours.from === quietHours.to)
    throw invalidField('to', 'not_allowed', 'must differ from `from`. To hold all messages, set `active` to false.')
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(quietHours.timezone)
  } catch {
    throw invalidField('timezone', 'format', 'must be an IANA time zone name such as Europe/Berlin.')
  }
}

/**
 * Refuses changes that send notices to a new destination if the caller may not read notices.
 * @param before null if the destination is new
 * @throws Problem 403 `insufficient_permission`, `restricted_token`
 */
export function refuseUnreadableTopics(
  ctx: Ctx,
  before: Pick<ChannelRow, 'isDefault' | 'topics'> | null,
  after: Pick<ChannelRow, 'isDefault' | 'topics'>,
): void {
  if (ctx.resourceIds !== null && !isDeepStrictEqual([before?.isDefault, before?.topics], [after.isDefault, after.topics]))
    throw new Problem(
      'restricted_token',
      'Channels receive notifications about the whole workspace. A token limited to specific resources can’t change their topics or destination.',
    )
  const noticesOf = (one: typeof after | null) =>
    one?.isDefault ? one.topics.filter(topic => topic === 'notices' || topicOf(topic) === 'notices') : []
  const known = noticesOf(before)
  const added = noticesOf(after).filter(topic => !known.includes('notices') && !known.includes(topic))
  if (added.length === 0 || ctx.permissions.has('account.read')) return
  throw new Problem('insufficient_permission', 'Sending notices requires the `account.read` permission. Choose other topics.', {
    fields: { required_permission: 'account.read' },
  })
}

/**
 * Only allows workspace members as recipients of mail sent through the mail server of the installation, except in the operator’s
 * workspace. Otherwise anyone could use it to send mail to arbitrary addresses.
 * @throws Problem 422 at the first address that belongs to no member
 */
export async function refuseNonMembers(ctx: Ctx, kind: string, settings: Settings, read: Reader = ctx.hub.read): Promise<void> {
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
  const other = (settings['to'] as string[]).findIndex(address => !known.has(address.toLowerCase()))
  if (other === -1) return
  throw invalid([
    {
      pointer: `#/settings/to/${other}`,
      code: 'not_allowed',
      detail: 'must be the email address of a workspace member. To send to other addresses, set your own mail `server`.',
    },
  ])
}
