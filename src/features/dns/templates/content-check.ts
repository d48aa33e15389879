import { compileRegex, InvalidRegex } from '../../../core/regex'
import { catchFormatError } from '../../../dns/format-error'
import type { FieldProblem } from '../../../core/problem'
import { typeOf } from '../records/values'
import { isSpf, spfTerms } from '../records/spf'
import type { TemplateContent, TemplateRecord, TemplateVariable } from './content'
import { builtinVariables, PlaceholderError, textsIn, variablesIn } from './placeholders'
import { renderRecord } from './render'
import { isSingle, tagOf } from './record-conflicts'
import { valueOfVariable, type Settled } from './variables'

// Every version of a template is stored.
const maxBytes = 128 * 1024

/**
 * Validates a template independently of any zone: its variables, their use in records, and record values filled in with defaults
 * or samples.
 */
export function contentProblems(content: TemplateContent): FieldProblem[] {
  if (Buffer.byteLength(JSON.stringify(content)) > maxBytes)
    return [
      { pointer: '#/records', code: 'too_large', detail: `must not exceed ${maxBytes / 1024} KiB, including the variables.` },
    ]
  const problems = [...variableProblems(content.variables), ...usageProblems(content), ...recordProblems(content)]
  // Later checks would report the same problems again in other words.
  return problems.length > 0 ? problems : [...sampleProblems(content), ...groupProblems(content)]
}

const problem = (pointer: string, code: string, detail: string): FieldProblem => ({ pointer, code, detail })

function variableProblems(variables: readonly TemplateVariable[]): FieldProblem[] {
  const seen = new Set<string>()
  return variables.flatMap((variable, place) => {
    const pointer = `#/variables/${place}`
    const { name, type } = variable
    const problems: FieldProblem[] = []
    if (seen.has(name)) problems.push(problem(`${pointer}/name`, 'not_unique', `must be unique: ${name} is declared twice.`))
    seen.add(name)
    if (Object.hasOwn(builtinVariables, name) || name === 'server' || name === 'dynamic')
      problems.push(problem(`${pointer}/name`, 'reserved', `must not be ${name}: it is a reserved name.`))
    if (type === 'enum' && !variable.values)
      problems.push(problem(`${pointer}/values`, 'required', 'is required for variables of type enum.'))
    if (type !== 'enum' && variable.values)
      problems.push(problem(`${pointer}/values`, 'not_allowed', 'is only allowed for variables of type enum.'))
    if (variable.values && new Set(variable.values).size < variable.values.length)
      problems.push(problem(`${pointer}/values`, 'not_unique', 'must not contain duplicates.'))
    if (variable.pattern !== undefined) problems.push(...patternProblems(variable, pointer))
    if (problems.length === 0 && variable.default !== undefined && variable.default !== '') {
      const read = valueOfVariable(variable, variable.default)
      if ('rule' in read) problems.push(problem(`${pointer}/default`, 'invalid_value', `must ${read.rule}.`))
    }
    return problems
  })
}

function patternProblems({ type, pattern }: TemplateVariable, pointer: string): FieldProblem[] {
  if (type !== 'string') return [problem(`${pointer}/pattern`, 'not_allowed', 'is only allowed for variables of type string.')]
  try {
    compileRegex(pattern!)
    return []
  } catch (error) {
    if (error instanceof InvalidRegex) return [problem(`${pointer}/pattern`, 'pattern', `must ${error.message}.`)]
    throw error
  }
}

/** All texts of a record that may contain variables, with their pointers. */
const textsOf = ({ name, content, fields }: TemplateRecord) => textsIn({ name, content, fields })

function usageProblems({ variables, records }: TemplateContent): FieldProblem[] {
  const declared = new Set(variables.map(one => one.name))
  const used = new Set<string>()
  const problems = records.flatMap((record, index) => {
    const found: FieldProblem[] = []
    if (record.when !== undefined) {
      used.add(record.when)
      if (!declared.has(record.when)) found.push(unknownVariable(`#/records/${index}/when`, index, record, record.when, declared))
    }
    for (const { text, pointer } of textsOf(record)) {
      const at = `#/records/${index}${pointer}`
      try {
        for (const name of variablesIn(text)) {
          used.add(name)
          if (!declared.has(name) && !Object.hasOwn(builtinVariables, name))
            found.push(unknownVariable(at, index, record, name, declared))
        }
      } catch (error) {
        if (!(error instanceof PlaceholderError)) throw error
        found.push(problem(at, 'placeholder', `must ${error.message}.`))
      }
    }
    return found
  })
  if (problems.length > 0) return problems
  return variables.flatMap(({ name }, place) =>
    used.has(name) ? [] : [problem(`#/variables/${place}`, 'unused', `is unused: no record refers to ${name}.`)],
  )
}

