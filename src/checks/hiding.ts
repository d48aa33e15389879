const hidden = '[secret]'
// Shorter ones would blot out half of every text, and are no secrets.
const leastSecret = 4

/** Blots out secrets wherever a server sends them back: as they are, and in the forms in which they travel. */
export function hidingSecrets(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter(secret => secret.length >= leastSecret).flatMap(formsOf))
  // The longest first: one may be part of another.
  const all = [...forms].sort((a, b) => b.length - a.length)
  return text => all.reduce((left, secret) => left.replaceAll(secret, hidden), text)
}

/** A text that was cut, without the beginning of a secret at its end: nobody would know that for one. */
export function withoutBegun(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(secret => secret.length >= leastSecret).flatMap(formsOf)
  const lengths = forms.map(form => {
    let length = Math.min(form.length - 1, text.length)
    while (length >= leastSecret && !text.endsWith(form.slice(0, length))) length--
    return length >= leastSecret ? length : 0
  })
  return text.slice(0, text.length - Math.max(0, ...lengths))
}

/** The secrets among options. @param pointers JSON pointers (RFC 6901), in which `*` stands for every member of a list or an object */
export const secretsAmong = (options: Record<string, unknown>, pointers: readonly string[]): string[] =>
  pointers.flatMap(pointer => valuesAt(options, pointer.replace(/^\//, '').split('/')))

function valuesAt(value: unknown, [member, ...rest]: string[]): string[] {
  if (member === undefined) return leavesOf(value)
  if (typeof value !== 'object' || value === null) return []
  if (member === '*') return Object.values(value).flatMap(one => valuesAt(one, rest))
  return valuesAt((value as Record<string, unknown>)[member.replaceAll('~1', '/').replaceAll('~0', '~')], rest)
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : []
}

function formsOf(secret: string): string[] {
  // In Base64 it stands at one of three offsets behind what comes before it, such as a user name (RFC 7617). What is certain of each
  // is what does not share a character with its neighbours.
  const encoded = ['', ' ', '  '].map((before, offset) => {
    const text = Buffer.from(before + secret)
      .toString('base64')
      .replace(/=+$/, '')
    const certain = text.slice(offset === 0 ? 0 : offset + 1)
    return Buffer.byteLength(before + secret) % 3 === 0 ? certain : certain.slice(0, -1)
  })
  const inUrl = encodeURIComponent(secret.toWellFormed())
  const inJson = JSON.stringify(secret).slice(1, -1)
  const inHtml = secret.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return [
    secret,
    // Read in the wrong charset, either way.
    Buffer.from(secret, 'latin1').toString(),
    Buffer.from(secret).toString('latin1'),
    inUrl,
    inUrl.replace(/%../g, one => one.toLowerCase()),
    new URLSearchParams({ x: secret }).toString().slice(2),
    inJson,
    // As encoders of Go and of PHP write it.
    inJson.replace(/[<>&]/g, one => `\\u00${one.charCodeAt(0).toString(16)}`),
    inJson.replaceAll('/', '\\/'),
    inHtml,
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    inHtml.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#039;'),
    ...encoded.filter(text => text.length >= leastSecret * 2),
  ]
}
