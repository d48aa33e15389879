import { dictionary } from '@zxcvbn-ts/language-common'

const common = new Set<string>(dictionary['passwords-common'])

/** How many digits and punctuation characters at the end of a password don’t make it a different one. */
const maxSuffix = 5

/**
 * Whether a password is one of the 49,000 most common ones, in any case, also if it is repeated or followed by a few digits and
 * punctuation characters, as in `Password2026!`.
 */
export function isCommonPassword(password: string): boolean {
  const text = password.toLowerCase()
  for (let cut = 0; cut <= maxSuffix; cut++) {
    const base = text.slice(0, text.length - cut)
    if (!/^[\d\p{P}\p{S}]*$/u.test(text.slice(base.length))) return false
    if (common.has(base) || isRepetition(base)) return true
  }
  return false
}

/** `aaaaaaaaaa`, `121212121212`, `adminadmin` */
function isRepetition(text: string): boolean {
  const unit = /^(.+?)\1+$/su.exec(text)?.[1]
  return unit !== undefined && (unit.length <= 3 || common.has(unit))
}
