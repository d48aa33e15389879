import { asc, eq } from 'drizzle-orm'
import { counters } from '../../../core/db/tables'
import type { TsigKey } from '../../../core/dns/tsig'
import type { Hub } from '../../../core/hub'
import type { ServedKey, TransferRights } from '../server/transfer-keys'
import { originOf } from '../zone-names'
import { dnsServing, dnsTsigKeys } from './tables'
import { rightsCounter, sealedAt, type TsigKeyRow } from './tsig-keys'

/** The number of the last change of {@link readRights}; what is read after this was asked is at least as new. */
export async function rightsNumber(hub: Hub): Promise<number> {
  const [row] = await hub.read.select({ value: counters.value }).from(counters).where(eq(counters.name, rightsCounter))
  return row?.value ?? 0
}

/** Every key of the installation, and what it opens. */
export async function readRights(hub: Hub): Promise<TransferRights> {
  const serving = new Map((await hub.read.select().from(dnsServing)).map(row => [row.workspaceId, row]))
  const rows = await hub.read.select().from(dnsTsigKeys).orderBy(asc(dnsTsigKeys.id))
  const names = new Map(rows.map(row => [row.id, originOf(row.name)]))
  const keys: ServedKey[] = []
  for (const row of rows) {
    const good = serving.get(row.workspaceId)?.transferKeyIds ?? null
    try {
      keys.push({ ...(await openKey(hub, row)), owner: row.workspaceId, forAll: good === null || good.includes(row.id) })
    } catch (error) {
      hub.log.error({ err: error, key: row.id }, 'a TSIG key cannot be opened, and nobody can sign with it')
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

/** A key to sign and verify with. @throws NotOpened */
export async function openKey(hub: Hub, row: TsigKeyRow): Promise<TsigKey> {
  const secret = Buffer.from(await hub.keys.open(sealedAt(row), row.secretSealed), 'base64')
  // Its owner allowed MD5 when the key was made.
  return {
    name: originOf(row.name),
    algorithm: row.algorithm,
    secret: Uint8Array.from(secret),
    allowMd5: row.algorithm === 'hmac-md5',
  }
}
