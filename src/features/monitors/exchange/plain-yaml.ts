import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type Pair } from 'yaml'

/** The document can't be represented as JSON, or would be too large. @property offset position in the text */
export class BadYaml extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * The value of a document as plain JSON: string keys only, no dates, no NaN. A step reads one item of a list at the top level.
 *
 * Runs in linear time for any input: the size of aliases is computed before they are expanded, and duplicate keys are found
 * without comparing all pairs.
 * @param maxWeight the largest size with aliases expanded: the characters of strings, plus eight per node
 * @throws BadYaml
 */
export function* plainYaml({ contents }: Document.Parsed, maxWeight: number): Generator<void, unknown> {
  const reading = new Reading(maxWeight)
  if (!isMap(contents)) yield* reading.prepare(contents)
  else
    for (const { key, value } of contents.items) {
      // Its anchors apply to what follows.
      reading.read(key, 0)
      const items = isSeq(value) && value.anchor === undefined ? value.items : [value]
      for (const item of items) {
        yield* reading.prepare(item)
        yield
      }
    }
  return jsonOf(reading.read(contents, 0).value)
}

interface Read {
  value: unknown
  weight: number
}

const weightOfEach = 8

class Reading {
  // An alias refers to the last node with its name, but not to a node that contains it.
  private readonly anchored = new Map<string, Read | null>()
  private readonly prepared = new Map<unknown, Read>()
  private aliases = 0
  private total = 0

  constructor(private readonly maxWeight: number) {}

  /** Reads a node ahead of the node that contains it. If it contains aliases, it gets its own copy of what they refer to. */
  *prepare(node: unknown): Generator<void, void> {
    const before = this.aliases
    const { value, weight } = this.read(node, 0)
    this.total = this.sum(this.total, weight, offsetOf(node) ?? 0)
    this.prepared.set(node, { value: this.aliases > before ? yield* copyOf(value) : value, weight })
  }

  /** @param above offset of the parent, for nodes without a position of their own */
  read(node: unknown, above: number): Read {
    const prepared = this.prepared.get(node)
    if (prepared) return prepared
    const at = offsetOf(node) ?? above
    if (isAlias(node)) {
      this.aliases++
      const named = this.anchored.get(node.source)
      if (named === undefined) throw new BadYaml(at, `Unknown alias: no anchor named ${shown(node.source)} before it`)
      if (named === null) throw new BadYaml(at, 'An alias must not contain itself')
      return named
    }
    const anchor = isScalar(node) || isMap(node) || isSeq(node) ? node.anchor : undefined
    if (anchor !== undefined) this.anchored.set(anchor, null)
    const read = this.readOwn(node, at)
    if (anchor !== undefined) this.anchored.set(anchor, read)
    return read
  }

  private readOwn(node: unknown, at: number): Read {
    if (isScalar(node)) return { value: node.value, weight: weightOf(node.value) }
    if (isMap(node)) return this.readMap(node.items, at)
    if (isPair(node)) return this.readMap([node], at)
    if (!isSeq(node)) return { value: null, weight: weightOfEach }
    const value: unknown[] = []
    let weight = weightOfEach
    for (const item of node.items) {
      const read = this.read(item, at)
      weight = this.sum(weight, read.weight, offsetOf(item) ?? at)
      value.push(jsonOf(read.value))
    }
    return { value, weight }
  }

  private readMap(pairs: readonly Pair[], at: number): Read {
    const value = new Map<string, unknown>()
    let weight = weightOfEach
    for (const pair of pairs) {
      const key = this.read(pair.key, at)
      const place = offsetOf(pair.key) ?? at
      if (typeof key.value === 'object' && key.value !== null) throw new BadYaml(place, 'A key must be a string')
      const name = String(key.value ?? '')
      if (value.has(name)) throw new BadYaml(place, 'Map keys must be unique')
      const read = this.read(pair.value, place)
      weight = this.sum(weight, key.weight + read.weight, place)
      value.set(name, jsonOf(read.value))
    }
    return { value: Object.fromEntries(value), weight }
  }

  private sum(weight: number, more: number, at: number): number {
    if (weight + more > this.maxWeight) throw new BadYaml(at, 'The document is too large once its aliases are expanded')
    return weight + more
  }
}

const valuesPerStep = 1000

/** A deep copy. Strings are shared. */
function* copyOf(value: unknown, made = { count: 0 }): Generator<void, unknown> {
  if (++made.count % valuesPerStep === 0) yield
  if (typeof value !== 'object' || value === null) return value
  const isList = Array.isArray(value)
  const copies: [string, unknown][] = []
  for (const [name, one] of Object.entries(value)) copies.push([name, yield* copyOf(one, made)])
  return isList ? copies.map(([, one]) => one) : Object.fromEntries(copies)
}

/** A value as JSON has it: null instead of NaN and infinity, and no negative zero. */
const jsonOf = (value: unknown): unknown =>
  typeof value === 'number' ? (Number.isFinite(value) ? value || 0 : null) : (value ?? null)

const weightOf = (value: unknown): number => weightOfEach + (typeof value === 'string' ? value.length : 0)
const shown = (name: string): string => (name.length > 50 ? `${name.slice(0, 50)}…` : name)
const offsetOf = (node: unknown): number | undefined =>
  isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined
