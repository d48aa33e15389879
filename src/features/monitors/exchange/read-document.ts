import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { readJson, unstorable } from '../../../access/request-body'
import { invalid, type FieldProblem } from '../../../core/problem'
import { fieldProblems } from '../../../core/validate'
import { BadYaml, plainYaml } from './plain-yaml'
import { MonitoringDocument, mostImported } from './shapes'

/** A document as it was sent, and where each of its members stands in the text. */
export interface ReadDocument {
  value: Readable
  /** What is wrong with entries, which are in `value` without the members that are wrong, or as null. */
  problems: FieldProblem[]
  /** A problem with the line and column of what it points to. */
  located(problem: FieldProblem): FieldProblem
}

/** A document of which some entries cannot be read. */
export interface Readable extends Omit<MonitoringDocument, 'monitors' | 'maintenance_windows'> {
  monitors: (MonitoringDocument['monitors'][number] | null)[]
  maintenance_windows?: (NonNullable<MonitoringDocument['maintenance_windows']>[number] | null)[]
}

const mostProblems = 20
// Anchors that are used by each of thousands of monitors are written out for each of them.
const mostWeight = 4 * mostImported

/**
 * Reads YAML 1.2, of which JSON is a part. @throws Problem 422 that tells line, column and member of all that is wrong, 400 for what is
 * sent as JSON and is none
 */
export function readDocument(bytes: Uint8Array, mediaType: string): ReadDocument {
  const isJson = mediaType === 'application/json'
  const text = textOf(bytes)
  const lines = new LineCounter()
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `line ${line}, column ${col}`
  }
  let read: Document.Parsed | null = null
  const document = () =>
    (read ??= parseDocument(text, { lineCounter: lines, version: '1.2', strict: true, uniqueKeys: false, prettyErrors: false }))
  // A large document is read several times as fast as JSON; where its members stand is asked only when something is wrong.
  const value = isJson ? readJson.parse(bytes) : plainOf(document(), at)
  const located = (problem: FieldProblem): FieldProblem => {
    const offset = offsetOf(document(), problem.pointer)
    return offset === null ? problem : { ...problem, detail: `${problem.detail.replace(/\.$/, '')} (${at(offset)}).` }
  }
  const hostile = unstorable(value)
  const problems = hostile.length > 0 ? hostile : fieldProblems(MonitoringDocument, value)
  const readable = problems.length === 0 ? (value as Readable) : hostile.length === 0 ? withoutWrong(value, problems) : null
  if (!readable) throw invalid(problems.slice(0, mostProblems).map(located))
  return { value: readable, problems, located }
}

/** The document without what is wrong in its entries; null where it is wrong beside them. */
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

/** @throws Problem 422 for what is no UTF-8 */
function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw invalid([{ pointer: '#', code: 'character', detail: 'must be text in UTF-8.' }])
  }
}

/** @throws Problem 422 for what is no YAML, and for aliases that stand for too much */
function plainOf(document: Document.Parsed, at: (offset: number) => string): unknown {
  if (document.errors.length > 0)
    throw invalid(
      document.errors
        .slice(0, mostProblems)
        .map(error => ({ pointer: '#', code: 'yaml', detail: `cannot be read at ${at(error.pos[0])}: ${error.message}` })),
    )
  try {
    return plainYaml(document, mostWeight)
  } catch (error) {
    if (!(error instanceof BadYaml)) throw error
    throw invalid([{ pointer: '#', code: 'yaml', detail: `cannot be read at ${at(error.offset)}: ${error.message}.` }])
  }
}

/** Where a member begins, or what is nearest above it. */
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
