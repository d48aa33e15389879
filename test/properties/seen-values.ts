import type { Known } from './schema-values'

const maxValues = 20

/** Values seen in responses, by field name and, for IDs, by collection, for use in later requests. */
export class SeenValues implements Known {
  private readonly values = new Map<string, string[]>()

  /** @param kept ids that no write may reach, since they are what the callers stand on */
  constructor(
    readonly addresses: readonly string[],
    private readonly kept: ReadonlySet<string>,
  ) {}

  seen(name: string): readonly string[] {
    return this.values.get(name) ?? []
  }

  /** Adds the values of a response of a collection. */
  learn(collection: string, answer: unknown, depth = 0): void {
    if (typeof answer !== 'object' || answer === null || depth > 4) return
    for (const [name, value] of Object.entries(answer)) {
      if (Array.isArray(value)) for (const one of value.slice(0, 20)) this.learn(collection, one, depth + 1)
      else if (typeof value === 'object') this.learn(name === 'data' ? collection : `${collection}/${name}`, value, depth + 1)
      else if (typeof value === 'number' && name === 'n') this.add(name, String(value))
      else if (typeof value === 'string' && value.length > 0 && value.length <= 300 && !this.kept.has(value)) {
        this.add(name, value)
        if (name === 'id') this.add(collection, value)
      }
    }
  }

  /** Removes the ID of a deleted resource. */
  forget(id: string): void {
    for (const list of this.values.values()) if (list.includes(id)) list.splice(list.indexOf(id), 1)
  }

  private add(name: string, value: string): void {
    let list = this.values.get(name)
    if (!list) this.values.set(name, (list = []))
    if (list.includes(value)) return
    list.push(value)
    // Drop the oldest, because many old resources have been deleted.
    if (list.length > maxValues) list.shift()
  }
}
