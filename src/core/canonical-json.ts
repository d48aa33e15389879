/**
 * JSON in the one form that RFC 8785 (JCS) gives every value: members sorted by their UTF-16 code units, no white space, numbers and
 * strings as ECMAScript writes them. Two equal values have the same text, so it can be hashed and signed.
 * @throws TypeError for what JSON cannot hold: NaN, infinities, undefined in an array, lone surrogates (section 3.2.2.2)
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no form in JSON.`)
    return JSON.stringify(value)
  }
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object') {
    const members = value as Record<string, unknown>
    // The default order of sort() is that of UTF-16 code units, which section 3.2.3 asks for.
    const names = Object.keys(members).filter(name => members[name] !== undefined)
    return `{${names
      .sort()
      .map(name => `${text(name)}:${canonicalJson(members[name])}`)
      .join(',')}}`
  }
  throw new TypeError(`A ${typeof value} has no form in JSON.`)
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('A text with half a surrogate pair has no canonical form.')
  return JSON.stringify(value)
}
