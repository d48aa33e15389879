import type { Reader } from './transaction'

interface Prepared<R> {
  execute(values?: Record<string, unknown>): Promise<R>
}

const statements = new WeakMap<object, Map<string, Prepared<unknown>>>()

/**
 * Caches prepared queries by handle, because building a query takes longer than running it.
 * @param name unique for the SQL text
 */
export function prepared<R, H extends object = Reader>(
  read: H,
  name: string,
  build: (read: H) => { prepare(name: string): Prepared<R> },
): Prepared<R> {
  let cache = statements.get(read)
  if (!cache) statements.set(read, (cache = new Map()))
  let statement = cache.get(name) as Prepared<R> | undefined
  if (!statement) {
    // Lists have a query for each combination of filters, so evict the oldest.
    if (cache.size >= 500) cache.delete(cache.keys().next().value!)
    statement = build(read).prepare(name)
    cache.set(name, statement as Prepared<unknown>)
  }
  return statement
}
