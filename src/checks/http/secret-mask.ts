/** Text in place of a secret. */
const mask = '***'

/** Shorter ones would make holes all over the answer, and are no secrets worth the name. */
const leastLength = 4

/**
 * Takes secrets out of what a server sends back: as they are, as they stand in a URL, and as they stand in JSON.
 * @param secrets those that were sent, in every form in which they were
 */
export function secretMask(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(
    secrets
      .filter(one => one.length >= leastLength)
      .flatMap(one => [one, encodeURIComponent(one.toWellFormed()), JSON.stringify(one).slice(1, -1)]),
  )
  const longestFirst = [...forms].sort((a, b) => b.length - a.length)
  return text => longestFirst.reduce((left, form) => left.replaceAll(form, mask), text)
}
