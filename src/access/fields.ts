import type { TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Words } from '../core/shapes'
import type { Route } from './route'

// What no caller chooses: it comes with `expand`, and with a replay.
const unchosen = new Set(['expanded', 'secret_shown_before'])

/** The shape of the resource that an answer shows, once or as the items of a list; null where it shows none. */
export function resourceOf(answer: TSchema | undefined): TObject | null {
  const items = (answer?.properties as Record<string, TSchema> | undefined)?.data?.items as TObject | undefined
  const resource = items ?? answer
  return resource?.properties ? (resource as TObject) : null
}

/**
 * The query parameter `fields` of an operation that reads resources: which of their members to send.
 * @returns nothing for operations that read none, or are called with a secret instead of a login
 */
export function fieldsParameter(spec: Pick<Route, 'method' | 'guard' | 'answer' | 'streams'>): Record<string, TSchema> {
  const resource = resourceOf(spec.answer)
  if (spec.method !== 'GET' || spec.guard === 'anyone' || spec.guard === 'ingest' || spec.streams || !resource) return {}
  const names = Object.keys(resource.properties).filter(name => !unchosen.has(name))
  const kept = names.includes('id') ? ' `id` is always sent.' : ''
  return {
    fields: Type.Optional(
      Type.Array(Words(names), {
        minItems: 1,
        maxItems: names.length,
        uniqueItems: true,
        description:
          `Only these members of the resource.${kept} The schema of the answer is that of the whole resource: with this parameter ` +
          'the members that were not named are missing, those it requires too.',
      }),
    ),
  }
}

/** An answer of the given shape with only the members that were asked for, and `id`; what was expanded stays. */
export function withFields(answer: TSchema | undefined, result: unknown, fields: readonly string[] | undefined): unknown {
  if (!fields || typeof result !== 'object' || result === null) return result
  const wanted = new Set([...fields, 'id', 'expanded'])
  const pick = (resource: object) => Object.fromEntries(Object.entries(resource).filter(([name]) => wanted.has(name)))
  return resourceOf(answer) === answer ? pick(result) : { ...result, data: (result as { data: object[] }).data.map(pick) }
}
