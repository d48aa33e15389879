import { sql, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { isPostgres } from './dialect'

/**
 * Condition: the column contains the text, in upper or lower case. `lower` can't be used: SQLite, and PostgreSQL with the C locale,
 * only know the letters of ASCII.
 * @param isPlain whether the text and others with the same SQL text contain only ASCII
 */
export function containsText(column: SQLiteColumn, text: string, isPlain: boolean, bind: (value: unknown) => SQL): SQL {
  if (isPostgres) {
    const matches = sql`${column} ~ ${bind(eachCharacter(text, /[!-/:-@[-`{-~]/, one => `\\${one}`))}`
    if (!isPlain) return matches
    // A regular expression takes several times as long. Only values with other letters than those of ASCII need it.
    const like = bind(`%${text.replace(/[%_\\]/g, '\\$&')}%`)
    return sql`(${column} ilike ${like} or (octet_length(${column}) <> length(${column}) and ${matches}))`
  }
  return sql`${column} glob ${bind(`*${eachCharacter(text, /[*?[]/, one => `[${one}]`)}*`)}`
}

/** Whether a text contains only ASCII. */
export const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length

/** Makes a pattern with a set for each letter that has several forms. */
const eachCharacter = (text: string, special: RegExp, escaped: (one: string) => string): string =>
  [...text]
    .map(one => {
      const forms = formsOf(one)
      if (forms.length > 1) return `[${forms.join('')}]`
      return special.test(one) ? escaped(one) : one
    })
    .join('')

// Letters with more than two forms, and whose other form has several letters.
const irregular = ['ßẞ', 'σςΣ', 'kK\u{212a}', 'å\u{c5}\u{212b}', 'ω\u{3a9}\u{2126}', 'μ\u{b5}\u{39c}']

function formsOf(letter: string): string[] {
  const forms = irregular.find(one => one.includes(letter)) ?? letter.toLowerCase() + letter.toUpperCase()
  const distinct = [...new Set(forms)]
  // Some letters have another case with several letters, such as `ŉ`.
  return distinct.length > 2 && !irregular.includes(forms) ? [letter] : distinct
}
