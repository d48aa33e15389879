import { and, asc, eq, inArray, isNull, ne, sql } from 'drizzle-orm'
import { instant } from '../../../core/clock'
import type { Reader } from '../../../core/db/transaction'
import { editableView, memberView } from '../../../core/members'
import { rowsOf } from '../../../registry'
import { cloudAccounts } from '../accounts/tables'
import { servers } from '../tables'
import { firewallMembers, type FirewallAttachmentView, type FirewallView } from './shapes'
import { firewallAttachments, firewallRefusals, firewalls } from './tables'

export const firewallRows = rowsOf('firewall', firewalls)
export type FirewallRow = typeof firewalls.$inferSelect
export type AttachmentRow = typeof firewallAttachments.$inferSelect

/** The attachments of firewalls, with what enforces them: the kind of the cloud, or `agent`. */
export const attachmentsOf = (read: Reader, firewallIds: readonly string[]) =>
  read
    .select({ attachment: firewallAttachments, enforcer: sql<string>`coalesce(${cloudAccounts.kind}, 'agent')` })
    .from(firewallAttachments)
    .leftJoin(cloudAccounts, eq(cloudAccounts.id, firewallAttachments.accountId))
    .innerJoin(servers, eq(servers.id, firewallAttachments.serverId))
    .where(and(inArray(firewallAttachments.firewallId, [...firewallIds]), isNull(servers.deletedAt)))
    .orderBy(asc(firewallAttachments.serverId))

/** The ids of the firewalls of servers, by server. */
export async function firewallIdsOf(read: Reader, rows: readonly { id: string }[]): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map()
  const { firewallId, serverId, state } = firewallAttachments
  const found = await read
    .select({ firewallId, serverId })
    .from(firewallAttachments)
    .where(
      and(
        inArray(
          serverId,
          rows.map(row => row.id),
        ),
        ne(state, 'detaching'),
      ),
    )
  return new Map(
    [...Map.groupBy(found, one => one.serverId)].map(([id, some]) => [id, some.map(one => one.firewallId).toSorted()]),
  )
}

export async function firewallViews(read: Reader, rows: readonly FirewallRow[]): Promise<FirewallView[]> {
  if (rows.length === 0) return []
  const attached = Map.groupBy(
    await attachmentsOf(
      read,
      rows.map(row => row.id),
    ),
    one => one.attachment.firewallId,
  )
  const refused = Map.groupBy(
    await read
      .select({ firewallId: firewallRefusals.firewallId, serverId: servers.id, reason: firewallRefusals.reason })
      .from(firewallRefusals)
      .innerJoin(servers, eq(servers.id, firewallRefusals.serverId))
      .where(
        and(
          inArray(
            firewallRefusals.firewallId,
            rows.map(row => row.id),
          ),
          isNull(servers.deletedAt),
        ),
      )
      .orderBy(asc(firewallRefusals.serverId)),
    one => one.firewallId,
  )
  return rows.map(row => firewallView(row, attached.get(row.id) ?? [], refused.get(row.id) ?? []))
}

export const firewallViewOf = async (read: Reader, row: FirewallRow): Promise<FirewallView> =>
  (await firewallViews(read, [row]))[0]!

const firewallView = (
  row: FirewallRow,
  attached: readonly { attachment: AttachmentRow; enforcer: string }[],
  refused: readonly { serverId: string; reason: string }[],
): FirewallView => ({
  id: row.id,
  ...memberView(firewallMembers, row),
  rules: row.rules,
  blocks: row.blocks,
  rules_version: row.rulesVersion,
  state: stateOf(
    row,
    attached.map(one => one.attachment),
  ),
  attached: attached.map(({ attachment, enforcer }) => attachmentView(attachment, enforcer)),
  refused: refused.map(({ serverId, reason }) => ({ server_id: serverId, reason })),
  pending: row.pending && {
    rules_version: row.pending.rulesVersion,
    restore_version: row.pending.restoreVersion,
    confirm: row.pending.confirm,
    expires_at: instant(row.pending.expiresAt),
  },
  action_id: row.actionId,
  ...editableView(row),
})

function stateOf({ pending }: FirewallRow, attached: readonly AttachmentRow[]): FirewallView['state'] {
  const isAny = (...states: AttachmentRow['state'][]) => attached.some(one => states.includes(one.state))
  if (isAny('failed')) return 'failed'
  if (isAny('applying', 'detaching') || (pending !== null && pending.expiresAt === null)) return 'applying'
  if (pending) return 'awaiting_confirmation'
  return isAny('drifted') ? 'drifted' : 'applied'
}

const attachmentView = (row: AttachmentRow, enforcer: string): FirewallAttachmentView => ({
  server_id: row.serverId,
  by: row.isDirect ? 'direct' : 'selector',
  enforcer,
  state: row.state,
  rules_version: row.rulesVersion,
  applied_at: instant(row.appliedAt),
  error: row.error,
  warning: row.warning,
  drift: row.drift && {
    detected_at: instant(row.drift.detectedAt),
    is_attached: row.drift.isAttached,
    changed_defaults: row.drift.changedDefaults,
    added: row.drift.added,
    removed: row.drift.removed,
  },
})
