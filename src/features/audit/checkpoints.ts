import type { KeyObject } from 'node:crypto'
import { and, asc, desc, eq, gt, like, sql } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import { record } from '../../core/change'
import { nextNumber } from '../../core/counters'
import { signingKey } from '../../core/crypto'
import { instant } from '../../core/clock'
import { forUpdate } from '../../core/db/dialect'
import { auditCheckpoints, auditEntries, counters } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { KeyRing } from '../../core/secrets'
import { checkpointPurpose, signStatement, statementHash, type Checkpoint, type Statement } from './checkpoint'

const maxUnsignedMs = 3_600_000
const maxUnsignedEntries = 1_000

/**
 * Creates a checkpoint for each chain with an entry that has been unsigned for an hour, or with 1,000 unsigned entries. Safe to
 * run on several hubs at once.
 */
export async function createCheckpoints(hub: Hub): Promise<void> {
  const chains = await hub.read
    .select({ name: counters.name, value: counters.value })
    .from(counters)
    .where(like(counters.name, `${auditCounter('')}%`))
  for (const { name, value } of chains) {
    const chain = name.slice(auditCounter('').length)
    if (!(await isDue(hub.read, chain, value, hub.clock.now()))) continue
    await record(hub, async tx => {
      const [counter] = await forUpdate(tx.select().from(counters).where(eq(counters.name, name)))
      if (!counter?.head || !(await isDue(tx, chain, counter.value, hub.clock.now()))) return { result: undefined }
      await writeCheckpoint(tx, hub, {
        chain,
        kind: 'checkpoint',
        seq: counter.value,
        count: counter.value - (await boundaryOf(tx, chain)),
        head: Buffer.from(counter.head).toString('hex'),
      })
      return { result: undefined, jobs: await hub.auditJobs(tx, chain, hub.clock.now()) }
    })
  }
}

/**
 * Writes the next signed statement of a chain. The caller must have locked the chain's counter, which serializes the statements.
 */
export async function writeCheckpoint(tx: Tx, hub: Hub, content: Omit<Statement, 'time' | 'prev_checkpoint'>): Promise<void> {
  const [last] = await lastOf(tx, content.chain)
  const time = hub.clock.now()
  const statement: Statement = {
    ...content,
    time: instant(time),
    prev_checkpoint: last ? statementHash(checkpointView(last)) : null,
  }
  await tx.insert(auditCheckpoints).values({
    ...content,
    time,
    number: await nextNumber(tx, 'audit-checkpoints'),
    prevCheckpoint: statement.prev_checkpoint,
    ...signStatement(keyOf(hub.keys), statement),
  })
}

/** Number of the last entry that may be pruned; 0 if none. */
export async function boundaryOf(read: Reader, chain: string): Promise<number> {
  const [row] = await read
    .select({ seq: sql<number | null>`max(${auditCheckpoints.seq})`.mapWith(Number) })
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.chain, chain), eq(auditCheckpoints.kind, 'boundary')))
  return row?.seq ?? 0
}

/** Returns the checkpoints after a number, in order. */
export async function checkpointsAfter(read: Reader, number: number): Promise<Checkpoint[]> {
  const rows = await read
    .select()
    .from(auditCheckpoints)
    .where(gt(auditCheckpoints.number, number))
    .orderBy(asc(auditCheckpoints.number))
    .limit(1_000)
  return rows.map(checkpointView)
}

/** A row of the table as a checkpoint. */
export const checkpointView = (row: typeof auditCheckpoints.$inferSelect): Checkpoint => ({
  chain: row.chain,
  kind: row.kind,
  seq: row.seq,
  count: row.count,
  head: row.head,
  time: instant(row.time),
  prev_checkpoint: row.prevCheckpoint,
  number: row.number,
  key_id: row.keyId,
  signature: row.signature,
})

/** The key that signs the checkpoints of the installation. */
export function keyOf(keys: KeyRing): KeyObject {
  let key = signingKeys.get(keys)
  if (!key) signingKeys.set(keys, (key = signingKey(keys.derive(checkpointPurpose))))
  return key
}

const signingKeys = new WeakMap<KeyRing, KeyObject>()

/** Whether a checkpoint is due: 1,000 entries are unsigned, or one has been for an hour. */
async function isDue(read: Reader, chain: string, seq: number, now: number): Promise<boolean> {
  const [last] = await lastOf(read, chain)
  const signed = last?.seq ?? 0
  if (seq <= signed) return false
  if (seq - signed >= maxUnsignedEntries) return true
  const [oldest] = await read
    .select({ occurredAt: auditEntries.occurredAt })
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, chain), gt(auditEntries.seq, signed)))
    .orderBy(asc(auditEntries.seq))
    .limit(1)
  return oldest !== undefined && now - oldest.occurredAt >= maxUnsignedMs
}

const lastOf = (read: Reader, chain: string) =>
  read.select().from(auditCheckpoints).where(eq(auditCheckpoints.chain, chain)).orderBy(desc(auditCheckpoints.number)).limit(1)
