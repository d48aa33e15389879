import { eq } from 'drizzle-orm'
import { instant } from '../../core/clock'
import { forShare, forUpdate } from '../../core/db/dialect'
import type { Tx } from '../../core/db/transaction'
import { editableView, memberView } from '../../core/members'
import { rowsOf } from '../../registry'
import type { AccountState } from './accounts/view'
import type { AgentRow } from './agents/rows'
import { agentSummary } from './agents/view'
import { availableActions } from './available-actions'
import type { ServerAddress } from './clouds/cloud'
import { labelsAfter, type LabelChange } from './clouds/label-change'
import { priceOfRow } from './money'
import type { serverControllers } from './server-controllers/tables'
import { serverMembers, type ServerView } from './shapes'
import { servers } from './tables'

export type ServerRow = typeof servers.$inferSelect

export const serverRows = rowsOf('server', servers)

/** Locks a server until the transaction ends. */
export const lockServer = async (tx: Tx, id: string): Promise<ServerRow | undefined> =>
  (await forUpdate(tx.select().from(servers).where(eq(servers.id, id))))[0]

/** After this many failed readings in a row, nothing is known about the servers of an account. */
export const maxSyncFailures = 3

/**
 * Keeps others from locking a server until the transaction ends, with a lock that is shared. Rows that refer to the server can be
 * inserted after it, also once other rows are locked.
 */
export const holdServer = async (tx: Tx, id: string): Promise<void> =>
  void (await forShare(tx.select({ id: servers.id }).from(servers).where(eq(servers.id, id))))

/** What has to change at the cloud, so that it has the labels that were set here. */
export const labelChangeOf = ({ labels, removedLabels }: Pick<ServerRow, 'labels' | 'removedLabels'>): LabelChange => ({
  set: labels,
  remove: removedLabels,
})

/** Labels at the cloud, and those set here, which take precedence. */
export const labelsOf = (row: Pick<ServerRow, 'labels' | 'removedLabels' | 'cloud'>): Record<string, string> =>
  labelsAfter(row.cloud?.labels ?? {}, labelChangeOf(row))

export const addressesOf = (row: Pick<ServerRow, 'cloud' | 'manualAddresses'>): ServerAddress[] =>
  row.cloud?.addresses ?? row.manualAddresses

/** When the cloud last confirmed what is stored of a server (ms UTC); null if it didn't. */
export const confirmedAt = (
  row: Pick<ServerRow, 'status' | 'writtenAt' | 'cloud'>,
  account: AccountState | null,
): number | null =>
  account === null || row.cloud === null
    ? null
    : row.status === 'missing'
      ? row.writtenAt
      : Math.max(row.writtenAt, account.syncedAt ?? 0)

/** Whether the cloud has not confirmed it for too long. */
export const isStale = (account: AccountState | null): boolean => (account?.syncFailures ?? 0) >= maxSyncFailures

/** A controller, as far as the view of its server depends on it. */
export type ControllerState = Pick<typeof serverControllers.$inferSelect, 'serverId' | 'kind' | 'state' | 'power' | 'powerAt'>

/** The controller that last reported the power of a server without a cloud; undefined if none did. */
const powerController = (row: Pick<ServerRow, 'accountId'>, controllers: readonly ControllerState[]) =>
  row.accountId === null
    ? controllers.filter(one => one.power !== 'unknown').sort((a, b) => (b.powerAt ?? 0) - (a.powerAt ?? 0))[0]
    : undefined

/** Converts a server to its API form. @param account null for a server without one */
export function serverView(
  row: ServerRow,
  account: AccountState | null,
  controllers: readonly ControllerState[],
  volumeIds: readonly string[],
  agent: AgentRow | undefined,
  firewallIds: readonly string[],
): ServerView {
  const at = confirmedAt(row, account)
  const stale = isStale(account)
  const reported = { source: agent ? ('agent' as const) : null, at: instant(agent?.lastSeenAt ?? null), stale: false }
  const fromCloud = { source: at === null ? null : ('cloud' as const), at: instant(at), stale }
  const measured = powerController(row, controllers)
  const resources = row.cloud?.resources
  const facts = agent?.facts
  return {
    id: row.id,
    ...memberView(serverMembers, row),
    labels: labelsOf(row),
    kind: row.kind,
    origin: row.origin,
    account_id: row.accountId,
    provider_ref: row.providerRef,
    status: row.status,
    status_since_at: instant(row.statusSince),
    health: row.health,
    health_since_at: instant(row.healthSince),
    health_reason: row.healthReason,
    power: row.power,
    observed: {
      status: row.accountId === null && row.status === 'running' && !measured ? reported : fromCloud,
      health: {
        source: row.healthSource,
        at: row.healthSource === 'cloud' ? instant(at) : row.healthSource === 'agent' ? instant(agent?.lastSeenAt ?? null) : null,
        stale: stale && row.healthSource === 'cloud',
      },
      power:
        row.power === 'unknown'
          ? { source: null, at: null, stale: false }
          : measured
            ? fromController(measured)
            : row.accountId === null
              ? reported
              : fromCloud,
    },
    location: row.location,
    size: {
      slug: row.cloud?.size ?? null,
      cores: resources?.cores ?? facts?.cores ?? null,
      memory_bytes: resources?.memoryBytes ?? facts?.memory_bytes ?? null,
      disk_bytes: resources?.diskBytes ?? facts?.disk_bytes ?? null,
    },
    image: row.image ?? facts?.image ?? null,
    addresses: addressesOf(row),
    protection: row.cloud?.protection ?? { delete: false, rebuild: false },
    backups: row.cloud?.backups ?? null,
    price: priceOfRow(row),
    actions: availableActions(row, account, controllers, agent),
    agent: agent ? agentSummary(agent) : null,
    controllers: controllers.map(({ kind, state }) => ({ kind: kind as ServerView['controllers'][number]['kind'], state })),
    volume_ids: [...volumeIds],
    firewall_ids: [...firewallIds],
    action_id: row.actionId,
    user_data_set: row.userDataSealed !== null,
    order: row.order,
    ...editableView(row),
  }
}

const fromController = ({ powerAt }: ControllerState) => ({ source: 'controller' as const, at: instant(powerAt), stale: false })
