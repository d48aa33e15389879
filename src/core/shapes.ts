import type { SchemaOptions, Static, TProperties, TSchema, TUnsafe } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'

/** Building blocks of the schemas of all resources. A schema with `$id` becomes a component of the OpenAPI document. */

/** Schema keyword of a union with a discriminator field: errors then refer to the branch selected by that field. */
export const discriminator = 'x-discriminator'

/** Schema keyword of an option that forms show in a group of advanced settings, with the label of the group. */
export const optionGroup = 'x-group'

/** Options that forms show in a group of advanced settings. The others are common ones. @param label of the group */
export const grouped = <T extends TProperties>(label: string, options: T): T =>
  Object.fromEntries(Object.entries(options).map(([name, schema]) => [name, { ...schema, [optionGroup]: label }])) as unknown as T

/** Schema keyword with the name under which the OpenAPI document lists a query parameter that many operations share. */
export const parameterName = 'x-parameter'

/** An object schema without additional properties. */
export const Shape = <T extends Parameters<typeof Type.Object>[0]>(members: T, options: SchemaOptions = {}) =>
  Type.Object(members, { additionalProperties: false, ...options })

export const Nullable = <T extends TSchema>(schema: T, options: SchemaOptions = {}) => Type.Union([schema, Type.Null()], options)

/** A string enum. */
export const Words = <const T extends readonly string[]>(words: T, options: SchemaOptions = {}) =>
  Type.Union(
    words.map(word => Type.Literal(word)),
    options,
  ) as unknown as TUnsafe<T[number]>

export const Instant = (options: SchemaOptions = {}) => Type.String({ format: 'date-time', ...options })
export const NullableInstant = (options: SchemaOptions = {}) => Nullable(Type.String({ format: 'date-time' }), options)

/**
 * Single-line text without control characters (including C1) and Unicode line separators: PostgreSQL rejects NUL, line breaks
 * would break logs and headers, and terminals interpret the rest. Must not be blank if it has a minimum length.
 */
export const Line = (options: SchemaOptions & { minLength?: number; maxLength: number }) =>
  Type.String(
    options.minLength
      ? {
          pattern: '^(?=.*\\S)[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
          'x-rule': 'must be a single line without control characters, and not blank.',
          ...options,
        }
      : {
          pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
          'x-rule': 'must be a single line without control characters.',
          ...options,
        },
  )
/** Multi-line text; only NUL is not allowed. */
export const Prose = (options: SchemaOptions & { maxLength: number }) =>
  Type.String({ pattern: '^[^\\u0000]*$', 'x-rule': 'must not contain NUL characters.', ...options })

/** A single tag. */
export const Tag = Type.String({
  pattern: '^[a-z0-9][a-z0-9_.:-]{0,49}$',
  'x-rule':
    'must start with a lowercase letter or digit, and contain only lowercase letters, digits, and _ . : - (at most 50 characters).',
})
/** User-defined tags of a resource. */
export const Tags = Type.Array(Tag, { maxItems: 20, uniqueItems: true, description: 'Tags for filtering.' })

/** The `expanded` field of a resource: related resources by the name of the relation. */
export const Expanded = (related: Record<string, TSchema>) =>
  Type.Optional(
    Shape(
      Object.fromEntries(
        Object.entries(related).map(([name, schema]) => [
          name,
          Type.Optional(Nullable(schema, { description: schema.description })),
        ]),
      ),
      {
        description:
          'Related resources requested with `expand`; omitted otherwise. Null if there is no related resource, if it was deleted, or if you have no access to it.',
      },
    ),
  )

const Version = Type.Integer({ minimum: 1, description: 'Increases with each update. Part of the ETag.' })

/** The fields `version`, `created_at` and `updated_at` of all mutable resources. */
export const editable = {
  version: Version,
  created_at: Instant({ description: 'When the resource was created.' }),
  updated_at: Instant({ description: 'When the resource was last updated.' }),
}

const Pagination = Shape(
  {
    has_more: Type.Boolean({
      description:
        'Whether there are more pages. A page can have fewer items than `limit`, or none, even if there are more pages.',
    }),
    next_cursor: Nullable(Type.String(), {
      description:
        'Send as `cursor` to get the next page, or as `after` in the event feed. Null on the last page, but never null in the event feed.',
    }),
    total: Type.Optional(
      Type.Integer({
        description:
          'Number of items on all pages, counted up to 10,000. If a filter has no index, only the first 10,000 items of the list are searched for matches, so the number can be too low. Included only with `include=total`.',
      }),
    ),
  },
  { $id: 'Pagination', description: 'Whether the list has more pages, and how to get the next one.' },
)

/** Fields that refer to a resource. */
export const resourceFields = {
  type: Type.String({ description: 'Type of the resource.' }),
  id: Type.String({ description: 'ID of the resource.' }),
}
export const namedResourceFields = {
  ...resourceFields,
  name: Nullable(Type.String(), { description: 'Name of the resource; null if it has none.' }),
}
/** Fields that refer to a user, token or system job. */
export const actorFields = {
  type: Type.String({ description: 'Type of the actor, such as `user`, `token`, or `system`.' }),
  id: Type.String({ description: 'ID of the user or token; for `system`, the name of the job.' }),
  name: Nullable(Type.String(), { description: 'Name of the actor; null if it has none.' }),
}

/** The plural noun for the name of a schema: `WebhookDelivery` becomes `webhook deliveries`. */
const pluralOf = (name: string): string =>
  `${name
    .replace(/Info$/, '')
    .replace(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase()
    .replace(/\b(?:dns|ssh|tsig)\b/g, word => word.toUpperCase())}s`.replace(/([^aeiou])ys$/, '$1ies')

/** A page of a list: `{data: [...], pagination}`. */
export function ListOf<T extends TSchema>(item: T) {
  return Shape(
    { data: Type.Array(item, { description: 'Items of the page.' }), pagination: Pagination },
    { $id: `${item.$id}List`, description: `A page of ${pluralOf(item.$id!)}.` },
  )
}

type Pagination = Static<typeof Pagination>
export interface Page<T> {
  data: T[]
  pagination: Pagination
}

const SinglePage = Shape(
  {
    has_more: Type.Boolean({ description: 'Always false: the list has a single page.' }),
    next_cursor: Nullable(Type.String(), { description: 'Always null.' }),
  },
  { $id: 'SinglePage', description: 'The list has a single page. The fields are the same as in other lists.' },
)

/** A list that is always on one page, with the fields of other lists. */
export function SinglePageOf<T extends TSchema, More extends TProperties = {}>(item: T, more: More = {} as More) {
  return Shape(
    { data: Type.Array(item, { description: 'All items.' }), pagination: SinglePage, ...more },
    { $id: `${item.$id}List`, description: `All ${pluralOf(item.$id!)}.` },
  )
}

/** A list that always fits on one page. */
export const onePage = <T>(data: T[]): Page<T> => ({ data, pagination: { has_more: false, next_cursor: null } })
