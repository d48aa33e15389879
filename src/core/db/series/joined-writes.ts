import { isStorageFull, isUnavailable } from '../errors'

interface Waiting<T> {
  items: readonly T[]
  resolve(): void
  reject(error: unknown): void
}

/**
 * Joins what arrives while a write is running into the next one: if a thousand agents report at once, they need a few transactions
 * instead of one each.
 */
export class JoinedWrites<T> {
  private readonly waiting: Waiting<T>[] = []
  private isWriting = false

  /** @param maxItems of one write, unless a caller adds more at once */
  constructor(
    private readonly write: (items: readonly T[]) => Promise<void>,
    private readonly maxItems: number,
  ) {}

  /** Resolves when the items are written. @throws what prevents it */
  add(items: readonly T[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ items, resolve, reject })
      if (!this.isWriting) void this.writeAll()
    })
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true
    while (this.waiting.length > 0) await this.writeSome(this.takeSome())
    this.isWriting = false
  }

  private takeSome(): Waiting<T>[] {
    const some = [this.waiting.shift()!]
    for (let count = some[0]!.items.length; this.waiting.length > 0;) {
      count += this.waiting[0]!.items.length
      if (count > this.maxItems) break
      some.push(this.waiting.shift()!)
    }
    return some
  }

  private async writeSome(some: readonly Waiting<T>[]): Promise<void> {
    try {
      await this.write(some.flatMap(one => one.items))
      for (const one of some) one.resolve()
    } catch (error) {
      // What is wrong with the items of one caller must not fail those of others.
      if (some.length > 1 && !isUnavailable(error) && !isStorageFull(error)) for (const one of some) await this.writeSome([one])
      else for (const one of some) one.reject(error)
    }
  }
}
