import { asc, isNotNull, ne, sql } from 'drizzle-orm'
import { operatorWorkspace } from '../../access/workspaces'
import type { AuditAction } from '../../core/audit-actions'
import type { AuditDraft } from '../../core/change'
import { dataKeys, hubs } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { encryptionsOf } from '../../core/key-use'
import { hubTimeoutMs } from '../../core/jobs/queue'
import { wrappingKeyId, type DataKeyRow } from '../../core/secrets'
import { countByKey, dataKeysOf } from './sealed-values'

/** Who gives a command about keys: how the audit log names them. */
export type By = Pick<AuditDraft, 'actor' | 'context'>

export type HubRow = typeof hubs.$inferSelect

/** The keys of an installation and who uses them. */
export interface KeyStanding {
  /** Fingerprint of the master key that wraps new data keys. */
  wrappingKeyId: string | null
  /** Each with the values under it, and how often it has encrypted: too many by what processes took and did not use. */
  dataKeys: (DataKeyRow & { values: number; encryptions: number })[]
  /** Values whose key is not there, by the id of that key. */
  orphans: [keyId: string, values: number][]
  hubs: HubRow[]
}

export async function keyStanding(hub: Hub): Promise<KeyStanding> {
  const counts = await countByKey(hub.read)
  const keys: KeyStanding['dataKeys'] = []
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

/** Hubs that gave a sign of life lately and have not left since. */
export const runningHubs = (hub: Hub, read: Reader | Tx): Promise<HubRow[]> =>
  read
    .select()
    .from(hubs)
    .where(sql`${isNotNull(hubs.masterKeyId)} and ${hubs.seenAt} > ${hub.clock.now() - hubTimeoutMs}`)
    .orderBy(asc(hubs.id))

/** How many data keys are wrapped by another master key than this. */
export const wrappedByOthers = (read: Reader | Tx, masterKeyId: string): Promise<number> =>
  read.$count(dataKeys, ne(dataKeys.masterKeyId, masterKeyId))

/** An entry for the audit log of the operator's workspace. */
export async function keysEntry(
  tx: Tx,
  by: By,
  action: AuditAction,
  entry: Partial<AuditDraft> & { id: string },
): Promise<AuditDraft> {
  const { id, ...rest } = entry
  const workspaceId = (await operatorWorkspace(tx)).id
  return { workspaceId, action, ...by, targets: [{ type: 'key', id, name: null }], ...rest }
}
