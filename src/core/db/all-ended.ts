import { isAborted } from './errors'

/**
 * Like `Promise.all` for the concurrent parts of a transaction, but waits until all have ended before it throws: a part that still
 * ran would write into the next transaction of the connection.
 * @throws the first error that isn’t only a consequence of another
 */
export async function allEnded<T extends readonly Promise<unknown>[]>(
  parts: readonly [...T],
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const errors: unknown[] = []
  const results = await Promise.all(parts.map(part => part.catch(error => void errors.push(error))))
  if (errors.length > 0) throw errors.find(error => !isAborted(error)) ?? errors[0]
  return results as never
}
