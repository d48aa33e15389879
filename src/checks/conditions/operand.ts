import { conditionSources, type ConditionSource } from '../check'
import { compileGlob, compileRegex, InvalidRegex, type Regex } from '../../core/regex'
import { jsonPathOf, type JsonPath } from './json-path'
import { InvalidCondition } from './invalid-condition'

/** One side of a comparison. */
export type Operand =
  | {
      kind: 'source'
      text: string
      source: ConditionSource
      apply: 'len' | 'has' | 'age' | null
      path: JsonPath | null
      header: string | null
      /** The file system, sensor, disk, unit, or container. */
      device: string | null
    }
  | { kind: 'literal'; text: string; value: string }
  | { kind: 'any'; text: string; values: string[] }
  | { kind: 'pattern'; text: string; regex: Regex }

/** A position in a text. */
export interface Reader {
  text: string
  at: number
}

/** @throws InvalidCondition */
export function fail(reader: Reader, rule: string, at = reader.at): never {
  throw new InvalidCondition(rule, at)
}

/**
 * Reads a source with its function and path, such as `len([BODY].items)`; null if the text is something else.
 * @throws InvalidCondition
 */
export function readSource(reader: Reader): Operand | null {
  const from = reader.at
  const [opening, apply] = /^(?:(len|has|age)\(\s*)?(?=\[[A-Za-z_]+\])/.exec(reader.text.slice(from)) ?? []
  if (opening === undefined) return null
  reader.at += opening.length
  const [bracketed, name] = /^\[([A-Za-z_]+)\]/.exec(reader.text.slice(reader.at))!
  const source = conditionSources.find(one => one === name!.toUpperCase())
  if (!source) return fail(reader, `must use one of ${conditionSources.map(one => `[${one}]`).join(' ')}`)
  if (apply === 'age' && source !== 'BODY' && source !== 'HEADER') fail(reader, 'must use age() only with [BODY] or [HEADER]')
  reader.at += bracketed.length
  const path = source === 'BODY' ? readPath(reader) : null
  const header = source === 'HEADER' ? readHeaderName(reader) : null
  const device = withDevice.includes(source) ? readDevice(reader, source) : null
  if (apply !== undefined) {
    const [closing] = /^\s*\)/.exec(reader.text.slice(reader.at)) ?? fail(reader, `must close ${apply}( with )`)
    reader.at += closing.length
  }
  const text = reader.text.slice(from, reader.at)
  return { kind: 'source', text, source, apply: (apply as 'len' | 'has' | 'age' | undefined) ?? null, path, header, device }
}

/** Sources that need the name of a unit or container. */
const named: readonly ConditionSource[] = ['UNIT', 'CONTAINER', 'PROCESS']
/** Sources that can be limited to a device. Without one, the worst value counts. */
export const withDevice: readonly ConditionSource[] = [
  'DISK_PERCENT',
  'DISK_HOURS_LEFT',
  'INODES_PERCENT',
  'TEMPERATURE',
  'SMART_FAILING',
  ...named,
]

/** Reads a device, such as `./data`, in double quotes if it contains spaces. */
function readDevice(reader: Reader, source: ConditionSource): string | null {
  if (source === 'PROCESS') return readProcess(reader)
  if (reader.text[reader.at] !== '.')
    return named.includes(source) ? fail(reader, `must have a name after [${source}], such as [${source}].nginx`) : null
  const [whole, quoted, plain] = /^\.(?:"([^"]{1,100})"|([^\s")]{1,100}))/.exec(reader.text.slice(reader.at)) ?? []
  if (whole === undefined) return fail(reader, 'must have the name of a device after the dot, such as [DISK_PERCENT]./data')
  reader.at += whole.length
  return quoted ?? plain!
}

/** Reads the name of a program and `.count`, such as `.nginx.count`. */
function readProcess(reader: Reader): string {
  const [whole, quoted, plain] =
    /^\.(?:"([^"]{1,100})"|([^\s")]{1,100}?))\.count(?![^\s)])/.exec(reader.text.slice(reader.at)) ?? []
  if (whole === undefined)
    return fail(reader, 'must have the name of a program and .count after [PROCESS], such as [PROCESS].nginx.count')
  reader.at += whole.length
  return quoted ?? plain!
}

