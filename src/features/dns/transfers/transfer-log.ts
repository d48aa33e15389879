import { and, desc, eq, inArray, isNotNull, lt, lte, or } from 'drizzle-orm'
import { record } from '../../../core/change'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import type { Transferred } from '../server/messages'
import { dnsZones } from '../zones/tables'
import type { ZoneTransferView } from './shapes'
import { dnsSecondaries, dnsServing, dnsTransfers, dnsTsigKeys } from './tables'

const maxListed = 1000

/** Lists the last transfer of each zone and the catalog per address and key, newest first. */
export async function listTransfers(
  ctx: Ctx,
  query: { zone?: string },
): Promise<{ data: ZoneTransferView[]; truncated: boolean }> {
  const { read } = ctx.hub
  const [serving] = await read.select().from(dnsServing).where(eq(dnsServing.workspaceId, ctx.workspaceId))
  const rows = await read
    .select({ transfer: dnsTransfers })
    .from(dnsTransfers)
    // Transfers from before a zone was deleted and recreated don't count.
    .leftJoin(
      dnsZones,
      and(
        eq(dnsZones.name, dnsTransfers.zone),
        eq(dnsZones.workspaceId, dnsTransfers.workspaceId),
        lte(dnsZones.createdAt, dnsTransfers.transferredAt),
      ),
    )
    .where(
      and(
        eq(dnsTransfers.workspaceId, ctx.workspaceId),
        or(isNotNull(dnsZones.id), serving?.catalogEnabled ? eq(dnsTransfers.zone, serving.catalogName) : undefined),
        query.zone ? eq(dnsTransfers.zone, query.zone) : undefined,
      ),
    )
    .orderBy(desc(dnsTransfers.transferredAt))
    .limit(maxListed + 1)
  const secondaries = await read.select().from(dnsSecondaries).where(eq(dnsSecondaries.workspaceId, ctx.workspaceId))
  return {
    data: rows.slice(0, maxListed).map(({ transfer: { zone, address, keyId, serial, type, transferredAt } }) => ({
      zone,
      address,
      secondary_id: secondaryAt(secondaries, address, keyId),
      tsig_key_id: keyId,
      serial,
      type,
      transferred_at: instant(transferredAt),
    })),
    truncated: rows.length > maxListed,
  }
}

/** Finds the secondary at an address. If there are several, only one with a key of its own is identified. */
function secondaryAt(
  secondaries: readonly { id: string; address: string; keyId: string | null }[],
  address: string,
  keyId: string,
) {
  const there = secondaries.filter(one => one.address === address)
  const [own, another] = there.length > 1 ? there.filter(one => one.keyId === keyId) : there
  return own && !another ? own.id : null
}

const retentionMs = 90 * 86_400_000

/** Deletes transfers older than 90 days. */
export async function pruneTransfers(hub: Hub): Promise<void> {
  await record(hub, async tx => {
    await tx.delete(dnsTransfers).where(lt(dnsTransfers.transferredAt, hub.clock.now() - retentionMs))
    return { result: undefined }
  })
}

// Enough for a second of transfers; more are dropped.
const maxPending = 5000
const rowsPerStatement = 200

/** Collects transfers and stores them in batches, so that serving does not wait for the database. */
export class TransferLog {
  readonly #pending = new Map<string, Transferred & { at: number }>()
  #writing: Promise<void> | null = null

  constructor(private readonly hub: Hub) {}

  add(transfer: Transferred): void {
    const place = `${transfer.key} ${transfer.zone} ${transfer.peer}`
    if (this.#pending.has(place) || this.#pending.size < maxPending)
      this.#pending.set(place, { ...transfer, at: this.hub.clock.now() })
  }

  /** Stores the collected transfers. */
  flush(): Promise<void> {
    return (this.#writing ??= this.#write()
      .catch(error => this.hub.log.warn({ err: error }, 'could not store zone transfers'))
      .finally(() => {
        this.#writing = null
      }))
  }

  async #write(): Promise<void> {
    if (this.#pending.size === 0) return
    const all = [...this.#pending.values()]
    this.#pending.clear()
    for (let at = 0; at < all.length; at += rowsPerStatement) await storeTransfers(this.hub, all.slice(at, at + rowsPerStatement))
  }
}

async function storeTransfers(hub: Hub, transfers: (Transferred & { at: number })[]): Promise<void> {
  await record(hub, async tx => {
    const rows = await tx
      .select({ id: dnsTsigKeys.id, name: dnsTsigKeys.name, workspaceId: dnsTsigKeys.workspaceId })
      .from(dnsTsigKeys)
      .where(inArray(dnsTsigKeys.name, [...new Set(transfers.map(one => withoutDot(one.key)))]))
    const keys = new Map(rows.map(row => [row.name, row]))
    for (const { key, zone, peer, serial, type, at } of transfers) {
      const of = keys.get(withoutDot(key))
      // The key was deleted meanwhile.
      if (!of) continue
      const set = { serial, type, transferredAt: at }
      await tx
        .insert(dnsTransfers)
        .values({ workspaceId: of.workspaceId, zone: withoutDot(zone), address: peer, keyId: of.id, ...set })
        .onConflictDoUpdate({
          target: [dnsTransfers.workspaceId, dnsTransfers.zone, dnsTransfers.address, dnsTransfers.keyId],
          set,
        })
    }
    return { result: undefined }
  })
}

/** Converts a name to its API form. */
const withoutDot = (name: string): string => name.toLowerCase().replace(/\.$/, '')
