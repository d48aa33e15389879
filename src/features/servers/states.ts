import { asc, inArray } from 'drizzle-orm'
import type { Reader } from '../../core/db/transaction'
import { cloudAccounts } from './accounts/tables'
import type { AccountState } from './accounts/view'
import { serverControllers } from './server-controllers/tables'
import type { ControllerState, ServerRow } from './view'
import { volumes } from './volumes/tables'

/** The controllers of servers, as far as views depend on them. */
export async function controllerStates(read: Reader, rows: readonly { id: string }[]): Promise<Map<string, ControllerState[]>> {
  if (rows.length === 0) return new Map()
  const { serverId, kind, state, power, powerAt } = serverControllers
  const found = await read
    .select({ serverId, kind, state, power, powerAt })
    .from(serverControllers)
    .where(
      inArray(
        serverId,
        rows.map(row => row.id),
      ),
    )
    .orderBy(asc(kind))
  return Map.groupBy(found, one => one.serverId)
}

/** The volumes that are attached to servers. */
export async function volumeIdsOf(read: Reader, rows: readonly { id: string }[]): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map()
  const ids = rows.map(row => row.id)
  const found = await read
    .select({ id: volumes.id, serverId: volumes.serverId })
    .from(volumes)
    .where(inArray(volumes.serverId, ids))
    .orderBy(asc(volumes.id))
  return new Map(ids.map(id => [id, found.filter(one => one.serverId === id).map(one => one.id)]))
}

/** The accounts of servers, as far as views depend on them. */
export async function accountStates(read: Reader, rows: readonly ServerRow[]): Promise<Map<string, AccountState>> {
  const ids = [...new Set(rows.flatMap(row => row.accountId ?? []))]
  if (ids.length === 0) return new Map()
  const { id, kind, syncedAt, syncFailures, lacks } = cloudAccounts
  const found = await read.select({ id, kind, syncedAt, syncFailures, lacks }).from(cloudAccounts).where(inArray(id, ids))
  return new Map(found.map(one => [one.id, one]))
}
