import { eq, inArray, sql, type SQL } from 'drizzle-orm'
import { prepared } from '../../../core/db/prepared'
import { forUpdate } from '../../../core/db/dialect'
import type { Tx } from '../../../core/db/transaction'
import { heartbeats, pings } from '../tables'
import type { HeartbeatRow } from '../view'

// Batches are split into chunks of these sizes, so that a few prepared statements cover every batch size.
const chunkSizes = [128, 32, 8, 1]

/** Locks the heartbeats with these UUID hashes, in hash order, so that batches of several hubs can’t deadlock. */
export async function lockHeartbeats(tx: Tx, hashes: string[]): Promise<HeartbeatRow[]> {
  const rows: HeartbeatRow[] = []
  for (const chunk of chunks([...hashes].sort())) {
    rows.push(
      ...(await prepared(tx, `heartbeats-by-uuid|${chunk.length}`, () =>
        forUpdate(
          tx
            .select()
            .from(heartbeats)
            .where(
              inArray(
                heartbeats.uuidHash,
                chunk.map((_, place) => sql.placeholder(`h${place}`)),
              ),
            )
            .orderBy(heartbeats.uuidHash),
        ),
      ).execute(Object.fromEntries(chunk.map((hash, place) => [`h${place}`, hash])))),
    )
  }
  return rows
}

/** Stores the states and ping counts after a batch of pings. */
export async function writeStates(tx: Tx, rows: HeartbeatRow[]): Promise<void> {
  for (const chunk of chunks(rows)) {
    const values: Record<string, unknown> = {}
    const tuples = chunk.map((row, place): SQL => {
      const at = (name: string, type: 'text' | 'bigint', value: unknown) => {
        values[`${name}${place}`] = value
        // PostgreSQL treats untyped parameters in a VALUES list as text.
        return sql`cast(${sql.placeholder(`${name}${place}`)} as ${sql.raw(type)})`
      }
      return sql`(${at('id', 'text', row.id)}, ${at('status', 'text', row.status)}, ${at('last', 'bigint', row.lastPingAt)}, ${at('duration', 'bigint', row.lastDurationMs)}, ${at('runs', 'text', JSON.stringify(row.openRuns))}, ${at('expected', 'bigint', row.expectedAt)}, ${at('down', 'bigint', row.downAt)}, ${at('count', 'bigint', row.pingCount)}, ${at('since', 'bigint', row.statusSince)}, ${at('held', 'bigint', row.alertHeldUntil)})`
    })
    // Both engines name the columns of a VALUES list column1, column2, …
    await prepared(tx, `write-states|${chunk.length}`, () =>
      tx
        .update(heartbeats)
        .set({
          status: sql`written.column2`,
          lastPingAt: sql`written.column3`,
          lastDurationMs: sql`written.column4`,
          openRuns: sql`written.column5`,
          expectedAt: sql`written.column6`,
          downAt: sql`written.column7`,
          pingCount: sql`written.column8`,
          statusSince: sql`written.column9`,
          alertHeldUntil: sql`written.column10`,
        })
        .from(sql`(values ${sql.join(tuples, sql`, `)}) as written` as never)
        .where(eq(heartbeats.id, sql`written.column1`)),
    ).execute(values)
  }
}

/** Stores pings. */
export async function writePings(tx: Tx, rows: (typeof pings.$inferInsert)[]): Promise<void> {
  for (const chunk of chunks(rows)) {
    const values: Record<string, unknown> = {}
    const columns = [
      'heartbeatId',
      'n',
      'kind',
      'at',
      'exitStatus',
      'durationMs',
      'rid',
      'source',
      'userAgent',
      'method',
      'body',
    ] as const
    chunk.forEach((row, place) => {
      for (const column of columns) values[`${column}${place}`] = row[column] ?? null
    })
    await prepared(tx, `write-pings|${chunk.length}`, () =>
      tx
        .insert(pings)
        .values(
          chunk.map((_, place) =>
            Object.fromEntries(columns.map(column => [column, sql.placeholder(`${column}${place}`)])),
          ) as never,
        ),
    ).execute(values)
  }
}

function* chunks<T>(rows: T[]): Generator<T[]> {
  let start = 0
  for (const size of chunkSizes) {
    for (; rows.length - start >= size; start += size) yield rows.slice(start, start + size)
  }
}
