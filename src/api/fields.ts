import type { TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Words } from '../core/shapes'
import type { Route } from './route-declaration'

// Fields that cannot be selected: they depend on `expand` and on idempotent replays.
const alwaysSent = new Set(['expanded', 'secret_shown_before'])

// Sent in addition to the selected fields.
const alwaysShown = new Set(['id', 'expanded'])

/** The shape of the resource in a response, either the response itself or the items of a list; null if there is none. */
export function resourceOf(response: TSchema | undefined): TObject | null {
  const items = (response?.properties as Record<string, TSchema> | undefined)?.data?.items as TObject | undefined
  const resource = items ?? response
  return resource?.properties ? (resource as TObject) : null
}

/**
 * The query parameter `fields` of an operation that reads resources.
 * @returns nothing for other operations, and for those called with a secret instead of a sign-in
 */
export function fieldsParameter(spec: Pick<Route, 'method' | 'guard' | 'response' | 'streams'>): Record<string, TSchema> {
  const resource = resourceOf(spec.response)
  if (spec.method !== 'GET' || spec.guard === 'anyone' || spec.guard === 'ingest' || spec.streams || !resource) return {}
  const names = Object.keys(resource.properties).filter(name => !alwaysSent.has(name))
  const idNote = names.includes('id') ? ' and `id`' : ''
  return {
    fields: Type.Optional(
      Type.Array(Words(names), {
        minItems: 1,
        maxItems: names.length,
        uniqueItems: true,
        description: `Fields to return. If set, the response contains only these fields${idNote}. Default: all fields.`,
      }),
    ),
  }
}

/** Whether the operation has the query parameter `fields`. */
export const takesFields = (spec: Pick<Route, 'method' | 'guard' | 'response' | 'streams'>): boolean =>
  Object.keys(fieldsParameter(spec)).length > 0

/** The shape of a response to a request with `fields`. It differs from the full response: only the `id` of resources is required. */
export function partialShape(response: TSchema): TSchema {
  const resource = resourceOf(response)!
  const partial = {
    ...resource,
    ...named(resource, `${resource.description} With \`fields\`: only the selected fields.`),
    required: ['id'].filter(name => name in resource.properties),
    examples: (resource.examples as object[] | undefined)?.map(example =>
      Object.fromEntries(Object.entries(example).filter(([name], place) => name === 'id' || place < 3)),
    ),
  }
  if (resource === response) return partial
  const { data, ...rest } = response.properties as Record<string, TSchema>
  return {
    ...response,
    ...named(response, `${response.description} With \`fields\`: only the selected fields of each.`),
    properties: { data: { ...data!, items: partial }, ...rest },
    examples: undefined,
  }
}

// A suffix, because some generated clients try the forms of a response in alphabetical order.
const named = ({ $id }: TSchema, description: string) => ($id ? { $id: `${$id}Partial`, description } : {})

/** A response of the given shape with only the selected fields and `id`; `expanded` is kept. */
export function withFields(response: TSchema | undefined, result: unknown, fields: readonly string[] | undefined): unknown {
  if (!fields || typeof result !== 'object' || result === null) return result
  // In the order of the shape.
  const wanted = Object.keys(resourceOf(response)!.properties).filter(name => alwaysShown.has(name) || fields.includes(name))
  const pick = (resource: object) => {
    const picked: Record<string, unknown> = {}
    for (const name of wanted) if (name in resource) picked[name] = (resource as Record<string, unknown>)[name]
    return picked
  }
  return resourceOf(response) === response ? pick(result) : { ...result, data: (result as { data: object[] }).data.map(pick) }
}
