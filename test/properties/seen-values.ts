import type { Known } from './schema-values'

const most = 20

/** What answers told, by the name of the member and, for ids, by the collection they are in: later requests are made of it. */
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

  /** Takes up what an answer of a collection told. */
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

  /** Takes an id out: what it named was deleted. */
  forget(id: string): void {
    for (const list of this.values.values()) if (list.includes(id)) list.splice(list.indexOf(id), 1)
  }

  private add(name: string, value: string): void {
    let list = this.values.get(name)
    if (!list) this.values.set(name, (list = []))
    if (list.includes(value)) return
    list.push(value)
    // The oldest make room, so that not all that is reached for was deleted long ago.
    if (list.length > most) list.shift()
  }
}
