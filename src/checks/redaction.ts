const hidden = '[secret]'
// Redacting shorter values would destroy the text; they are not secrets.
const minSecretLength = 4

/**
 * Redacts secrets in a text. If it is longer than `max`, returns only its beginning, shorter than `max` and without a part of a
 * secret at its end.
 */
export type Redact = (text: string, max?: number) => string

/** Returns a function that redacts secrets in text from a server, as they are and in common encodings. */
export function secretRedactor(secrets: readonly string[]): Redact {
  const forms = new Set(secrets.filter(secret => secret.length >= minSecretLength).flatMap(formsOf))
  // Longest first: one may be part of another.
  const all = [...forms].sort((a, b) => b.length - a.length)
  // A secret that was cut off is not recognized. A shorter one in it may be, which at most doubles its length.
  const maxPartial = 2 * Math.max(0, (all[0]?.length ?? 0) - 1)
  return (text, max = text.length) => {
    const shown = all.reduce((left, secret) => left.replaceAll(secret, hidden), text.slice(0, max))
    return text.length > max ? shown.slice(0, Math.max(0, shown.length - maxPartial)) : shown
  }
}

/** Removes the beginning of a secret from the end of a cut text, where it would not be recognized. */
export function withoutPartialSecret(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(secret => secret.length >= minSecretLength).flatMap(formsOf)
  const lengths = forms.map(form => {
    let length = Math.min(form.length - 1, text.length)
    while (length >= minSecretLength && !text.endsWith(form.slice(0, length))) length--
    return length >= minSecretLength ? length : 0
  })
  return text.slice(0, text.length - Math.max(0, ...lengths))
}

/** The secret values in options. @param pointers JSON pointers (RFC 6901); `*` matches every member of a list or object */
export const secretValues = (options: Record<string, unknown>, pointers: readonly string[]): string[] =>
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
  // In Base64 a secret has one of three offsets, depending on what precedes it, such as a username (RFC 7617). Only the characters
  // that it does not share with its neighbors are certain.
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
    // Decoded with the wrong charset, either way.
    Buffer.from(secret, 'latin1').toString(),
    Buffer.from(secret).toString('latin1'),
    inUrl,
    inUrl.replace(/%../g, one => one.toLowerCase()),
    new URLSearchParams({ x: secret }).toString().slice(2),
    inJson,
    // As the encoders of Go and PHP write it.
    inJson.replace(/[<>&]/g, one => `\\u00${one.charCodeAt(0).toString(16)}`),
    inJson.replaceAll('/', '\\/'),
    inHtml,
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    inHtml.replaceAll('"', '&#34;').replaceAll("'", '&#39;'),
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#x27;'),
    inHtml.replaceAll('"', '&quot;').replaceAll("'", '&#039;'),
    ...encoded.filter(text => text.length >= minSecretLength * 2),
  ]
}
