import { hasPrivateKey } from '../../core/net/pem'
import { Problem } from '../../core/problem'

/** Refuses a field with a private key, before anything else of it is checked. @throws Problem 422 `private_key_refused` */
export function refusePrivateKey(pointer: string, text: string | null | undefined): void {
  if (!text || !hasPrivateKey(text)) return
  const detail = 'must not contain a private key. Nothing of the request was stored.'
  throw new Problem('private_key_refused', `\`${pointer.slice(2)}\` ${detail}`, {
    errors: [{ pointer, code: 'private_key', detail }],
  })
}
