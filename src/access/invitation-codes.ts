import { base62Alphabet, hmacSha256 } from '../core/crypto'
import type { Hub } from '../core/hub'

const length = 32

/**
 * The code of an invitation as it was made or renewed at a version: the job that mails it makes it anew, and nothing but its hash is
 * stored. It comes from a key of the installation, and its 190 bits nobody guesses.
 */
export function invitationCode(hub: Hub, id: string, version: number): string {
  const mac = hmacSha256(hub.keys.derive('invitation-codes'), `${id} ${version}`)
  let number = BigInt(`0x${Buffer.from(mac).toString('hex')}`)
  let code = ''
  while (code.length < length) {
    code += base62Alphabet[Number(number % 62n)]
    number /= 62n
  }
  return `bw_inv_${code}`
}

/** The page that accepts an invitation, with its code behind `#`, so that it is in no log and in no Referer header. */
export const invitationLink = (hub: Hub, code: string): string => `${hub.baseUrl}/invite#${code}`