const unknownVariable = (
  pointer: string,
  index: number,
  { type }: TemplateRecord,
  name: string,
  declared: ReadonlySet<string>,
): FieldProblem =>
  problem(
    pointer,
    'unknown_variable',
    `refers to an undeclared variable: record ${index} (${type}) uses ${name.slice(0, 60)}. Declared: ` +
      `${[...declared, ...Object.keys(builtinVariables)].slice(0, 20).join(', ')}.`,
  )

function recordProblems({ records }: TemplateContent): FieldProblem[] {
  return records.flatMap((record, index) => {
    const pointer = `#/records/${index}`
    if (record.content === undefined && record.fields === undefined)
      return [problem(`${pointer}/content`, 'required', 'is required, unless you pass `fields`.')]
    if (record.content !== undefined && record.fields !== undefined)
      return [problem(`${pointer}/content`, 'not_allowed', 'can’t be combined with `fields`.')]
    return catchFormatError(
      () => {
        const type = typeOf(record.type)
        const isMergedSingle = record.on_conflict === 'merge' && isSingle(type)
        return isMergedSingle
          ? [problem(`${pointer}/on_conflict`, 'not_allowed', `can’t be merge for ${type}: a name can have only one.`)]
          : []
      },
      error => [problem(`${pointer}/type`, 'dns_rule', `${error.message}.`)],
    )
  })
}

/** Records of one name and type are applied together, so they need the same settings. */
function groupProblems({ records }: TemplateContent): FieldProblem[] {
  const first = new Map<string, number>()
  return records.flatMap((record, index) => {
    const key = `${record.name.toLowerCase() || '@'} ${record.type.toUpperCase()}`
    const before = first.get(key)
    if (before === undefined) {
      first.set(key, index)
      return []
    }
    const other = records[before]!
    if (other.ttl !== record.ttl)
      return [
        problem(
          `#/records/${index}/ttl`,
          'dns_rule',
          `must equal the ttl of record ${before}, which is in the same record set (RFC 2181 5.2).`,
        ),
      ]
    if (record.type.toUpperCase() !== 'TXT' && (other.on_conflict ?? 'fail') !== (record.on_conflict ?? 'fail'))
      return [
        problem(
          `#/records/${index}/on_conflict`,
          'conflict',
          `must equal the on_conflict of record ${before}, which is in the same record set.`,
        ),
      ]
    return []
  })
}

// From RFC 5737, RFC 3849 and RFC 2606.
const samples: Partial<Record<TemplateVariable['type'], string>> = {
  ip: '192.0.2.1',
  ipv6: '2001:db8::1',
  host: 'host.example.net',
}
const samplePlace = { zone: 'example.com', host: '@' }

function sampleProblems(content: TemplateContent): FieldProblem[] {
  const values: Record<string, string> = { zone: samplePlace.zone, host: samplePlace.host, fqdn: samplePlace.zone }
  for (const { name, type, default: fallback, values: choices } of content.variables) {
    const value = fallback === undefined || fallback === '' ? (choices?.[0] ?? samples[type]) : String(fallback)
    if (value !== undefined) values[name] = value
  }
  return content.records.flatMap((record, index) =>
    textsOf(record)
      .flatMap(({ text }) => variablesIn(text))
      .every(name => Object.hasOwn(values, name))
      ? sampleProblem(content, record, index, values)
      : [],
  )
}

function sampleProblem(content: TemplateContent, record: TemplateRecord, index: number, values: Settled): FieldProblem[] {
  const rendered = renderRecord(content, record, index, samplePlace, values)
  if ('problem' in rendered) return [rendered.problem]
  if (record.on_conflict !== 'merge' || rendered.text === null) return []
  const pointer = `#/records/${index}/on_conflict`
  if (isSpf(rendered.text))
    return spfTerms(rendered.text).some(term => /^redirect=/i.test(term))
      ? [problem(pointer, 'not_allowed', 'can’t be merge for an SPF record with redirect=: a record can have only one redirect.')]
      : []
  return tagOf(rendered.text) === null
    ? []
    : [problem(pointer, 'not_allowed', `can’t be merge for v=${tagOf(rendered.text)}: a name can have only one.`)]
}
