import type { TSchema } from '@sinclair/typebox'
import { checkDeprecation, deprecation, type Deprecation } from '../core/deprecation'
import { resourceOf } from './fields'
import type { Route } from './route-declaration'

export const deprecatedKinds = ['operation', 'parameter', 'request_field', 'response_field'] as const

/** A part of an operation that is deprecated. */
export interface Deprecated {
  /** Key under which uses are counted: the operationId, plus a suffix for the part. */
  id: string
  kind: (typeof deprecatedKinds)[number]
  spec: Pick<Route, 'operationId' | 'method' | 'path'>
  /** Name of the parameter or response field, or pointer to the request field; null for the operation itself. */
  name: string | null
  notice: Deprecation
}

const cache = new WeakMap<Route, readonly Deprecated[]>()

/** The deprecated parts of an operation. @throws InvalidDeprecation */
export function deprecatedIn(spec: Route): readonly Deprecated[] {
  let found = cache.get(spec)
  if (!found) cache.set(spec, (found = [...find(spec)]))
  return found
}

/** The deprecated parts that a request uses. A response field counts as used unless `fields` leaves it out. */
export function usedBy(spec: Route, query: Record<string, unknown>, body: unknown): Deprecated[] {
  return deprecatedIn(spec).filter(({ kind, name }) => {
    if (kind === 'parameter') return query[name!] !== undefined
    if (kind === 'request_field') return hasPath(body, name!.split('/').slice(1))
    if (kind === 'response_field') return !Array.isArray(query.fields) || query.fields.includes(name)
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
    yield { id: `${operationId}:${name}`, kind: 'request_field', spec, name, notice }
  for (const [name, notice] of marked(resourceOf(spec.response) ?? undefined))
    yield { id: `${operationId}=${name.slice(1)}`, kind: 'response_field', spec, name: name.slice(1), notice }
}

/** The fields of a shape that are marked as deprecated, by pointer; `*` stands for each item of an array. */
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

function hasPath(value: unknown, path: readonly string[]): boolean {
  const [name, ...rest] = path
  if (name === undefined) return value !== undefined
  if (name === '*') return Array.isArray(value) && value.some(one => hasPath(one, rest))
  return typeof value === 'object' && value !== null && hasPath((value as Record<string, unknown>)[name], rest)
}
