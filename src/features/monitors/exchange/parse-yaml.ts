import { Composer, type CST, type Document, isCollection, isMap, Lexer, type LineCounter, Parser, type ParsedNode } from 'yaml'
import { isTurnOver, yieldToEventLoop } from '../../../core/time-slices'
import { BadYaml } from './plain-yaml'

const options = { version: '1.2', strict: true, uniqueKeys: false, prettyErrors: false } as const
const itemsPerPart = 20
// A part is composed without interruption.
export const maxPartLength = 128 * 1024
// Composing the characters of long texts takes less time, but their lines take some. A monitor can have three texts of 64 KiB.
const longText = 256
const charactersAsOne = 12
const linesAsOne = 4

/**
 * Parses a YAML document like `parseDocument`, yielding to the event loop: it is scanned token by token, and the lists
 * and maps at its top level are composed in parts.
 * @throws BadYaml if anything else in it, or a single item, is too long
 */
export async function parseYaml(text: string, lines: LineCounter): Promise<Document.Parsed> {
  const parser = new Parser(lines.addNewLine)
  const tokens: CST.Token[] = []
  lines.addNewLine(0)
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme))
    if (isTurnOver()) await yieldToEventLoop()
  }
  tokens.push(...parser.end())
  const detached = tokens.flatMap(token => (token.type === 'document' ? detachItems(token, text.length) : []))
  const [document, another] = [...new Composer({ ...options, lineCounter: lines }).compose(tokens, true, text.length)]
  if (another) throw new BadYaml(another.range[0], 'Only one document is allowed')
  for (const one of detached) await attachItems(document as Document.Parsed, one, text.length)
  return document as Document.Parsed
}

type Collection = CST.BlockSequence | CST.BlockMap
type Item = Collection['items'][number]

/** All but the last item of a list or map. `end` is where the last one begins. */
interface Detached {
  from: Collection
  end: number
  items: Item[]
}

/** Takes all but the last item out of the lists and maps at the top level of a document. */
function detachItems({ value }: CST.Document, length: number): Detached[] {
  if (value?.type !== 'block-map') {
    refuseLong(value, value?.offset ?? 0, length)
    return []
  }
  return value.items.flatMap((entry, at) => {
    const end = offsetOf(value.items[at + 1]) ?? length
    const from = entry.value
    if (from?.type !== 'block-seq' && from?.type !== 'block-map') {
      refuseLong(entry, offsetOf(entry) ?? value.offset, end)
      return []
    }
    // The last item stays: where the list ends is relevant for what follows.
    const items = from.items.splice(0, from.items.length - 1) as Item[]
    const lastAt = offsetOf(from.items[0]) ?? from.offset
    refuseLong(from.items[0], lastAt, end, true)
    return [{ from, end: lastAt, items }]
  })
}

async function attachItems(document: Document.Parsed, { from, end, items }: Detached, length: number): Promise<void> {
  const composedItems: unknown[] = []
  for (let at = 0; at < items.length;) {
    const start = offsetOf(items[at]) ?? from.offset
    const endOf = (index: number) => offsetOf(items[index + 1]) ?? end
    let next = at + 1
    while (next < items.length && next - at < itemsPerPart && endOf(next) - start <= maxPartLength) next++
    if (next === at + 1) refuseLong(items[at], start, endOf(at), true)
    const part = items.slice(at, next)
    at = next
    const value = { ...from, offset: start, items: part } as Collection
    const [composed] = [...new Composer(options).compose([{ type: 'document', offset: start, start: [], value }], true, length)]
    document.errors.push(...composed!.errors)
    if (isCollection(composed!.contents)) composedItems.push(...composed!.contents.items)
    if (isTurnOver()) await yieldToEventLoop()
  }
  const collection = collectionAt(document.contents, from.offset)
  if (collection) collection.items = [...composedItems, ...collection.items]
}

/** The list or map at the top level of a document that begins at this offset. */
function collectionAt(contents: ParsedNode | null, offset: number) {
  const values = isMap(contents) ? contents.items.map(one => one.value) : []
  return values.find(one => isCollection(one) && one.range?.[0] === offset) as { items: unknown[] } | undefined
}

function offsetOf(entry: Item | undefined): number | undefined {
  if (!entry) return undefined
  return entry.start[0]?.offset ?? entry.key?.offset ?? entry.value?.offset
}

/** @throws BadYaml if composing a part would take too long */
function refuseLong(part: unknown, start: number, end: number, isItem = false): void {
  if (end - start <= maxPartLength || end - start - savedBy(part) <= maxPartLength) return
  const max = `${maxPartLength / 1024} KiB`
  throw new BadYaml(
    start,
    isItem
      ? `The item is larger than ${max}, not counting long texts. Send the document as JSON instead`
      : `This part is larger than ${max}. Write lists and maps with one entry per line, or send the document as JSON instead`,
  )
}

/** The characters of long texts, without what they count. */
function savedBy(part: unknown): number {
  let saved = 0
  const open = [part]
  while (open.length > 0) {
    const one = open.pop() as { source?: string; items?: Item[]; key?: unknown; value?: unknown } | null | undefined
    if (!one) continue
    const { source } = one
    if (source !== undefined && source.length > longText)
      saved += source.length * (1 - 1 / charactersAsOne) - source.split('\n').length / linesAsOne
    open.push(one.key, one.value)
    for (const item of one.items ?? []) open.push(item)
  }
  return saved
}
