import { statementOf, type Run, type Statement } from './statements'
import type { Reader } from './transaction'

interface Prepared<R> {
  execute(values?: Record<string, unknown>): Promise<R>
}

interface PreparedQuery<R> extends Prepared<R> {
  /** Returns the cells of the rows as the driver does, for queries with so many rows that decoding them would take long. */
  cells(values?: Record<string, unknown>): Promise<unknown[][]>
}

const statements = new Map<string, Statement>()
// Lists have a query for each combination of filters.
const maxStatements = 2000
const runs = new WeakMap<object, Run>()
const noValues = {}

/** Sets what runs the prepared queries of a handle. */
export function runsPrepared(handle: object, run: Run): void {
  runs.set(handle, run)
}

/**
 * Builds a query only once for all handles, including those of later transactions, because that takes longer than running it.
 * @param name unique for the SQL text
 */
export function prepared<R, H extends object = Reader>(
  handle: H,
  name: string,
  build: (handle: H) => { prepare(name: string): Prepared<R> },
): PreparedQuery<R> {
  let statement = statements.get(name)
  if (!statement) {
    if (statements.size >= maxStatements) statements.delete(statements.keys().next().value!)
    statements.set(name, (statement = statementOf(build(handle).prepare(name))))
  }
  const built = statement
  const run = runs.get(handle)!
  return {
    execute: (values = noValues) => run(built, values) as Promise<R>,
    cells: (values = noValues) => run({ ...built, decode: rows => rows }, values) as Promise<unknown[][]>,
  }
}
