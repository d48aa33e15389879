import { and, eq, inArray, sql } from 'drizzle-orm'
import type { Reader, Tx } from '../../../core/db/transaction'
import type { AgentReport } from '../../../wire/agent'
import { compareParts, comparedParts, type InventoryChange } from '../journal/compare'
import { agentParts, partNames, storedParts, type PartName, type StoredPart } from './tables'

/**
 * Stores the parts that a report contains. Parts that it omits have not changed.
 * @returns what has changed in parts that were reported before
 */
export async function saveParts(
  tx: Tx,
  agentId: string,
  report: Pick<AgentReport, StoredPart>,
  at: number,
): Promise<InventoryChange[]> {
  const rows = storedParts.flatMap(name => {
    const data = report[name]
    return data === undefined ? [] : [{ id: `${agentId} ${name}`, agentId, name, data, at }]
  })
  if (rows.length === 0) return []
  const known = await tx
    .select()
    .from(agentParts)
    .where(
      inArray(
        agentParts.id,
        rows.map(row => row.id),
      ),
    )
  await tx
    .insert(agentParts)
    .values(rows)
    .onConflictDoUpdate({ target: agentParts.id, set: { data: sql`excluded.data`, at: sql`excluded.at` } })
  return comparedParts.flatMap(name => {
    const before = known.find(row => row.name === name)
    const after = report[name]
    return before && after ? compareParts(name, before.data as never, after as never) : []
  })
}

/** The parts that agents reported last, by agent. */
export async function partsOf(read: Reader, agentIds: readonly string[]): Promise<Map<string, Pick<AgentReport, PartName>>> {
  if (agentIds.length === 0) return new Map()
  const found = new Map<string, Pick<AgentReport, PartName>>()
  for (const { agentId, name, data } of await read
    .select()
    .from(agentParts)
    .where(and(inArray(agentParts.agentId, [...agentIds]), inArray(agentParts.name, [...partNames]))))
    found.set(agentId, { ...found.get(agentId), [name]: data })
  return found
}

/** The stored rows of some parts of an agent. */
export const partRows = (
  read: Reader,
  agentId: string,
  names: readonly StoredPart[],
): Promise<(typeof agentParts.$inferSelect)[]> =>
  read
    .select()
    .from(agentParts)
    .where(and(eq(agentParts.agentId, agentId), inArray(agentParts.name, [...names])))