function readHeaderName(reader: Reader): string {
  const [whole, name] = /^\.([A-Za-z0-9_-]{1,100})/.exec(reader.text.slice(reader.at)) ?? []
  if (whole === undefined) return fail(reader, 'must name a header field, such as [HEADER].Content-Type')
  reader.at += whole.length
  return name!.toLowerCase()
}

/** Reads a path in Gatus syntax: `.user.name`, `[0].id`, also names with hyphens. Brackets follow RFC 9535. */
function readPath(reader: Reader): JsonPath | null {
  const from = reader.at
  let path = '$'
  for (;;) {
    const rest = reader.text.slice(reader.at)
    const name = /^(\.{1,2})([^\s.[\](){}<>=!,"'*]+)/.exec(rest)
    const other = name ? null : /^(?:\.{1,2}\*|\.\.(?=\[))/.exec(rest)
    if (name) path += `${name[1] === '..' ? '..' : ''}[${JSON.stringify(name[2])}]`
    else if (other) path += other[0]
    else if (!rest.startsWith('[')) break
    const segment = name?.[0] ?? other?.[0] ?? bracketed(reader)
    if (!name && !other) path += segment
    reader.at += segment.length
  }
  if (reader.text[reader.at] === '.') fail(reader, 'must have a name after the dot of a path')
  return path === '$' ? null : jsonPathOf(path, from)
}

function bracketed(reader: Reader): string {
  let depth = 0
  let quote: string | null = null
  for (let at = reader.at; at < reader.text.length; at++) {
    const character = reader.text[at]!
    if (quote !== null) {
      if (character === '\\') at++
      else if (character === quote) quote = null
    } else if (character === '"' || character === "'") quote = character
    else if (character === '[') depth++
    else if (character === ']' && --depth === 0) return reader.text.slice(reader.at, at + 1)
  }
  return fail(reader, 'must close each [ of a path with ]')
}

/**
 * Reads a value: a literal, with or without double quotes, or one of `any(a, b)`, `pat(glob)` and `regex(expression)`.
 * @throws InvalidCondition
 */
export function readValue(text: string, position: number): Operand {
  const [, name, inner] = /^(any|pat|regex)\(([^]*)\)$/.exec(text) ?? []
  if (name === undefined) return { kind: 'literal', text, value: literalOf(text, position) }
  if (name === 'any') return { kind: 'any', text, values: membersOf(inner!, position) }
  try {
    return { kind: 'pattern', text, regex: name === 'pat' ? compileGlob(inner!) : compileRegex(inner!) }
  } catch (error) {
    if (error instanceof InvalidRegex)
      throw new InvalidCondition(`must use a valid ${name}(): it must ${error.message}`, position)
    throw error
  }
}

function membersOf(inner: string, position: number): string[] {
  const members = inner.match(/\s*(?:"(?:[^"\\]|\\.)*"|[^,]*)\s*(?:,|$)/g)?.filter(member => member !== '') ?? []
  return members.map(member => literalOf(member.replace(/,$/, '').trim(), position))
}

function literalOf(text: string, position: number): string {
  if (!/^"[^]*"$/.test(text) || text.length < 2) return bareOf(text, position)
  try {
    return String(JSON.parse(text))
  } catch {
    throw new InvalidCondition('must have a string as JSON writes it within double quotes', position)
  }
}

/** Rejects bare text that looks like a mistake: it would never match, and nobody would notice. */
function bareOf(text: string, position: number): string {
  const invalid = (rule: string) => new InvalidCondition(`${rule}; put literal text in double quotes`, position)
  if (text.startsWith('=')) throw invalid('must have one operator')
  const [, name] = /^(any|pat|regex|len|has|age)\(/i.exec(text) ?? []
  if (name !== undefined)
    throw invalid(`must write ${name.toLowerCase()}(…) in lower case, closed with ), not nested and with nothing after it`)
  if (conditionSources.some(source => text.toUpperCase().includes(`[${source}]`)))
    throw invalid('must be a single comparison: use separate conditions')
  return text
}
