import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { publicKeyForm, signatureText, signedText, type SignedRequest } from './request-signature'

/** Signs a request. @returns the value of the signature header */
export const signRequest = (key: KeyObject, request: SignedRequest): string =>
  signatureText(request, sign(null, signedText(request), key))

/** Whether the owner of a key signed this request. It may still be too old, or a repeated one. */
export const isSignedBy = (key: KeyObject, request: SignedRequest, signature: Uint8Array): boolean =>
  verify(null, signedText(request), key, signature)

/** The public key of a key pair as text: `ed25519:` and the key in base64url, 51 characters. */
export const publicKeyText = (key: KeyObject): string =>
  `ed25519:${(key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' }).x}`

/** Reads a public key in the form of `publicKeyText`; null if it is none. */
export function parsePublicKey(text: string): KeyObject | null {
  const [, x] = publicKeyForm.exec(text) ?? []
  if (x === undefined) return null
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch {
    return null
  }
}
