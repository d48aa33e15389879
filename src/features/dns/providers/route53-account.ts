// Keys of users and of temporary credentials.
const prefixes = /^(?:AKIA|ASIA)([A-Z2-7]{10})/

/** The AWS account of an access key, which its ID contains in 40 bits after the first one; null if it doesn't. */
export function accountOfKey(accessKeyId: string): string | null {
  const [, text] = prefixes.exec(accessKeyId) ?? []
  // Older keys don't contain it. They continue with a letter before Q.
  if (text === undefined || text < 'Q') return null
  const bits = [...text].map(letter => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return String(parseInt(bits.slice(1, 41), 2)).padStart(12, '0')
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
