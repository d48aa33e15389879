import { isNode, LineCounter, type Document } from 'yaml'
import { readJson, unstorable } from '../../../api/request-body'
import { invalid, type FieldProblem } from '../../../core/problem'
import { isTurnOver, runInSlices, yieldToEventLoop } from '../../../core/time-slices'
import { fieldProblems } from '../../../core/validate'
import { maxPartLength, parseYaml } from './parse-yaml'
import { BadYaml, plainYaml } from './plain-yaml'
import { MonitoringDocument, maxImportBytes, maxMonitors } from './shapes'

/** A parsed document, with the position of its fields in the text. */
interface ReadDocument {
  value: Readable
  /** Problems with entries. In `value`, such an entry lacks its invalid fields, or is null. */
  problems: FieldProblem[]
  /** Adds lines and columns to problems, except in JSON of more than 128 KiB. */
  located(problems: readonly FieldProblem[]): Promise<FieldProblem[]>
}

/** A document in which entries that could not be parsed are null. */
export interface Readable extends Omit<MonitoringDocument, 'monitors' | 'maintenance_windows'> {
  monitors: (MonitoringDocument['monitors'][number] | null)[]
  maintenance_windows?: (NonNullable<MonitoringDocument['maintenance_windows']>[number] | null)[]
}

const maxProblems = 20
// More than an exported monitor with long options has.
const valuesPerMonitor = 50
const entriesPerPart = 500
// An anchor that thousands of monitors use is expanded for each of them.
const maxWeight = 4 * maxImportBytes

/**
 * Reads YAML 1.2, including its subset JSON. @throws Problem 422 with line, column, and field of each error, 400 for invalid JSON
 * that was sent as JSON
 */
export async function readDocument(bytes: Uint8Array, mediaType: string): Promise<ReadDocument> {
  const isJson = mediaType === 'application/json'
  const text = textOf(bytes)
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  // Parsing JSON is several times faster, and the positions of its fields are only needed for errors.
  const document = isJson ? null : await documentOf(text, lines, at)
  const value = document ? await plainOf(document, at) : readJson.parse(bytes, valuesPerMonitor * maxMonitors, maxMonitors)
  const located = async (listed: readonly FieldProblem[]): Promise<FieldProblem[]> => {
    const parsed = document ?? (text.length <= maxPartLength ? await parseYaml(text, lines) : null)
    return listed.map(problem => {
      const offset = parsed && offsetOf(parsed, problem.pointer)
      return offset === null ? problem : { ...problem, detail: `${problem.detail.replace(/\.$/, '')} (${at(offset)}).` }
    })
  }
  await yieldToEventLoop()
  const hostile = unstorable(value)
  const isWrong = hostile.length === 0 && !(await isValidInParts(value))
  const problems = isWrong ? fieldProblems(MonitoringDocument, value) : hostile
  const readable = problems.length === 0 ? (value as Readable) : hostile.length === 0 ? withoutWrong(value, problems) : null
  if (!readable) throw invalid(await located(problems.slice(0, maxProblems)))
  return { value: readable, problems, located }
}

/** Validates a document part by part, because validating thousands of entries at once would block other requests. */
async function isValidInParts(value: unknown): Promise<boolean> {
  const { monitors } = (value ?? {}) as Partial<Readable>
  if (!Array.isArray(monitors) || monitors.length > maxMonitors) return false
  const isValid = (part: object) => fieldProblems(MonitoringDocument, part).length === 0
  if (!isValid({ ...(value as object), monitors: [] })) return false
  for (let at = 0; at < monitors.length; at += entriesPerPart) {
    if (!isValid({ monitors: monitors.slice(at, at + entriesPerPart) })) return false
    if (isTurnOver()) await yieldToEventLoop()
  }
  return true
}

/** The document without its invalid fields and entries; null if it is invalid elsewhere. */
function withoutWrong(value: unknown, problems: readonly FieldProblem[]): Readable | null {
  const copy = structuredClone(value) as Record<string, unknown[]> | null
  if (!Array.isArray(copy?.monitors)) return null
  const wrong = new Map<string, { list: unknown[]; place: number }>()
  for (const { pointer } of problems) {
    const [, name, place, member] = /^#\/(monitors|maintenance_windows)\/(\d+)(?:\/([^/]+))?/.exec(pointer) ?? []
    if (name === undefined) return null
    const list = copy[name]
    if (!Array.isArray(list)) return null
    wrong.set(`${name} ${place}`, { list, place: Number(place) })
    const entry = list[Number(place)] as Record<string, unknown> | null
    if (member !== undefined && entry) delete entry[member.replaceAll('~1', '/').replaceAll('~0', '~')]
  }
  for (const { list, place } of wrong.values()) {
    const alone = list === copy.monitors ? { monitors: [list[place]] } : { monitors: [], maintenance_windows: [list[place]] }
    if (fieldProblems(MonitoringDocument, alone).length > 0) list[place] = null
  }
  const left = { ...copy, monitors: copy.monitors.filter(Boolean) } as Record<string, unknown>
  if (Array.isArray(copy.maintenance_windows)) left.maintenance_windows = copy.maintenance_windows.filter(Boolean)
  return fieldProblems(MonitoringDocument, left).length > 0 ? null : (copy as unknown as Readable)
}

/** @throws Problem 422 for invalid UTF-8 */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid([{ pointer: '#', code: 'character', detail: 'must be valid UTF-8.' }])
  }
}

/** @throws Problem 422 */
async function documentOf(text: string, lines: LineCounter, at: (offset: number) => string): Promise<Document.Parsed> {
  try {
    return await parseYaml(text, lines)
  } catch (error) {
    throw asProblem(error, at)
  }
}

/** @throws Problem 422 for invalid YAML, and for aliases that expand too far */
async function plainOf(document: Document.Parsed, at: (offset: number) => string): Promise<unknown> {
  if (document.errors.length > 0)
    throw invalid(
      document.errors
        .slice(0, maxProblems)
        .map(error => ({ pointer: '#', code: 'yaml', detail: `is invalid at ${at(error.pos[0])}: ${error.message}` })),
    )
  try {
    return await runInSlices(plainYaml(document, maxWeight))
  } catch (error) {
    throw asProblem(error, at)
  }
}

function asProblem(error: unknown, at: (offset: number) => string): unknown {
  if (!(error instanceof BadYaml)) return error
  return invalid([{ pointer: '#', code: 'yaml', detail: `is invalid at ${at(error.offset)}: ${error.message}.` }])
}

/** The offset of a field, or of its closest parent in the text. */
function offsetOf(document: Document.Parsed, pointer: string): number | null {
  const parts = pointer
    .split('/')
    .slice(1)
    .map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map(part => (/^\d+$/.test(part) ? Number(part) : part))
  for (let length = parts.length; length > 0; length--) {
    const node = document.getIn(parts.slice(0, length), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return null
}
