/** What a database refused, in words of both engines. */
export type Violation = 'unique' | 'foreign_key' | 'check' | 'not_null'

const sqliteCodes: Record<string, Violation> = {
  SQLITE_CONSTRAINT_UNIQUE: 'unique',
  SQLITE_CONSTRAINT_PRIMARYKEY: 'unique',
  SQLITE_CONSTRAINT_FOREIGNKEY: 'foreign_key',
  SQLITE_CONSTRAINT_CHECK: 'check',
  SQLITE_CONSTRAINT_NOTNULL: 'not_null',
}
// PostgreSQL Appendix A, class 23.
const postgresCodes: Record<string, Violation> = { 23505: 'unique', 23503: 'foreign_key', 23514: 'check', 23502: 'not_null' }

/** Which rule of the schema an error broke, or null when it is another kind of error. */
export function violation(error: unknown): Violation | null {
  const code = codeOf(error)
  return sqliteCodes[code] ?? postgresCodes[code] ?? null
}

/** PostgreSQL serialization_failure and deadlock_detected. */
export function isSerialisationFailure(error: unknown): boolean {
  return ['40001', '40P01'].includes(codeOf(error))
}

function codeOf(error: unknown): string {
  const source = ((error as { cause?: unknown })?.cause ?? error) as { errno?: unknown; code?: unknown } | undefined
  const code = typeof source?.code === 'string' && source.code.startsWith('SQLITE') ? source.code : source?.errno ?? source?.code
  return String(code ?? '')
}
