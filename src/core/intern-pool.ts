// Longer values rarely repeat.
const maxJsonLength = 2000

/** Shares equal values: ten thousand equal objects use the memory of one. */
export class InternPool {
  private readonly pool = new Map<string, unknown>()
  /** Objects interned before, so that the same object is serialized only once. */
  private readonly seen = new WeakMap<object, unknown>()

  /** @param maxSize when the pool has this many values, it is emptied */
  constructor(private readonly maxSize = 1000) {}

  /** Returns the value, or an earlier one with the same JSON. The result must not be modified. */
  intern<T>(value: T): T {
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'object') return this.shared(value)
    let result = this.seen.get(value)
    if (result === undefined) this.seen.set(value, (result = this.shared(value)))
    return result as T
  }

  private shared<T>(value: T): T {
    const key = JSON.stringify(value)
    if (key.length > maxJsonLength) return value
    const existing = this.pool.get(key)
    if (existing !== undefined) return existing as T
    if (this.pool.size >= this.maxSize) this.pool.clear()
    this.pool.set(key, value)
    return value
  }
}
