import type { Static, TObject } from '@sinclair/typebox'
import { Problem, type FieldProblem } from './problem'
import { pointerPart } from './pointer'
import { fieldProblems, isOptional } from './validate'

/**
 * Parses a query string by its schema: numbers and booleans from text, arrays from comma-separated values. Rejects repeated
 * and unknown parameters, and NUL characters, which PostgreSQL can neither store nor compare.
 * @throws Problem 400 `unknown_parameter` or `invalid_parameter`, naming the parameter
 */
export function parseQuery<T extends TObject>(schema: T, search: URLSearchParams): Static<T> {
  const values: Record<string, unknown> = {}
  for (const [name, text] of search) {
    const member = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (!member) throw invalidQuery('unknown_parameter', name, `is not a parameter of this operation${allowed(schema)}.`)
    if (Object.hasOwn(values, name)) throw invalidQuery('invalid_parameter', name, 'must not be repeated.')
    if (text.includes('\0')) throw invalidQuery('invalid_parameter', name, 'must not contain NUL characters.')
    values[name] = read(member.type as string | undefined, text)
  }
  for (const name of requiredIn(schema)) {
    if (!Object.hasOwn(values, name)) throw invalidQuery('invalid_parameter', name, 'is required.')
  }
  const problems = fieldProblems(schema, values, '#/query')
  if (problems.length > 0) throw invalidParameters(problems)
  return values as Static<T>
}

const required = new WeakMap<TObject, readonly string[]>()

function requiredIn(schema: TObject): readonly string[] {
  let names = required.get(schema)
  if (!names) {
    names = Object.entries(schema.properties).flatMap(([name, member]) => (isOptional(member) ? [] : [name]))
    required.set(schema, names)
  }
  return names
}

/** A well-formed parameter with a value that is not supported. */
export const invalidParameter = (name: string, detail: string): Problem => invalidQuery('invalid_parameter', name, detail)

function invalidParameters(errors: FieldProblem[]): Problem {
  return new Problem('invalid_parameter', `${errors[0]!.pointer.replace('#/query/', '')} ${errors[0]!.detail}`, { errors })
}

function invalidQuery(code: 'unknown_parameter' | 'invalid_parameter', name: string, detail: string): Problem {
  return new Problem(code, `${name} ${detail}`, {
    errors: [{ pointer: `#/query/${pointerPart(name)}`, code, detail }],
  })
}

function read(type: string | undefined, text: string): unknown {
  if (type === 'integer') return /^-?\d{1,15}$/.test(text) ? Number(text) : text
  if (type === 'number') return /^-?\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : text
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  if (type === 'array') return text.split(',')
  return text
}

function allowed(schema: TObject): string {
  const names = Object.keys(schema.properties)
  return names.length > 0 ? `; allowed: ${names.join(', ')}` : ', which takes none'
}
