import { DnsFormatError } from './format-error'
import { linesOf, type Word, type Words } from './words'

/** Maximum number of records that `$GENERATE` may create per zone file. */
export const GENERATED_MAX = 65_536

// BIND counts widths in characters; no label is longer than 63.
const WIDTH_MAX = 255

/**
 * Expands `$GENERATE start-stop[/step] name [ttl] [class] type value` (BIND 9 reference manual, “The $GENERATE Directive”) to lines of
 * words. In name and value, `$` is the number, `${offset,width,base}` formats it with the bases d, o, x, X, n and N, and `\$` is a dollar
 * sign.
 * @param words the arguments of the directive
 * @param max maximum number of lines
 * @throws DnsFormatError
 */
export function* generatedLines(words: Words, max: number): Generator<Word[]> {
  const { start, stop, step } = rangeOf(words.next().text)
  const count = Math.floor((stop - start) / step) + 1
  if (count > max) throw new DnsFormatError(`$GENERATE must create at most ${GENERATED_MAX} records in a file`)
  const pattern: Word[] = []
  while (words.left > 0) pattern.push(words.next())
  const template = opened(pattern)
  for (let number = start; number <= stop; number += step) {
    yield template.map(word => (word.text.includes('$') ? { ...word, text: substituted(word.text, number) } : word))
  }
}

function rangeOf(text: string): { start: number; stop: number; step: number } {
  const [, start, stop, step = '1'] = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text) ?? []
  const range = { start: Number(start), stop: Number(stop), step: Number(step) }
  if (start === undefined || range.start > range.stop || range.stop > 0x7fffffff || range.step === 0) {
    throw new DnsFormatError('$GENERATE must start with a range such as 1-254 or 0-100/10')
  }
  return range
}

/** Joins a value with several fields into one quoted word; for TXT, the quotes belong to its string. */
function opened(pattern: Word[]): Word[] {
  const value = pattern.at(-1)
  const type = pattern.at(-2)
  if (!value?.quoted || type === undefined || type.quoted || /^(TXT|SPF)$/i.test(type.text)) return pattern
  const inside = [...linesOf(value.text)].flatMap(line => line.words)
  return [...pattern.slice(0, -1), ...inside]
}

const substituted = (text: string, number: number): string =>
  text.replace(/\\[^]|\$\$|\$\{([^}]*)\}|\$/g, (match, form?: string) => {
    if (match.startsWith('\\')) return match
    if (match === '$$') return '\\$'
    return form === undefined ? String(number) : formed(form, number)
  })

function formed(form: string, number: number): string {
  const [, offset, width = '0', base = 'd'] = /^([+-]?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(form) ?? []
  const value = number + Number(offset)
  if (offset === undefined || Number(width) > WIDTH_MAX || value < 0) {
    throw new DnsFormatError(
      `$GENERATE must use modifiers such as \${0,3,d} with a non-negative number, not \${${form.slice(0, 32)}}`,
    )
  }
  if (base === 'n' || base === 'N') return nibbles(value, Number(width), base === 'N')
  const digits = value.toString(base === 'd' ? 10 : base === 'o' ? 8 : 16).padStart(Number(width), '0')
  return base === 'X' ? digits.toUpperCase() : digits
}

/** Hexadecimal digits from the right separated by dots, as in ip6.arpa; the dots count towards the width. */
function nibbles(value: number, width: number, upper: boolean): string {
  const digits = [...value.toString(16).padStart(Math.ceil(width / 2), '0')].toReversed().join('.')
  return upper ? digits.toUpperCase() : digits
}
