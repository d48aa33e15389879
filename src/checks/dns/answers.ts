import { DnsFormatError } from '../../core/dns/format-error'
import type { ResourceRecord } from '../../core/dns/message'
import { rdataOfContent, textOf, txtValue } from '../../core/dns/rdata'
import { CheckInputRefused } from '../check'
import { matches } from '../pattern'
import { quoted } from '../talk'

/**
 * What is wrong with the records of an answer, in words; null when nothing is.
 * @param type of the records, in capitals
 * @param expected values as people give them; none: whatever there is will do
 */
export function missing(
  type: string,
  records: readonly ResourceRecord[],
  expected: readonly string[],
  match: 'any' | 'all' | 'exact',
): string | null {
  if (expected.length === 0) return null
  const answers = records.map(record => formsOf(type, record.rdata))
  const wanted = expected.map(text => formsWanted(type, text))
  const is = (answer: string[], want: string[]) => answer.some(form => want.some(pattern => matches(form, pattern)))
  const absent = expected.filter((_, at) => !answers.some(answer => is(answer, wanted[at]!)))
  const came = answers.length === 0 ? 'nothing' : shown(answers.map(([text]) => text!))
  if (match === 'any')
    return absent.length === expected.length ? `${came} came where one of ${shown(expected)} is expected` : null
  if (absent.length > 0) return `${came} came where ${shown(absent)} is expected`
  if (match === 'all') return null
  const others = answers.filter(answer => !wanted.some(want => is(answer, want))).map(([text]) => text!)
  return others.length > 0 ? `${shown(others)} came, which is not expected` : null
}

/** @throws CheckInputRefused for values that no record of the type can have */
export function refuseAnswers(type: string, expected: readonly string[]): void {
  for (const [at, text] of expected.entries()) {
    if (text.includes('*')) continue
    try {
      rdataOfContent(type, text, '.')
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error
      throw new CheckInputRefused(`/options/expected_answers/${at}`, `must be a value of the type ${type}, as in a zone file.`)
    }
  }
}

/** The texts that stand for a record: that of zone files first. */
function formsOf(type: string, rdata: Uint8Array): string[] {
  const text = textOf(type, rdata)
  const forms = [text, text.replaceAll(/\.(?=\s|$)/g, '')]
  return isText(type) ? [...forms, new TextDecoder().decode(readable(rdata))] : forms
}

/** A value that can be read is compared in the one form that such values have; what has a `*` as it stands. */
function formsWanted(type: string, text: string): string[] {
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
