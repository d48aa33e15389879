import { and, eq, isNull, lte, or, type SQL } from 'drizzle-orm'
import { addChangeHint } from '../../core/change-hints'
import type { EventDraft } from '../../core/change-result'
import { instant } from '../../core/clock'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { healthOf, type OtherProofs } from './health'
import type { FactSource } from './shapes'
import { saveLabels } from './label-filter'
import { serverLabels, servers, serverTransitions } from './tables'
import { addressesOf, labelsOf, type ServerRow } from './view'

/** How long after an action that took a server down nothing is concluded about its health, in milliseconds. */
export const quietMs = 180_000

/** Whether an action works on a server, or took it down a short time ago. @param now ms UTC */
export const isQuiet = ({ actionId, quietUntil }: Pick<ServerRow, 'actionId' | 'quietUntil'>, now: number): boolean =>
  actionId !== null || (quietUntil ?? 0) > now

/** The opposite, in queries of servers. */
export const isSettled = (now: number): SQL =>
  and(isNull(servers.actionId), or(isNull(servers.quietUntil), lte(servers.quietUntil, now)))!

/** A new state of a server. Absent columns stay the same. */
type StateColumns = Partial<Omit<ServerRow, 'id' | 'workspaceId' | 'version' | 'createdAt' | 'health' | 'healthSince'>>

/** What reported a new state. */
interface ReportedBy {
  source: FactSource
  reason: string
  /** Whether it was requested, so that its health changes at once. */
  isWanted?: boolean
}

/**
 * Writes the state of a server, with the transitions and the event that follow.
 * @param row locked in the transaction
 * @param proofs what else is known; status and power are those of the new state
 */
export async function writeState(
  tx: Tx,
  hub: Hub,
  row: ServerRow,
  columns: StateColumns,
  proofs: OtherProofs,
  by: ReportedBy,
): Promise<{ row: ServerRow; events: EventDraft[] }> {
  const now = hub.clock.now()
  const changed = { ...row, ...columns }
  const health = concluded(changed, proofs, by, now)
  const after: ServerRow = {
    ...changed,
    statusSince: changed.status === row.status ? row.statusSince : now,
    ...(health && {
      health: health.health,
      healthReason: health.reason,
      healthSource: health.source,
      healthSince: health.health === row.health ? row.healthSince : now,
    }),
  }
  const told = toldAfter(row, after)
  after.toldHealth = told ?? row.toldHealth
  const { id, workspaceId: _, version: __, createdAt: ___, ...set } = after
  await tx.update(servers).set(set).where(eq(servers.id, id))
  await saveLabels(tx, serverLabels, row.workspaceId, [{ id, before: labelsOf(row), after: labelsOf(after) }])
  await insertTransitions(tx, row, after, by, now)
  addChangeHint(tx, {
    workspaceId: row.workspaceId,
    action: 'cloud.server.follow',
    type: 'server',
    id: row.id,
    parentId: row.accountId,
  })
  return { row: after, events: told === null ? [] : [statusChanged(after, row.toldHealth, by, now)] }
}

/** The health to store; null if nothing may be concluded now. */
function concluded(row: ServerRow, proofs: OtherProofs, by: ReportedBy, now: number) {
  const health = healthOf({ ...proofs, status: row.status, power: row.power })
  if (by.isWanted && row.power === 'off')
    return { health: 'down' as const, source: 'action' as const, reason: 'The server was switched off here.' }
  if (row.status === 'deleted' || row.status === 'missing' || row.status === 'draft') return health
  // While an action works on it, and soon after, only a running server is believed to be up: its monitors notice a change later.
  return isQuiet(row, now) && !(health.health === 'up' && row.status === 'running') ? null : health
}

/** The health to send an event for; null if none is sent. The first of a server that wasn’t created here is only sent if it is down. */
function toldAfter(before: ServerRow, { health, origin }: ServerRow): 'up' | 'down' | null {
  if (health === 'unknown' || health === before.toldHealth) return null
  if (before.toldHealth === null && health === 'up' && origin !== 'made') return null
  return health
}

function statusChanged(row: ServerRow, previous: ServerRow['toldHealth'], by: ReportedBy, now: number): EventDraft {
  const source =
    row.healthSource === 'monitor' || row.healthSource === 'agent' ? row.healthSource : by.isWanted ? 'action' : 'cloud'
  return {
    workspaceId: row.workspaceId,
    kind: 'server.status_changed',
    resource: { type: 'server', id: row.id },
    data: {
      server: {
        id: row.id,
        name: row.name,
        kind: row.kind,
        location: row.location,
        addresses: addressesOf(row).map(one => one.address),
        labels: labelsOf(row),
      },
      status: row.health as 'up' | 'down',
      previous_status: previous ?? 'unknown',
      power: row.power,
      source,
      reason: row.healthReason,
      changed_at: instant(now),
    },
  }
}

async function insertTransitions(tx: Tx, before: ServerRow, after: ServerRow, by: ReportedBy, now: number): Promise<void> {
  const fields = ['status', 'health', 'power'] as const
  const rows = fields.flatMap(field =>
    before[field] === after[field]
      ? []
      : [
          {
            id: newId('strn'),
            serverId: after.id,
            at: now,
            field,
            before: before[field],
            after: after[field],
            source: field === 'health' ? (after.healthSource ?? by.source) : by.source,
            reason: field === 'health' ? after.healthReason : by.reason,
          },
        ],
  )
  if (rows.length > 0) await tx.insert(serverTransitions).values(rows)
}
