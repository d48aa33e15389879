import type { KeyObject } from 'node:crypto'
import { and, asc, desc, eq, gt, like, sql } from 'drizzle-orm'
import { auditCounter } from '../../core/audit-chain'
import { nextNumber, record } from '../../core/change'
import { instant } from '../../core/clock'
import { locking } from '../../core/db/dialect'
import { auditCheckpoints, auditEntries, counters } from '../../core/db/tables'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { KeyRing } from '../../core/secrets'
import { checkpointPurpose, signingKey, signStatement, statementHash, type Checkpoint, type Statement } from './checkpoint'

const longestWithoutMs = 3_600_000
const mostWithout = 1_000

/**
 * Signs how far each chain is, where an entry has waited an hour for it or 1,000 have come. Every hub may do so at once: what one
 * has signed is not due for the next.
 */
export async function makeCheckpoints(hub: Hub): Promise<void> {
  const chains = await hub.read
    .select({ name: counters.name, value: counters.value })
    .from(counters)
    .where(like(counters.name, `${auditCounter('')}%`))
  for (const { name, value } of chains) {
    const chain = name.slice(auditCounter('').length)
    if (!(await isDue(hub.read, chain, value, hub.clock.now()))) continue
    await record(hub, async tx => {
      const [held] = await locking(tx.select().from(counters).where(eq(counters.name, name)))
      if (!held?.head || !(await isDue(tx, chain, held.value, hub.clock.now()))) return { result: undefined }
      await writeCheckpoint(tx, hub, {
        chain,
        kind: 'checkpoint',
        seq: held.value,
        count: held.value - (await boundaryOf(tx, chain)),
        head: Buffer.from(held.head).toString('hex'),
      })
      return { result: undefined, jobs: await hub.auditJobs(tx, chain, hub.clock.now()) }
    })
  }
}

/** Writes the next signed statement of a chain. The caller holds the chain's counter, so that statements of one chain take turns. */
export async function writeCheckpoint(tx: Tx, hub: Hub, says: Omit<Statement, 'time' | 'prev_checkpoint'>): Promise<void> {
  const [last] = await lastOf(tx, says.chain)
  const time = hub.clock.now()
  const statement: Statement = {
    ...says,
    time: instant(time),
    prev_checkpoint: last ? statementHash(checkpointView(last)) : null,
  }
  await tx.insert(auditCheckpoints).values({
    ...says,
    time,
    number: await nextNumber(tx, 'audit-checkpoints'),
    prevCheckpoint: statement.prev_checkpoint,
    ...signStatement(keyOf(hub.keys), statement),
  })
}

/** The entry below which a chain may be pruned, itself included; 0 when it never was. */
export async function boundaryOf(read: Reader, chain: string): Promise<number> {
  const [row] = await read
    .select({ seq: sql<number | null>`max(${auditCheckpoints.seq})`.mapWith(Number) })
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.chain, chain), eq(auditCheckpoints.kind, 'boundary')))
  return row?.seq ?? 0
}

/** Checkpoints behind one number, in their order. */
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

/** The key that signs the checkpoints of an installation. */
export function keyOf(keys: KeyRing): KeyObject {
  let key = signingKeys.get(keys)
  if (!key) signingKeys.set(keys, (key = signingKey(keys.derive(checkpointPurpose))))
  return key
}

const signingKeys = new WeakMap<KeyRing, KeyObject>()

/** Whether entries wait for a signature: 1,000 of them, or one for an hour. */
async function isDue(read: Reader, chain: string, seq: number, now: number): Promise<boolean> {
  const [last] = await lastOf(read, chain)
  const signed = last?.seq ?? 0
  if (seq <= signed) return false
  if (seq - signed >= mostWithout) return true
  const [oldest] = await read
    .select({ occurredAt: auditEntries.occurredAt })
    .from(auditEntries)
    .where(and(eq(auditEntries.workspaceId, chain), gt(auditEntries.seq, signed)))
    .orderBy(asc(auditEntries.seq))
    .limit(1)
  return oldest !== undefined && now - oldest.occurredAt >= longestWithoutMs
}

const lastOf = (read: Reader, chain: string) =>
  read.select().from(auditCheckpoints).where(eq(auditCheckpoints.chain, chain)).orderBy(desc(auditCheckpoints.number)).limit(1)
