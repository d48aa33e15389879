import { base62Alphabet, hmacSha256 } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'

const length = 32

/**
 * The code of an invitation at a version. It is derived from a key of the installation (190 bits), so that the job that emails it
 * can recompute it; only its hash is stored.
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

/**
 * Link to the page that accepts an invitation. The code is in the fragment, so that it appears in no log and no Referer header.
 */
export const invitationLink = (hub: Hub, code: string): string => `${hub.baseUrl}/invite#${code}`
