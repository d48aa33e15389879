import { and, desc, eq, inArray, isNotNull, lt, lte, or } from 'drizzle-orm'
import { record } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import type { Transferred } from '../server/messages'
import { dnsZones } from '../tables'
import type { ZoneTransferView } from './shapes'
import { dnsSecondaries, dnsServing, dnsTransfers, dnsTsigKeys } from './tables'

const mostListed = 1000

/** The last transfer of each zone, and of the catalog, to each address by each key, the latest first. */
export async function listTransfers(
  ctx: Ctx,
  query: { zone?: string },
): Promise<{ data: ZoneTransferView[]; truncated: boolean }> {
  const { read } = ctx.hub
  const [serving] = await read.select().from(dnsServing).where(eq(dnsServing.workspaceId, ctx.workspaceId))
  const rows = await read
    .select({ transfer: dnsTransfers })
    .from(dnsTransfers)
    // A zone that was deleted and made again is another one.
    .leftJoin(
      dnsZones,
      and(
        eq(dnsZones.name, dnsTransfers.zone),
        eq(dnsZones.workspaceId, dnsTransfers.workspaceId),
        lte(dnsZones.createdAt, dnsTransfers.at),
      ),
    )
    .where(
      and(
        eq(dnsTransfers.workspaceId, ctx.workspaceId),
        or(isNotNull(dnsZones.id), serving?.catalogEnabled ? eq(dnsTransfers.zone, serving.catalogName) : undefined),
        query.zone ? eq(dnsTransfers.zone, query.zone) : undefined,
      ),
    )
    .orderBy(desc(dnsTransfers.at))
    .limit(mostListed + 1)
  const secondaries = await read.select().from(dnsSecondaries).where(eq(dnsSecondaries.workspaceId, ctx.workspaceId))
  return {
    data: rows.slice(0, mostListed).map(({ transfer: { zone, address, keyId, serial, how, at } }) => ({
      zone,
      address,
      secondary_id: secondaryAt(secondaries, address, keyId),
      tsig_key_id: keyId,
      serial,
      how,
      at: instant(at),
    })),
    truncated: rows.length > mostListed,
  }
}

/** The secondary that is meant: of several at one address the one that has the key to itself. */
function secondaryAt(
  secondaries: readonly { id: string; address: string; keyId: string | null }[],
  address: string,
  keyId: string,
) {
  const there = secondaries.filter(one => one.address === address)
  const [own, another] = there.length > 1 ? there.filter(one => one.keyId === keyId) : there
  return own && !another ? own.id : null
}

const keptMs = 90 * 86_400_000

/** Forgets transfers that are older than 90 days. */
export async function pruneTransfers(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(dnsTransfers).where(lt(dnsTransfers.at, hub.clock.now() - keptMs))
    return { result: undefined }
  })
}

// A second's worth of zones that all changed; of more the later ones are not kept.
const mostKept = 5000
const rowsAtOnce = 200

/** Writes transfers down, now and then and many at once: serving does not wait for it. */
export class TransferLog {
  readonly #fresh = new Map<string, Transferred & { at: number }>()
  #writing: Promise<void> | null = null

  constructor(private readonly hub: Hub) {}

  add(transfer: Transferred): void {
    const place = `${transfer.key} ${transfer.zone} ${transfer.peer}`
    if (this.#fresh.has(place) || this.#fresh.size < mostKept) this.#fresh.set(place, { ...transfer, at: this.hub.clock.now() })
  }

  /** Writes what came since the last time. */
  flush(): Promise<void> {
    return (this.#writing ??= this.#write()
      .catch(error => this.hub.log.warn({ err: error }, 'transfers of zones could not be written down'))
      .finally(() => {
        this.#writing = null
      }))
  }

  async #write(): Promise<void> {
    if (this.#fresh.size === 0) return
    const all = [...this.#fresh.values()]
    this.#fresh.clear()
    for (let at = 0; at < all.length; at += rowsAtOnce) await writeDown(this.hub, all.slice(at, at + rowsAtOnce))
  }
}

async function writeDown(hub: Hub, transfers: (Transferred & { at: number })[]): Promise<void> {
  await record(hub, async tx => {
    const rows = await tx
      .select({ id: dnsTsigKeys.id, name: dnsTsigKeys.name, workspaceId: dnsTsigKeys.workspaceId })
      .from(dnsTsigKeys)
      .where(inArray(dnsTsigKeys.name, [...new Set(transfers.map(one => undotted(one.key)))]))
    const keys = new Map(rows.map(row => [row.name, row]))
    for (const { key, zone, peer, serial, how, at } of transfers) {
      const of = keys.get(undotted(key))
      // It was deleted since.
      if (!of) continue
      const set = { serial, how, at }
      await tx
        .insert(dnsTransfers)
        .values({ workspaceId: of.workspaceId, zone: undotted(zone), address: peer, keyId: of.id, ...set })
        .onConflictDoUpdate({
          target: [dnsTransfers.workspaceId, dnsTransfers.zone, dnsTransfers.address, dnsTransfers.keyId],
          set,
        })
    }
    return { result: undefined }
  })
}

/** As the API names keys and zones. */
const undotted = (name: string): string => name.toLowerCase().replace(/\.$/, '')
