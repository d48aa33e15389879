/**
 * Matches a text with a pattern, in which `*` stands for any number of characters, in one pass: a regular expression could backtrack over
 * each `*`.
 * @param pattern in any case; texts must be in lower case
 */
export function globOf(pattern: string): (text: string) => boolean {
  const [first = '', ...rest] = pattern.toLowerCase().split('*')
  const last = rest.pop()
  if (last === undefined) return text => text === first
  return text => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last)) return false
    let at = first.length
    for (const part of rest) {
      const found = text.indexOf(part, at)
      if (found < 0) return false
      at = found + part.length
    }
    return at <= text.length - last.length
  }
}
