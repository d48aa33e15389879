import { isAlias, isMap, isPair, isScalar, isSeq, type Document, type Pair } from 'yaml'

/** What a document holds cannot be told as JSON, or would be too much. @property offset where in the text */
export class BadYaml extends Error {
  constructor(
    readonly offset: number,
    message: string,
  ) {
    super(message)
  }
}

/**
 * The value of a document as JSON has it: no maps with keys that are no texts, no dates, no numbers that are none.
 *
 * It takes as long as the document is, however it is made: what aliases stand for is reckoned before it is written out, and keys that are
 * there twice are found without comparing all of them.
 * @param mostWeight how long it may be with its aliases written out: characters of texts, and eight for all else
 * @throws BadYaml
 */
export function plainYaml(document: Document.Parsed, mostWeight: number): unknown {
  return JSON.parse(JSON.stringify(new Reading(mostWeight).read(document.contents, 0).value ?? null))
}

interface Read {
  value: unknown
  weight: number
}

const weightOfEach = 8

class Reading {
  // An alias stands for what had its name last, and not for what it lies in.
  private readonly anchored = new Map<string, Read | null>()

  constructor(private readonly mostWeight: number) {}

  /** @param above offset of what it lies in, for what is not written in the text */
  read(node: unknown, above: number): Read {
    const at = offsetOf(node) ?? above
    if (isAlias(node)) {
      const named = this.anchored.get(node.source)
      if (named === undefined) throw new BadYaml(at, `No anchor before it is called ${shown(node.source)}`)
      if (named === null) throw new BadYaml(at, 'It stands for what it lies in')
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
      value.push(read.value)
    }
    return { value, weight }
  }

  private readMap(pairs: readonly Pair[], at: number): Read {
    const value = new Map<string, unknown>()
    let weight = weightOfEach
    for (const pair of pairs) {
      const key = this.read(pair.key, at)
      const place = offsetOf(pair.key) ?? at
      if (typeof key.value === 'object' && key.value !== null) throw new BadYaml(place, 'A key must be a text')
      const name = String(key.value ?? '')
      if (value.has(name)) throw new BadYaml(place, 'Map keys must be unique')
      const read = this.read(pair.value, place)
      weight = this.sum(weight, key.weight + read.weight, place)
      value.set(name, read.value)
    }
    return { value: Object.fromEntries(value), weight }
  }

  private sum(weight: number, more: number, at: number): number {
    if (weight + more > this.mostWeight) throw new BadYaml(at, 'With what its aliases stand for, the document is too long')
    return weight + more
  }
}

const weightOf = (value: unknown): number => weightOfEach + (typeof value === 'string' ? value.length : 0)
const shown = (name: string): string => (name.length > 50 ? `${name.slice(0, 50)}…` : name)
const offsetOf = (node: unknown): number | undefined =>
  isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range?.[0] : undefined
