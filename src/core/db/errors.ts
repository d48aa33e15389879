import { SQL } from 'bun'
import { DrizzleQueryError } from 'drizzle-orm'

/** A constraint violation, for both engines. */
type Violation = 'unique' | 'foreign_key' | 'check' | 'not_null'

const sqliteCodes: Record<string, Violation> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign_key',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_NOTNULL: 'not_null',
}
// PostgreSQL Appendix A, class 23.
const postgresCodes: Record<string, Violation> = { 23505: 'unique', 23503: 'foreign_key', 23514: 'check', 23502: 'not_null' }

/** The constraint that an error violated; null for other errors. */
export function violation(error: unknown): Violation | null {
  const code = codeOf(error)
  return sqliteCodes[code] ?? postgresCodes[code] ?? null
}

/** PostgreSQL serialization_failure and deadlock_detected. */
export function isSerializationFailure(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error))
}

/** Two transactions created the same table at the same time, which `if not exists` does not prevent on PostgreSQL. */
export function isTableCreatedTwice(error: unknown): boolean {
  const isInCatalog = error instanceof Error && /"pg_(?:type_typname|class_relname)_nsp_index"/.test(error.message)
  return codeOf(error) === '42P07' || (codeOf(error) === '23505' && isInCatalog)
}

/** A table does not exist, or was created in a transaction that has not been committed yet: PostgreSQL undefined_table. */
export const isTableMissing = (error: unknown): boolean => codeOf(error) === '42P01'

/** PostgreSQL in_failed_sql_transaction: an earlier statement of the transaction failed. */
export function isAborted(error: unknown): boolean {
  return codeOf(error) === '25P02'
}

/** The disk of the database is full: SQLITE_FULL, or disk_full on PostgreSQL (Appendix A, class 53). */
export function isStorageFull(error: unknown): boolean {
  return ['SQLITE_FULL', '53100'].includes(codeOf(error))
}

// PostgreSQL Appendix A: shutdown and start of the server, no connections left, and a standby after a failover.
const unavailableStates = ['57P01', '57P02', '57P03', '53300', '25006']
const connectionCodes = ['CLOSED', 'REFUSED', 'FAILED', 'TIMEOUT'].map(what => `ERR_POSTGRES_CONNECTION_${what}`)

/**
 * The PostgreSQL server can't be reached, or the connection was lost. If that happened during a commit, the change may have been
 * made.
 */
export function isUnavailable(error: unknown): boolean {
  const code = codeOf(error)
  // Class 08: connection exceptions.
  return unavailableStates.includes(code) || connectionCodes.includes(code) || /^08...$/.test(code)
}

/** A PostgreSQL error with the message of the server, but without the statement and its values. */
class QueryFailed extends Error {
  override name = 'QueryFailed'
  /** @param errno the SQLSTATE, if the server returned one */
  constructor(
    message: string,
    readonly code: string,
    readonly errno: string | undefined,
  ) {
    super(message)
  }
}

/**
 * Strips values from an error, so that it can be logged. Values (hashes, encrypted secrets, stored responses) are in drizzle's
 * message, in the server's detail, which quotes keys and rows, and in the server's messages about invalid data.
 */
export function withoutValues(error: unknown): unknown {
  const source = error instanceof DrizzleQueryError ? (error.cause ?? new Error('The query failed.')) : error
  if (!(source instanceof SQL.PostgresError)) return source
  // PostgreSQL Appendix A, class 22: data exceptions.
  const quotesValues = source.errno?.startsWith('22') ?? false
  return new QueryFailed(quotesValues ? source.message.replace(/".*"/s, '"…"') : source.message, source.code, source.errno)
}

function codeOf(error: unknown): string {
  const source = ((error as { cause?: unknown })?.cause ?? error) as { errno?: unknown; code?: unknown } | undefined
  const code =
    typeof source?.code === 'string' && source.code.startsWith('SQLITE') ? source.code : (source?.errno ?? source?.code)
  return String(code ?? '')
}
