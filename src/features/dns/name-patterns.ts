import { Type } from '@sinclair/typebox'
import { sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { DnsFormatError } from '../../core/dns/format-error'
import { toAscii } from '../../core/dns/name'
import type { Filter } from '../../core/list'
import { badParameter } from '../../core/query'

export type Place = (value: unknown) => SQL

/** A filter as it was given: the whole text, or its beginning. */
export interface Pattern {
  text: string
  isPrefix: boolean
}

const patternRule = 'must have "*" at its end alone.'

/** @throws Problem 400 for an asterisk elsewhere than at the end */
export function patternOf(parameter: string, value: string): Pattern {
  const isPrefix = value.endsWith('*')
  const text = isPrefix ? value.slice(0, -1) : value
  if (text.includes('*')) throw badParameter(parameter, patternRule)
  return { text, isPrefix }
}

/** A name in A-labels. @throws Problem 400 */
export function asciiName(text: string): string {
  try {
    return toAscii(text)
  } catch (error) {
    if (error instanceof DnsFormatError) throw badParameter('name', `${error.rule}.`)
    throw error
  }
}

/** Equal to a text, or at least it and before every text that does not begin with it. */
export function fits(column: SQLiteColumn, { text, isPrefix }: Pattern, place: Place): SQL {
  if (!isPrefix) return sql`${column} = ${place(text)}`
  // Only printable ASCII is in these columns but for content, where nothing is beyond the last character of Unicode.
  return sql`(${column} >= ${place(text)} and ${column} < ${place(`${text}\u{10ffff}`)})`
}

/** A text, or the beginning of one: which of them it is changes the query. */
export const patternFilter = (given: {
  maxLength: number
  description: string
  where(value: string, place: Place): SQL
}): Filter => ({
  schema: Type.String({ minLength: 1, maxLength: given.maxLength, description: given.description }),
  where: (value, place) => given.where(value as string, place),
  variant: value => {
    const text = value as string
    return text.startsWith('*.') ? 'below' : text.endsWith('*') && text !== '*' ? 'prefix' : 'whole'
  },
})
