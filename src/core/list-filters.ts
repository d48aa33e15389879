import { Type, type TSchema } from '@sinclair/typebox'
import { and, or, sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { containsText, isAscii } from './db/contains-text'
import type { Filter } from './listing'
import { propertyOf } from './property-name'
import { parameterName, Words } from './shapes'

/** `?status=a,b`: matches any of the values. */
export const wordsFilter = (column: SQLiteColumn, words: readonly string[], description: string): Filter => ({
  schema: Type.Array(Words(words), { minItems: 1, maxItems: words.length, description }),
  where: (value, bind) => sql`${column} in (${sql.join(distinct(value).map(bind), sql`, `)})`,
  variant: value => distinct(value).join('+'),
  // Each value is looked up on its own, so a repeated one would find its rows again.
  finds: value => ({ equal: column, values: distinct(value) }),
})

const distinct = (value: unknown): string[] => [...new Set(value as string[])].sort()

/** `?id=a,b`: at most 100 ids. */
export const idsFilter = (column: SQLiteColumn): Filter => ({
  schema: Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    minItems: 1,
    maxItems: 100,
    description: 'Only items with these IDs.',
  }),
  where: (value, bind) => sql`${column} in (${sql.join((value as string[]).map(bind), sql`, `)})`,
  variant: value => String((value as string[]).length),
  finds: () => 'few',
})

/** Matches rows whose column is true, or false. */
export const flagFilter = (column: SQLiteColumn, description: string): Filter => ({
  schema: Type.Boolean({ description }),
  where: (value, bind) => sql`${column} = ${bind(value)}`,
  finds: value => ({ equal: column, values: [value] }),
})

/** Matches the exact text. */
export const textFilter = (column: SQLiteColumn, description: string, options: { maxLength?: number } = {}): Filter => ({
  schema: Type.String({ maxLength: options.maxLength ?? 200, description }),
  where: (value, bind) => sql`${column} = ${bind(value)}`,
  finds: value => ({ equal: column, values: [value] }),
})

/** Matches rows whose column, a JSON array of words, contains the value. */
export const containsFilter = (column: SQLiteColumn, schema: TSchema): Filter => ({
  schema,
  where: (value, bind) => containsWord(column, value as string, bind),
})

/** Whether a column, a JSON array of words, contains a word. */
export const containsWord = (column: SQLiteColumn, word: string, bind = (value: unknown): SQL => sql`${value}`): SQL =>
  sql`${column} like ${bind(`%"${word.replaceAll('_', '\\_')}"%`)} escape '\\'`

/** `?created_at[gte]=…`: one filter for each comparison, with RFC 3339 times. */
export function timeFilters(field: string, column: SQLiteColumn): Record<string, Filter> {
  const signs = { gt: sql`>`, gte: sql`>=`, lt: sql`<`, lte: sql`<=` } as const
  const words = { gt: 'after', gte: 'at or after', lt: 'before', lte: 'at or before' } as const
  const names = { gt: 'After', gte: 'From', lt: 'Before', lte: 'Until' } as const
  const property = propertyOf(field)
  return Object.fromEntries(
    Object.entries(signs).map(([name, sign]) => [
      `${field}[${name}]`,
      {
        schema: Type.String({
          format: 'date-time',
          description: `Only items with \`${field}\` ${words[name as keyof typeof words]} this time.`,
          [parameterName]: property[0]!.toUpperCase() + property.slice(1) + names[name as keyof typeof names],
        }),
        where: (value: unknown, bind: (value: unknown) => SQL) => sql`${column} ${sign} ${bind(Date.parse(value as string))}`,
        finds: () => ({ range: column }),
      } satisfies Filter,
    ]),
  )
}

const dayMs = 86_400_000

/**
 * Like `timeFilters`, with dates (UTC) or times: `lte` a date includes the whole day.
 * @param unknown value of rows without a time, which are never found
 */
export function dayFilters(field: string, column: SQLiteColumn, unknown: number): Record<string, Filter> {
  const signs = { gt: sql`>=`, gte: sql`>=`, lt: sql`<`, lte: sql`<` } as const
  return Object.fromEntries(
    Object.entries(timeFilters(field, column)).map(([name, filter]) => {
      const comparison = name.slice(field.length + 1, -1) as keyof typeof signs
      return [
        name,
        {
          ...filter,
          schema: Type.String({
            // Not a union, for which some client generators write code that doesn’t compile.
            format: 'date-or-time',
            description: `${(filter.schema.description as string).replace('this time', 'this time, or this date (UTC)')}`,
            [parameterName]: filter.schema[parameterName],
          }),
          where: (value, bind) => {
            const at = Date.parse(value as string)
            // The first millisecond that is found, or the first that no longer is.
            const isAfter = comparison === 'gt' || comparison === 'lte'
            const bound = isAfter ? at + ((value as string).length === 10 ? dayMs : 1) : at
            return sql`(${column} ${signs[comparison]} ${bind(bound)} and ${column} < ${bind(unknown)})`
          },
        } satisfies Filter,
      ]
    }),
  )
}

/** Case-insensitive search for rows with each word of the text in any of the columns. */
export const searchFilter = (columns: SQLiteColumn[], description: string): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: 100, description }),
  where: (value, bind) => containsWords(columns, value as string, bind),
  variant: value => searchVariant(value as string),
})

/** Condition: each word of the text is in any of the columns. */
export const containsWords = (columns: SQLiteColumn[], text: string, bind: (value: unknown) => SQL): SQL =>
  sql`(${and(...searchedWords(text).map(word => or(...columns.map(column => containsText(column, word, isAscii(text), bind)))))})`

// Each number of words has its own prepared query.
const maxWords = 8

/** Identifies the SQL text of `containsWords`. */
export const searchVariant = (text: string): string => `${searchedWords(text).length}${isAscii(text) ? '' : '+'}`

/** The words that a search looks for. Those after the seventh are searched as one text. A text of spaces is a word. */
export function searchedWords(text: string): string[] {
  const words = text.split(/\s+/).filter(Boolean)
  if (words.length === 0) return [text]
  return words.length <= maxWords ? words : [...words.slice(0, maxWords - 1), words.slice(maxWords - 1).join(' ')]
}
