/**
 * Canonical JSON (JCS, RFC 8785): members sorted by UTF-16 code units, no white space, numbers and strings as in ECMAScript.
 * Equal values have equal text, so it can be hashed and signed.
 * @throws TypeError for values that JSON can't represent: NaN, infinities, undefined in an array, lone surrogates (section
 * 3.2.2.2)
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} can't be represented in JSON.`)
    return JSON.stringify(value)
  }
  if (typeof value === 'string') return text(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value === 'object') {
    const members = value as Record<string, unknown>
    let list = ''
    // sort() orders by UTF-16 code units by default, as section 3.2.3 requires.
    for (const name of Object.keys(members).sort()) {
      const member = members[name]
      if (member !== undefined) list += `${list && ','}${nameText(name)}:${canonicalJson(member)}`
    }
    return `{${list}}`
  }
  throw new TypeError(`A ${typeof value} can't be represented in JSON.`)
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError('A string with a lone surrogate has no canonical form.')
  return JSON.stringify(value)
}

const nameTexts = new Map<string, string>()
const maxNameTexts = 2000
const maxNameLength = 64

/** Most names are field names, so their texts are kept. */
function nameText(name: string): string {
  let known = nameTexts.get(name)
  if (known === undefined) {
    known = text(name)
    if (nameTexts.size < maxNameTexts && name.length <= maxNameLength) nameTexts.set(name, known)
  }
  return known
}
