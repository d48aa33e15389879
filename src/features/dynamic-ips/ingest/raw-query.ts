/** A parameter, decoded. */
export type Pair = [name: string, value: string]

/** Parameters of a query or a form, in order, with all repetitions. */
export interface Pairs {
  pairs: Pair[]
  /** Whether there are more than are read. */
  tooLong: boolean
}

// Far above what any client sends: 20 hosts, each with two addresses of its own.
const maxPairs = 100
export const maxCharacters = 16_384

/** Reads the text after the question mark, or a form. Invalid percent-encoding stays as it is, and invalid UTF-8 becomes U+FFFD. */
export function parsePairs(text: string): Pairs {
  const pairs: Pair[] = []
  const read = text.slice(0, maxCharacters)
  for (let start = 0; start < read.length && pairs.length < maxPairs;) {
    const end = read.indexOf('&', start)
    const part = read.slice(start, end < 0 ? undefined : end)
    start = end < 0 ? read.length : end + 1
    if (part === '') continue
    const equals = part.indexOf('=')
    pairs.push(equals < 0 ? [decode(part), ''] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))])
    if (pairs.length === maxPairs && start < text.length) return { pairs, tooLong: true }
  }
  return { pairs, tooLong: text.length > maxCharacters }
}

/** The query of a URL or a path, without the question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf('?')
  if (start < 0) return ''
  const fragment = url.indexOf('#', start)
  return url.slice(start + 1, fragment < 0 ? undefined : fragment)
}

/** Decodes the percent-encoding of a part of a path or a query. */
export function decodePercent(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, run => utf8.decode(Buffer.from(run.replaceAll('%', ''), 'hex')))
}

const decode = (text: string): string => decodePercent(text.replaceAll('+', ' '))

const utf8 = new TextDecoder()
