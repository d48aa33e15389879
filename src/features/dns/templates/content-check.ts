import { regexOf, RegexRefused } from '../../../core/regex'
import { DnsFormatError } from '../../../core/dns/format-error'
import type { FieldProblem } from '../../../core/problem'
import { typeOf } from '../record-values'
import { isSpf, spfTerms } from '../spf'
import type { TemplateContent, TemplateRecord, TemplateVariable } from './content'
import { builtinVariables, PlaceholderError, textsIn, variablesIn } from './placeholders'
import { renderRecord } from './render'
import { isSingle, tagOf } from './rivals'
import { valueOfVariable, type Settled } from './variables'

// Each version of a template is kept.
const mostOctets = 128 * 1024

/**
 * What is wrong with a template whatever zone it is applied to: its variables, what records use of them, and the values of the
 * records that can be known by samples.
 */
export function contentProblems(content: TemplateContent): FieldProblem[] {
  if (Buffer.byteLength(JSON.stringify(content)) > mostOctets)
    return [{ pointer: '#/records', code: 'too_large', detail: `must take at most ${mostOctets / 1024} KiB with the variables.` }]
  const problems = [...variableProblems(content.variables), ...usageProblems(content), ...recordProblems(content)]
  // What is known to be wrong would be told again, in other words.
  return problems.length > 0 ? problems : [...sampleProblems(content), ...groupProblems(content)]
}

const wrong = (pointer: string, code: string, detail: string): FieldProblem => ({ pointer, code, detail })

function variableProblems(variables: readonly TemplateVariable[]): FieldProblem[] {
  const seen = new Set<string>()
  return variables.flatMap((variable, place) => {
    const pointer = `#/variables/${place}`
    const { name, type } = variable
    const problems: FieldProblem[] = []
    if (seen.has(name)) problems.push(wrong(`${pointer}/name`, 'not_unique', `must not be declared twice: ${name}.`))
    seen.add(name)
    if (Object.hasOwn(builtinVariables, name) || name === 'server' || name === 'dynamic')
      problems.push(wrong(`${pointer}/name`, 'reserved', `must not be ${name}, which the hub itself gives a value.`))
    if (type === 'enum' && !variable.values)
      problems.push(wrong(`${pointer}/values`, 'required', 'is required for a variable of the type enum.'))
    if (type !== 'enum' && variable.values)
      problems.push(wrong(`${pointer}/values`, 'not_allowed', 'goes with the type enum alone.'))
    if (variable.values && new Set(variable.values).size < variable.values.length)
      problems.push(wrong(`${pointer}/values`, 'not_unique', 'must not name a value twice.'))
    if (variable.pattern !== undefined) problems.push(...patternProblems(variable, pointer))
    if (problems.length === 0 && variable.default !== undefined && variable.default !== '') {
      const read = valueOfVariable(variable, variable.default)
      if ('rule' in read) problems.push(wrong(`${pointer}/default`, 'invalid_value', `must ${read.rule}.`))
    }
    return problems
  })
}

function patternProblems({ type, pattern }: TemplateVariable, pointer: string): FieldProblem[] {
  if (type !== 'string') return [wrong(`${pointer}/pattern`, 'not_allowed', 'goes with the type string alone.')]
  try {
    regexOf(pattern!)
    return []
  } catch (error) {
    if (error instanceof RegexRefused) return [wrong(`${pointer}/pattern`, 'pattern', `must ${error.message}.`)]
    throw error
  }
}

/** Every text of a record in which variables may be, by where it stands. */
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
        found.push(wrong(at, 'placeholder', `must ${error.message}.`))
      }
    }
    return found
  })
  if (problems.length > 0) return problems
  return variables.flatMap(({ name }, place) =>
    used.has(name) ? [] : [wrong(`#/variables/${place}`, 'unused', `must be used by a record: ${name} is in none.`)],
  )
}

const unknownVariable = (
  pointer: string,
  index: number,
  { type }: TemplateRecord,
  name: string,
  declared: ReadonlySet<string>,
): FieldProblem =>
  wrong(
    pointer,
    'unknown_variable',
    `must use variables of the template: record ${index} (${type}) has ${name.slice(0, 60)}, and there are ` +
      `${[...declared, ...Object.keys(builtinVariables)].slice(0, 20).join(', ')}.`,
  )

function recordProblems({ records }: TemplateContent): FieldProblem[] {
  return records.flatMap((record, index) => {
    const pointer = `#/records/${index}`
    if (record.content === undefined && record.fields === undefined)
      return [wrong(`${pointer}/content`, 'required', 'is required: the value as text, or as `fields`.')]
    if (record.content !== undefined && record.fields !== undefined)
      return [wrong(`${pointer}/content`, 'not_allowed', 'does not go with `fields`: give the value once.')]
    try {
      const type = typeOf(record.type)
      if (record.on_conflict === 'merge' && isSingle(type))
        return [wrong(`${pointer}/on_conflict`, 'not_allowed', `must not be merge for ${type}, of which a name has one.`)]
      return []
    } catch (error) {
      if (error instanceof DnsFormatError) return [wrong(`${pointer}/type`, 'dns_rule', `${error.message}.`)]
      throw error
    }
  })
}

/** Records of one name and type are placed as one. */
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
        wrong(
          `#/records/${index}/ttl`,
          'dns_rule',
          `must be that of record ${before}, of the same name and type (RFC 2181 5.2).`,
        ),
      ]
    if (record.type.toUpperCase() !== 'TXT' && (other.on_conflict ?? 'fail') !== (record.on_conflict ?? 'fail'))
      return [wrong(`#/records/${index}/on_conflict`, 'conflict', `must be that of record ${before}, of the same name and type.`)]
    return []
  })
}

// Of RFC 5737, RFC 3849 and RFC 2606.
const samples: Partial<Record<TemplateVariable['type'], string>> = {
  ip: '192.0.2.1',
  ipv6: '2001:db8::1',
  host: 'host.example.net',
}
const samplePlace = { zone: 'example.com', host: '@' }

function sampleProblems(content: TemplateContent): FieldProblem[] {
  const values: Record<string, string> = { zone: samplePlace.zone, host: samplePlace.host, fqdn: samplePlace.zone }
  for (const { name, type, default: fallback, values: words } of content.variables) {
    const value = fallback === undefined || fallback === '' ? (words?.[0] ?? samples[type]) : String(fallback)
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
      ? [wrong(pointer, 'not_allowed', 'must not be merge for an SPF record with redirect=, of which there can be one.')]
      : []
  return tagOf(rendered.text) === null
    ? []
    : [wrong(pointer, 'not_allowed', `must not be merge for v=${tagOf(rendered.text)}, of which a name has one.`)]
}
