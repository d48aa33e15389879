// What is longer is seldom said twice.
const longest = 2000

/** Keeps one of each value that many have alike, so that ten thousand that say the same take the room of one. */
export class Alike {
  private readonly known = new Map<string, unknown>()
  /** What was asked for before, so that one object that comes again and again is written but once. */
  private readonly seen = new WeakMap<object, unknown>()

  /** @param most values that are kept at once; of more, all are forgotten, and those to come are shared anew */
  constructor(private readonly most = 1000) {}

  /** The value itself, or one that is written the same in JSON and came before it. Nobody may change what comes back. */
  of<T>(value: T): T {
    if (value === null || typeof value === 'number' || typeof value === 'boolean') return value
    if (typeof value !== 'object') return this.written(value)
    let one = this.seen.get(value)
    if (one === undefined) this.seen.set(value, (one = this.written(value)))
    return one as T
  }

  private written<T>(value: T): T {
    const key = JSON.stringify(value)
    if (key.length > longest) return value
    const known = this.known.get(key)
    if (known !== undefined) return known as T
    if (this.known.size >= this.most) this.known.clear()
    this.known.set(key, value)
    return value
  }
}
