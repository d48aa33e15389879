import { asc } from 'drizzle-orm'
import { lastNumber } from '../../../core/counters'
import type { TsigKey } from '../../../dns/tsig'
import type { Hub } from '../../../core/hub'
import type { ServedKey, TransferRights } from '../server/transfer-keys'
import { originOf } from '../zones/names'
import { dnsServing, dnsTsigKeys } from './tables'
import { rightsCounter, sealedAt, type TsigKeyRow } from './tsig-keys'

/** Version of {@link readRights}: rights read after this call are at least as new. */
export const rightsVersion = (hub: Hub): Promise<number> => lastNumber(hub.read, rightsCounter)

/** Loads all TSIG keys of the installation, and what they may transfer. */
export async function readRights(hub: Hub): Promise<TransferRights> {
  const serving = new Map((await hub.read.select().from(dnsServing)).map(row => [row.workspaceId, row]))
  const rows = await hub.read.select().from(dnsTsigKeys).orderBy(asc(dnsTsigKeys.id))
  const names = new Map(rows.map(row => [row.id, originOf(row.name)]))
  const keys: ServedKey[] = []
  for (const row of rows) {
    const good = serving.get(row.workspaceId)?.transferKeyIds ?? null
    try {
      keys.push({ ...(await openKey(hub, row)), owner: row.workspaceId, allZones: good === null || good.includes(row.id) })
    } catch (error) {
      hub.log.error({ err: error, key: row.id }, 'could not decrypt a TSIG key; requests signed with it are refused')
    }
  }
  const zones = [...serving.values()]
    .filter(row => row.catalogEnabled)
    .map(row => ({
      name: originOf(row.catalogName),
      owner: row.workspaceId,
      keys: [names.get(row.catalogKeyId ?? '') ?? []].flat(),
    }))
  return { keys, zones }
}

/** Decrypts a key. @throws DecryptionFailed */
export async function openKey(hub: Hub, row: TsigKeyRow): Promise<TsigKey> {
  const secret = Buffer.from(await hub.keys.open(sealedAt(row), row.secretSealed), 'base64')
  // MD5 had to be allowed explicitly when the key was created.
  return {
    name: originOf(row.name),
    algorithm: row.algorithm,
    secret: Uint8Array.from(secret),
    allowMd5: row.algorithm === 'hmac-md5',
  }
}
