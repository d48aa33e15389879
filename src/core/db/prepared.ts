import type { Reader } from './transaction'

interface Prepared<R> {
  execute(values?: Record<string, unknown>): Promise<R>
}

const statements = new WeakMap<object, Map<string, Prepared<unknown>>>()

/**
 * A query built once a handle and kept: building a query costs more than running it.
 * @param name unique to the query's text
 */
export function prepared<R, H extends object = Reader>(
  read: H,
  name: string,
  build: (read: H) => { prepare(name: string): Prepared<R> },
): Prepared<R> {
  let kept = statements.get(read)
  if (!kept) statements.set(read, (kept = new Map()))
  let statement = kept.get(name) as Prepared<R> | undefined
  if (!statement) {
    // Lists make a text for each combination of filters; what is seldom used is built again.
    if (kept.size >= 500) kept.delete(kept.keys().next().value!)
    statement = build(read).prepare(name)
    kept.set(name, statement as Prepared<unknown>)
  }
  return statement
}
