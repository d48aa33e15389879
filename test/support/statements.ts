import { Database } from 'bun:sqlite'

const methods = ['all', 'get', 'run', 'values'] as const
let total = 0

type Counted = Record<(typeof methods)[number], (...args: unknown[]) => unknown>

const prepare = Database.prototype.prepare
Database.prototype.prepare = function (this: Database, ...args: unknown[]) {
  const statement = (prepare as (...args: unknown[]) => unknown).apply(this, args) as Counted
  for (const method of methods) {
    const run = statement[method]
    statement[method] = function (this: unknown, ...values) {
      if (/^(insert|update|delete)/i.test(String(args[0]))) total++
      return run.apply(this, values)
    }
  }
  return statement
} as never

/**
 * Counts the statements that write to SQLite, of databases opened after this module was loaded. Others depend on how often the
 * test waits.
 */
export async function countWrites(run: () => Promise<unknown>): Promise<number> {
  const before = total
  await run()
  return total - before
}
