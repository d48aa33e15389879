import { asc, isNotNull, ne, sql } from 'drizzle-orm'
import { operatorWorkspace } from '../../access/workspaces'
import type { AuditAction } from '../../core/audit-actions'
import type { AuditDraft } from '../../core/change-result'
import { dataKeys, hubs } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { encryptionsOf } from '../../core/key-use'
import { wrappingKeyId, type DataKeyRow } from '../../core/secrets'
import { countByKey, dataKeysOf } from './sealed-values'

/** Who runs a key command, for the audit log. */
export type KeyActor = Pick<AuditDraft, 'actor' | 'context'>

export type HubRow = typeof hubs.$inferSelect

/** The keys of an installation and their use. */
interface KeyStatus {
  /** Fingerprint of the master key that wraps new data keys. */
  wrappingKeyId: string | null
  /** With the number of values and encryptions. The latter includes encryptions that processes reserved and didn't use. */
  dataKeys: (DataKeyRow & { values: number; encryptions: number })[]
  /** Number of values whose key is missing, by key id. */
  orphans: [keyId: string, values: number][]
  hubs: HubRow[]
}

export async function keyStatus(hub: Hub): Promise<KeyStatus> {
  const counts = await countByKey(hub.read)
  const keys: KeyStatus['dataKeys'] = []
  for await (const batch of dataKeysOf(hub.read))
    for (const row of batch)
      keys.push({ ...row, values: counts.get(row.id) ?? 0, encryptions: await encryptionsOf(hub.read, row.id) })
  keys.sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : a.workspaceId > b.workspaceId ? 1 : a.createdAt - b.createdAt))
  const known = new Set(keys.map(row => row.id))
  return {
    wrappingKeyId: await wrappingKeyId(hub.read),
    dataKeys: keys,
    orphans: [...counts].filter(([id]) => !known.has(id)),
    hubs: await runningHubs(hub, hub.read),
  }
}

// More than the time after which other hubs take over: a hub that is only stalled will read secrets again.
const offlineMs = 15_000

/** Running hubs: seen recently and not stopped. */
export const runningHubs = (hub: Hub, read: Reader | Tx): Promise<HubRow[]> =>
  read
    .select()
    .from(hubs)
    .where(sql`${isNotNull(hubs.masterKeyId)} and ${hubs.seenAt} > ${hub.clock.now() - offlineMs}`)
    .orderBy(asc(hubs.id))

/** Counts the data keys that are not wrapped with this master key. */
export const wrappedByOthers = (read: Reader | Tx, masterKeyId: string): Promise<number> =>
  read.$count(dataKeys, ne(dataKeys.masterKeyId, masterKeyId))

/** An audit event for the operator's workspace. */
export async function keyAuditDraft(
  tx: Tx,
  by: KeyActor,
  action: AuditAction,
  entry: Partial<AuditDraft> & { id: string },
): Promise<AuditDraft> {
  const { id, ...rest } = entry
  const workspaceId = (await operatorWorkspace(tx)).id
  return { workspaceId, action, ...by, targets: [{ type: 'key', id, name: null }], ...rest }
}
