const secretName = /key|token|secret|pass|pwd|auth|credential|sig|session|code/i
// Longer values are rarely anything but generated secrets.
const maxShownLength = 20

/**
 * An address for messages that leave the installation. In a URL, the password, and query values and parts of the path that may be
 * secrets become `***`, and the fragment is left out.
 */
export function maskedAddress(address: string): string {
  const [, start, userInfo = '', rest] = /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*@)?([^]*)$/i.exec(address) ?? []
  if (start === undefined) return address
  const [path, query] = splitAt(splitAt(rest!, '#')[0], '?')
  const shown = query?.split('&').map(part => {
    const [name, value] = splitAt(part, '=')
    return value && (secretName.test(name) || value.length > maxShownLength) ? `${name}=***` : part
  })
  return `${start}${userInfo && '***@'}${path
    .split('/')
    .map((part, at) => (at > 0 && isGenerated(part) ? '***' : part))
    .join('/')}${shown ? `?${shown.join('&')}` : ''}`
}

// Such as a UUID or the last part of the URL of an incoming webhook; not a name of words or a file.
const isGenerated = (part: string): boolean =>
  part.length > maxShownLength && /\d/.test(part) && /[a-z]/i.test(part) && !part.includes('.')

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
