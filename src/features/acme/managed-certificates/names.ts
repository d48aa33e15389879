import { DnsFormatError } from '../../../dns/format-error'
import { labelsOf, lowerName, parseName } from '../../../dns/name'
import { invalid, type FieldProblem } from '../../../core/problem'

/**
 * Normalizes the names of a certificate: lowercase A-labels without a trailing dot.
 * @throws Problem 422 for each invalid name or duplicate
 */
export function certificateNames(texts: readonly string[]): string[] {
  const problems: FieldProblem[] = []
  const names: string[] = []
  for (const [at, text] of texts.entries()) {
    const pointer = `#/names/${at}`
    try {
      const name = certificateName(text)
      if (names.includes(name)) problems.push({ pointer, code: 'not_unique', detail: `duplicates ${name}.` })
      else names.push(name)
    } catch (error) {
      if (!(error instanceof DnsFormatError)) throw error
      problems.push({ pointer, code: 'format', detail: `${error.message}.` })
    }
  }
  if (problems.length > 0) throw invalid(problems.slice(0, maxProblems))
  return names
}

const maxProblems = 20

/** The name without its wildcard: the name that has to be validated. */
export const baseName = (name: string): string => name.replace(/^\*\./, '')

/** @throws DnsFormatError */
function certificateName(text: string): string {
  const isWildcard = text.startsWith('*.')
  const name = lowerName(parseName(isWildcard ? text.slice(2) : text, '.'))
  const labels = labelsOf(name)
  const broken = (detail: string, reference: string) => new DnsFormatError(detail, null, reference)
  if (labels.some(label => label.includes('*')))
    throw broken('can have a wildcard only as its whole first label, such as *.example.com', 'RFC 6125 6.4.3')
  if (labels.length < 2) throw broken('must have at least two labels, such as example.com', 'CA/Browser Forum BR 7.1.4.2.1')
  if (labels.some(label => !/^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/.test(label)))
    throw broken('must consist of letters, digits, and hyphens', 'RFC 1123 2.1')
  if (/^\d+$/.test(labels.at(-1)!)) throw broken('must be a DNS name, not an IP address', 'RFC 8555 7.1.3')
  // With the label of the challenge before it, it must still be a DNS name.
  if (name.length > maxNameLength) throw broken(`must have at most ${maxNameLength - 1} characters`, 'RFC 8555 8.4')
  return (isWildcard ? '*.' : '') + name.slice(0, -1)
}

const maxNameLength = 253 - '_acme-challenge.'.length
