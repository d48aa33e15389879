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
  return [
    secret,
    encodeURIComponent(secret.toWellFormed()),
    JSON.stringify(secret).slice(1, -1),
    ...encoded.filter(text => text.length >= leastSecret * 2),
  ]
}
