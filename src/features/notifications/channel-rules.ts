import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import { memberships, users, workspaces } from '../../access/tables'
import type { Ctx } from '../../core/ctx'
import type { Reader } from '../../core/db/transaction'
import { parseAddress } from '../../core/net/address'
import { EgressRefused, networkPolicy } from '../../core/net/egress'
import { egressOf } from '../../core/net/hub-egress'
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
 * Refuses a channel that leads to this hub by its address: it would fail at each message. Names are looked up when something is
 * sent, as what else the network policy says.
 * @throws Problem 422 at the address
 */
export async function refuseOwnAddress(ctx: Ctx, settings: Settings, read: Reader = ctx.hub.read): Promise<void> {
  const addresses = Object.entries(settings).flatMap(([member, value]) => {
    const url = /(^|_)url$/.test(member) && typeof value === 'string' ? URL.parse(value) : null
    const host = url?.hostname === 'localhost' ? '127.0.0.1' : url?.hostname.replace(/^\[(.*)\]$/, '$1')
    return url && host && parseAddress(host)
      ? [{ member, host, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) }]
      : []
  })
  if (addresses.length === 0) return
  const [row] = await read.select({ stored: workspaces.networkPolicy }).from(workspaces).where(eq(workspaces.id, ctx.workspaceId))
  for (const { member, host, port } of addresses)
    try {
      await egressOf(ctx.hub).vetHost(host, port, networkPolicy(row!.stored, { carriesSecret: false }))
    } catch (error) {
      if (!(error instanceof EgressRefused)) throw error
      if (error.isSelf)
        throw invalid([
          {
            pointer: `#/settings/${member}`,
            code: error.errorClass,
            detail: `is refused (${error.errorClass}). ${error.message}`,
          },
        ])
    }
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
