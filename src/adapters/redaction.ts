// Shorter secrets would match ordinary words.
const minSecretLength = 6
const minPartLength = 16
const hidden = '[redacted]'

/** Redacts secrets from a text that a server may have echoed, including a secret cut off at the end. @param secrets those sent */
export const redactSecrets = (text: string, secrets: readonly unknown[]): string =>
  formsOf(secrets).reduce((redacted, secret) => {
    const cleared = redacted.replaceAll(secret, hidden)
    if (!cleared.endsWith('…')) return cleared
    for (let length = Math.min(secret.length, cleared.length) - 1; length >= minSecretLength; length--)
      if (cleared.endsWith(`${secret.slice(0, length)}…`)) return `${cleared.slice(0, -length - 1)}${hidden}`
    return cleared
  }, text)

/** Secrets and the parts that servers tend to echo: the path of a secret URL, its longer segments, the token after `Bearer`. */
function formsOf(secrets: readonly unknown[]): string[] {
  const values = secrets.filter(value => typeof value === 'string')
  const parts = values.flatMap(value => {
    const url = URL.canParse(value) && value.includes('://') ? new URL(value) : null
    return url
      ? [url.pathname + url.search, url.pathname, ...url.pathname.split('/').filter(part => part.length >= minPartLength)]
      : value.split(/\s+/).filter(word => word.length >= minPartLength)
  })
  return [...new Set([...values, ...parts])].filter(one => one.length >= minSecretLength).sort((a, b) => b.length - a.length)
}
