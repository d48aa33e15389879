import { isDeepStrictEqual } from 'node:util'
import { eq, type Column } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { EventDraft } from '../../../core/change-result'
import { sha256Hex } from '../../../core/crypto'
import { deleteRows } from '../../../core/db/delete-rows'
import { insertRows } from '../../../core/db/insert-rows'
import type { Tx } from '../../../core/db/transaction'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import type { AgentRow } from '../agents/rows'
import { eventsAbout, services } from './not-served'
import type { FoundCertificates } from './parse'
import { agentCertificateFiles, agentCertificates, agentServedCertificates } from './tables'

/**
 * Replaces the certificates that an agent found before. Rows that have not changed are not written.
 * @param agent locked in the transaction
 * @param now the time (ms UTC)
 * @returns events about services that no longer present the newest certificate, or do so again
 */
export async function saveCertificates(
  tx: Tx,
  { id: agentId, serverId }: Pick<AgentRow, 'id' | 'serverId'>,
  found: FoundCertificates,
  now: number,
): Promise<EventDraft[]> {
  const id = (...parts: unknown[]) => `${agentId} ${sha256Hex(parts.join(' ')).slice(0, 32)}`
  const known = await tx
    .select({ id: agentCertificates.id, sha256: agentCertificates.sha256 })
    .from(agentCertificates)
    .where(eq(agentCertificates.agentId, agentId))
  const certificates = [...found.certificates].map(([sha256, one]) => ({ id: id(sha256), agentId, sha256, ...one }))
  await replace(tx, agentCertificates, known, certificates, () => true)

  const files = await tx.select().from(agentCertificateFiles).where(eq(agentCertificateFiles.agentId, agentId))
  await replace(
    tx,
    agentCertificateFiles,
    files,
    found.files.map(data => ({ id: id(data.path), agentId, data, seenAt: now })),
    isSame,
  )

  const served = await tx.select().from(agentServedCertificates).where(eq(agentServedCertificates.agentId, agentId))
  const rows = found.served.map(data => ({
    ...{ id: id(data.address, data.port, data.sni), agentId, data, seenAt: now },
    newer: found.newer.get(data.chain[0] ?? '') ?? null,
  }))
  await replace(tx, agentServedCertificates, served, rows, (a, b) => isSame(a, b) && isDeepStrictEqual(a.newer, b.newer))
  return await eventsAbout(tx, serverId, services(served), services(rows), now)
}

/** What a file or a port had before, and has now. The time is when its certificate was first reported. */
interface Sighting {
  data: { chain: readonly string[] }
  seenAt: number
}
function isSame(before: Sighting, row: Sighting): boolean {
  if (before.data.chain[0] === row.data.chain[0]) row.seenAt = before.seenAt
  return isDeepStrictEqual(before.data, row.data)
}

/** Replaces the rows of an agent. If an id occurs twice, the last row is stored. */
async function replace<Before extends { id: string }, Row extends { id: string }>(
  tx: Tx,
  table: SQLiteTable & { id: Column },
  before: readonly Before[],
  rows: readonly Row[],
  isUnchanged: (before: Before, row: Row) => boolean,
): Promise<void> {
  const wanted = new Map(rows.map(row => [row.id, row]))
  const stale: string[] = []
  for (const row of before) {
    const now = wanted.get(row.id)
    if (now && isUnchanged(row, now)) wanted.delete(row.id)
    else stale.push(row.id)
    if (isTurnOver()) await yieldToEventLoop()
  }
  await deleteRows(tx, table, stale)
  await insertRows(tx, table, [...wanted.values()])
}
