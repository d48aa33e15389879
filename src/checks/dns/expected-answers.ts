import { DnsFormatError } from '../../dns/format-error'
import type { ResourceRecord } from '../../dns/message'
import { rdataOfContent, textOf, txtValue } from '../../dns/rdata'
import { InvalidCheckInput } from '../check'
import { EvaluationBudget } from '../conditions/budget'
import { matches } from '../pattern'
import { quoted } from '../buffered-connection'

/**
 * Compares the records of an answer with the expected values. Returns what is wrong, in words; null if nothing is.
 * @throws TooExpensive
 * @param type record type, in capitals
 * @param expected values as entered; if empty, any records match
 */
export function answerMismatch(
  type: string,
  records: readonly ResourceRecord[],
  expected: readonly string[],
  match: 'any' | 'all' | 'exact',
): string | null {
  if (expected.length === 0) return null
  const answers = records.map(record => formsOf(type, record.rdata))
  const patterns = expected.map(text => expectedForms(type, text))
  const budget = new EvaluationBudget()
  const fits = (answer: string[], pattern: string[]) =>
    answer.some(form =>
      pattern.some(pattern => {
        budget.check()
        return matches(form, pattern)
      }),
    )
  const missing = expected.filter((_, at) => !answers.some(answer => fits(answer, patterns[at]!)))
  const received = answers.length === 0 ? 'no records' : shown(answers.map(([text]) => text!))
  if (match === 'any')
    return missing.length === expected.length ? `received ${received}, expected one of ${shown(expected)}` : null
  if (missing.length > 0) return `received ${received}, expected ${shown(missing)}`
  if (match === 'all') return null
  const unexpected = answers.filter(answer => !patterns.some(pattern => fits(answer, pattern))).map(([text]) => text!)
  return unexpected.length > 0 ? `received unexpected ${shown(unexpected)}` : null
}

/** @throws InvalidCheckInput for values that are not valid for the type */
export function validateExpectedAnswers(type: string, expected: readonly string[]): void {
  for (const [at, text] of expected.entries()) {
    if (text.includes('*')) continue
    try {
      rdataOfContent(type, text, '.')
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error
      throw new InvalidCheckInput(`/options/expected_answers/${at}`, `must be a valid ${type} value, as in a zone file.`)
    }
  }
}

/** The text forms of a record; the zone file form first. */
function formsOf(type: string, rdata: Uint8Array): string[] {
  const text = textOf(type, rdata)
  const forms = [text, text.replaceAll(/\.(?=\s|$)/g, '')]
  return isText(type) ? [...forms, new TextDecoder().decode(readable(rdata))] : forms
}

/** Valid values are compared in canonical form, values with `*` as they are. */
function expectedForms(type: string, text: string): string[] {
  if (text.includes('*')) return [text]
  try {
    return [textOf(type, rdataOfContent(type, text, '.')), text]
  } catch {
    return [text]
  }
}

function readable(rdata: Uint8Array): Uint8Array {
  try {
    return txtValue(rdata)
  } catch {
    return new Uint8Array()
  }
}

const isText = (type: string): boolean => type === 'TXT' || type === 'SPF'

const shown = (texts: readonly string[]): string =>
  texts.slice(0, 3).map(quoted).join(', ') + (texts.length > 3 ? ' and others' : '')
