import type { SchemaOptions, Static, TSchema, TUnsafe } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'

/** Pieces that the shapes of all resources are made of. A shape with `$id` becomes a component of the OpenAPI document. */

/** Keyword of a union whose branches are told apart by one member, so that an error speaks of the branch that was meant. */
export const discriminator = 'x-discriminator'

/** A shape whose members are all there are. */
export const Shape = <T extends Parameters<typeof Type.Object>[0]>(members: T, options: SchemaOptions = {}) =>
  Type.Object(members, { additionalProperties: false, ...options })

export const Nullable = <T extends TSchema>(schema: T, options: SchemaOptions = {}) => Type.Union([schema, Type.Null()], options)

/** One of these words, typed as their union. */
export const Words = <const T extends readonly string[]>(words: T, options: SchemaOptions = {}) =>
  Type.Union(
    words.map(word => Type.Literal(word)),
    options,
  ) as unknown as TUnsafe<T[number]>

export const Instant = (options: SchemaOptions = {}) => Type.String({ format: 'date-time', ...options })
export const MaybeInstant = (options: SchemaOptions = {}) => Nullable(Type.String({ format: 'date-time' }), options)

/**
 * Text without control characters, those of C1 and the line ends of Unicode included: NUL is refused by PostgreSQL, line ends would
 * break logs and headers, and terminals obey the rest. Not blank where it is required.
 */
export const Line = (options: SchemaOptions & { minLength?: number; maxLength: number }) =>
  Type.String(
    options.minLength
      ? {
          pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
          'x-rule': 'must be one line without control characters, and not blank.',
          ...options,
        }
      : {
          pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
          'x-rule': 'must be one line without control characters.',
          ...options,
        },
  )
/** Text of several lines; NUL alone is refused. */
export const Prose = (options: SchemaOptions & { maxLength: number }) =>
  Type.String({ pattern: '^[^\\u0000]*$', 'x-rule': 'must not hold a NUL character.', ...options })

/** One of {@link Tags}. */
export const Tag = Type.String({
  pattern: '^[a-z0-9][a-z0-9_.:-]{0,49}$',
  'x-rule': 'must be at most 50 lower-case letters, digits and _ . : - and begin with a letter or digit.',
})
/** Labels that people give to resources. */
export const Tags = Type.Array(Tag, { maxItems: 20, uniqueItems: true, description: 'Labels to filter by.' })

/** The member `expanded` of a resource: what can be sent along with it, each under the name of the relation. */
export const Expanded = (related: Record<string, TSchema>) =>
  Type.Optional(
    Shape(Object.fromEntries(Object.entries(related).map(([name, schema]) => [name, Type.Optional(Nullable(schema))])), {
      description: 'Related resources, present with `expand` alone and only those asked for. Null: gone, or not to be seen.',
    }),
  )

export const Version = Type.Integer({ minimum: 1, description: 'Grows with each edit; part of the ETag.' })

/** `created_at`, `updated_at` and `version`, which every resource that can change has. */
export const editable = {
  version: Version,
  created_at: Instant({ description: 'When it was made.' }),
  updated_at: Instant({ description: 'When it was last edited.' }),
}

export const Pagination = Shape(
  {
    has_more: Type.Boolean({ description: 'Whether a further page exists.' }),
    next_cursor: Nullable(Type.String(), { description: 'Value of `cursor` for the next page; null on the last one.' }),
    total: Type.Optional(Type.Integer({ description: 'Number of items, counted up to 10,000; present with `include=total`.' })),
  },
  { $id: 'Pagination', description: 'Where a page stands in its list.' },
)

/** The list of a resource: `{data: [...], pagination}`. */
export function ListOf<T extends TSchema>(item: T) {
  return Shape(
    { data: Type.Array(item), pagination: Pagination },
    { $id: `${item.$id}List`, description: `A page of ${item.$id} items.` },
  )
}

export type Pagination = Static<typeof Pagination>
export interface Page<T> {
  data: T[]
  pagination: Pagination
}
