const boundary = 'bailiwick-user-data'

/** Whether user data is a MIME message already, to which nothing can be added. */
export const isMime = (userData: string): boolean => /^(?:mime-version|content-type):/i.test(userData.trimStart())

/**
 * Adds a script to user data for cloud-init, as parts of a MIME message (RFC 2046 section 5.1). cloud-init recognizes the type of the
 * other part by its first line.
 * @param own of the user, which is no MIME message; null if there is none
 */
export function withScript(script: string, own: string | null): string {
  if (own === null || own.trim() === '') return script
  const [type, mark] = ['multipart/mixed', separatorFor(own)]
  const part = (kind: string, text: string) =>
    `--${mark}\nContent-Type: ${kind}; charset="utf-8"\nMIME-Version: 1.0\n\n${text.replace(/\n?$/, '\n')}`
  return `Content-Type: ${type}; boundary="${mark}"\nMIME-Version: 1.0\n\n${part('text/plain', own)}${part('text/x-shellscript', script)}--${mark}--\n`
}

/** A line that the text doesn’t contain. */
function separatorFor(text: string): string {
  let mark = boundary
  while (text.includes(mark)) mark += '-'
  return mark
}
