import type { TSchema } from '@sinclair/typebox'
import { checkDeprecation, deprecation, type Deprecation } from '../core/deprecation'
import { resourceOf } from './fields'
import type { Route } from './route'

export const deprecatedKinds = ['operation', 'parameter', 'request_member', 'answer_member'] as const

/** A part of an operation that is deprecated. */
export interface Deprecated {
  /** Names it in what is counted: the operationId, and what stands after it. */
  id: string
  kind: (typeof deprecatedKinds)[number]
  spec: Pick<Route, 'operationId' | 'method' | 'path'>
  /** The parameter, the member of the answer, or the pointer to the member of the body; null for the operation itself. */
  name: string | null
  notice: Deprecation
}

const known = new WeakMap<Route, readonly Deprecated[]>()

/** What of an operation is deprecated. @throws BadDeprecation */
export function deprecatedIn(spec: Route): readonly Deprecated[] {
  let found = known.get(spec)
  if (!found) known.set(spec, (found = [...find(spec)]))
  return found
}

/** What of that a request uses. A member of the answer is used unless `fields` leaves it out. */
export function usedBy(spec: Route, query: Record<string, unknown>, body: unknown): Deprecated[] {
  return deprecatedIn(spec).filter(({ kind, name }) => {
    if (kind === 'parameter') return query[name!] !== undefined
    if (kind === 'request_member') return holds(body, name!.split('/').slice(1))
    if (kind === 'answer_member') return !Array.isArray(query.fields) || query.fields.includes(name)
    return true
  })
}

function* find(spec: Route): Generator<Deprecated> {
  const { operationId } = spec
  if (spec.deprecated) {
    checkDeprecation(spec.deprecated)
    yield { id: operationId, kind: 'operation', spec, name: null, notice: spec.deprecated }
  }
  for (const [name, notice] of marked(spec.query))
    yield { id: `${operationId}?${name.slice(1)}`, kind: 'parameter', spec, name: name.slice(1), notice }
  for (const [name, notice] of spec.body ? marked(spec.body, true) : [])
    yield { id: `${operationId}:${name}`, kind: 'request_member', spec, name, notice }
  for (const [name, notice] of marked(resourceOf(spec.answer) ?? undefined))
    yield { id: `${operationId}=${name.slice(1)}`, kind: 'answer_member', spec, name: name.slice(1), notice }
}

/** The members of a shape that are marked, by pointer; `*` stands for each item of an array. */
function marked(shape: TSchema | undefined, deep = false, at = ''): Map<string, Deprecation> {
  const found = new Map<string, Deprecation>()
  for (const [name, member] of Object.entries((shape?.properties ?? {}) as Record<string, TSchema>)) {
    if (member[deprecation]) found.set(`${at}/${name}`, member[deprecation] as Deprecation)
    else if (deep) for (const one of marked(member, true, `${at}/${name}`)) found.set(...one)
  }
  if (!deep) return found
  if (shape?.items) for (const one of marked(shape.items as TSchema, true, `${at}/*`)) found.set(...one)
  for (const branch of (shape?.anyOf ?? []) as TSchema[]) for (const one of marked(branch, true, at)) found.set(...one)
  return found
}

function holds(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path
  if (name === undefined) return value !== undefined
  if (name === '*') return Array.isArray(value) && value.some(one => holds(one, rest))
  return typeof value === 'object' && value !== null && holds((value as Record<string, unknown>)[name], rest)
}
