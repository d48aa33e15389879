import { Type, type Static, type TNull, type TOptional, type TSchema, type TUnion } from '@sinclair/typebox'
import type { $Type, NotNull } from 'drizzle-orm'
import { instant } from './clock'
import { flag, int, json, text } from './db/columns'
import { propertyOf, type PropertyName } from './property-name'
import { Nullable } from './shapes'

/** A member of a resource that clients set and that is stored as it is. Members of a resource are declared once, by their name in the API. */
interface Member<S extends TSchema = TSchema> {
  schema: S
  /** Its schema in requests, if it differs from the one in responses. */
  input?: TSchema
  /** Whether a new resource must have it. */
  required?: boolean
  /** Its value in a new resource that does not have it; null if there is no default. */
  default?: Static<S>
  /** Whether null in an update restores the default. */
  clearable?: boolean
  /** Whether it can’t be updated. */
  fixed?: boolean
}
type Members = Readonly<Record<string, Member>>
type StaticOf<M extends Member> = Static<M['schema']>
type InputOf<M extends Member> = M extends { input: infer S extends TSchema } ? S : M['schema']

/** Declares the members of a resource. */
export const members = <const M extends Members>(declared: M): M => declared

/** The members of a response. */
export const viewMembers = <M extends Members>(of: M) => map(of, one => one.schema) as { [K in keyof M]: M[K]['schema'] }

/** The members of a request that creates a resource, with their defaults. */
export const inputMembers = <M extends Members>(of: M) =>
  map(of, one =>
    one.required ? inputOf(one) : Type.Optional(hasShownDefault(one) ? { ...inputOf(one), default: one.default } : inputOf(one)),
  ) as {
    [K in keyof M]: M[K] extends { required: true } ? InputOf<M[K]> : TOptional<InputOf<M[K]>>
  }

/** The members of a request that updates a resource. */
export const patchMembers = <M extends Members>(of: M) =>
  map(Object.fromEntries(Object.entries(of).filter(([, one]) => !one.fixed)) as M, one =>
    Type.Optional(one.clearable ? Nullable(inputOf(one)) : inputOf(one)),
  ) as {
    [K in keyof M as M[K] extends { fixed: true } ? never : K]: TOptional<
      M[K] extends { clearable: true } ? TUnion<[InputOf<M[K]>, TNull]> : InputOf<M[K]>
    >
  }

const inputOf = (one: Member): TSchema => one.input ?? one.schema

/** Client generators don’t support objects as defaults. Those are described instead. */
const hasShownDefault = ({ default: value }: Member): boolean =>
  value !== undefined && (typeof value !== 'object' || value === null || Array.isArray(value))

type Base<V> = [V] extends [string]
  ? $Type<ReturnType<typeof text>, V>
  : [V] extends [number]
    ? ReturnType<typeof int>
    : [V] extends [boolean]
      ? ReturnType<typeof flag>
      : ReturnType<typeof json<V>>
type ColumnOf<V> = null extends V ? Base<NonNullable<V>> : NotNull<Base<V>>

/** The columns: text, integer, or boolean as the schema, and JSON for everything else. Null only if the schema allows it. */
export const memberColumns = <M extends Members>(of: M) =>
  Object.fromEntries(
    Object.entries(of).map(([name, { schema }]) => {
      const types = typesOf(schema)
      const column = columnFor(types.filter(type => type !== 'null'))(name)
      return [propertyOf(name), types.includes('null') ? column : column.notNull()]
    }),
  ) as { [K in keyof M as PropertyName<K & string>]: ColumnOf<StaticOf<M[K]>> }

const columnFor = (types: string[]) =>
  types.every(type => type === 'string')
    ? text
    : types.every(type => type === 'integer')
      ? int
      : types.every(type => type === 'boolean')
        ? flag
        : json<unknown>

/** The JSON types of the values of a schema. */
const typesOf = (schema: TSchema): string[] =>
  schema.anyOf
    ? (schema.anyOf as TSchema[]).flatMap(typesOf)
    : 'const' in schema
      ? [typeof schema.const]
      : [schema.type as string]

/** The columns of the members of a row. */
export type MemberValues<M extends Members> = { [K in keyof M as PropertyName<K & string>]: StaticOf<M[K]> }

/** The members of a row as the API returns them. */
export const memberView = <M extends Members>(of: M, row: MemberValues<M>) =>
  map(of, (_, name) => row[propertyOf(name) as keyof MemberValues<M>]) as { [K in keyof M]: StaticOf<M[K]> }

/** Picks the columns of the members from a row. */
export const memberValues = <M extends Members>(of: M, row: MemberValues<M>): MemberValues<M> =>
  Object.fromEntries(
    Object.keys(of).map(name => [propertyOf(name), row[propertyOf(name) as keyof MemberValues<M>]]),
  ) as MemberValues<M>

/** The fields of `editable` as the API returns them. */
export const editableView = (row: { version: number; createdAt: number; updatedAt: number }) => ({
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})

/** The columns of a new resource, with defaults for absent members. */
export const inputColumns = <M extends Members>(of: M, input: { [K in keyof M]?: StaticOf<M[K]> }): MemberValues<M> =>
  Object.fromEntries(
    Object.entries(of).map(([name, one]) => [propertyOf(name), input[name] === undefined ? (one.default ?? null) : input[name]]),
  ) as MemberValues<M>

/** The columns that an update sets. */
export const patchColumns = <M extends Members>(
  of: M,
  patch: { [K in keyof M]?: StaticOf<M[K]> | null },
): Partial<MemberValues<M>> =>
  Object.fromEntries(
    Object.entries(of).flatMap(([name, one]) => {
      const value = patch[name]
      if (value === undefined) return []
      return [[propertyOf(name), value === null && one.clearable ? (one.default ?? null) : value]]
    }),
  ) as Partial<MemberValues<M>>

const map = <M extends Members>(of: M, fn: (one: Member, name: string) => unknown) =>
  Object.fromEntries(Object.entries(of).map(([name, one]) => [name, fn(one, name)]))
