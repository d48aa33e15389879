import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { sha256Hex } from '../core/crypto'

/** Requests of agents and probes that are signed with the Ed25519 key (RFC 8032) they were enrolled with. */

export const signatureHeader = 'Bailiwick-Signature'

/** How far the time of a request may differ from the hub’s. */
export const maxClockSkewMs = 300_000

/** What the signature of a request covers. */
export interface SignedRequest {
  method: string
  /** Path with query, such as `/v1/ingest/agents/commands`. */
  path: string
  /** When the request was signed (ms UTC), by the clock of the sender. */
  time: number
  /** Number of the request since the sender started. Each is used once. */
  count: number
  /** The body as sent, so compressed if it is. */
  body: Uint8Array
}

/** The time and number of a signed request, and its signature. */
export type RequestSignature = Pick<SignedRequest, 'time' | 'count'> & { signature: Uint8Array }

/** The value of the signature header: `v1 t=<ms>,n=<count>,s=<base64>`. */
export function signRequest(key: KeyObject, request: SignedRequest): string {
  return `v1 t=${request.time},n=${request.count},s=${sign(null, signedText(request), key).toString('base64')}`
}

/** Reads a signature header; null if it has another form. */
export function parseSignature(header: string): RequestSignature | null {
  const [, time, count, signature] = /^v1 t=(\d{1,15}),n=(\d{1,15}),s=([A-Za-z0-9+/]{86}==)$/.exec(header) ?? []
  if (signature === undefined) return null
  return { time: Number(time), count: Number(count), signature: Buffer.from(signature, 'base64') }
}

/** Whether the owner of a key signed this request. It may still be too old, or a repeated one. */
export const isSignedBy = (key: KeyObject, request: SignedRequest, signature: Uint8Array): boolean =>
  verify(null, signedText(request), key, signature)

const signedText = ({ method, path, time, count, body }: SignedRequest): Buffer =>
  Buffer.from([method, path, time, count, sha256Hex(body)].join('\n'))

/** The public key of a key pair as text: `ed25519:` and the key in base64url, 51 characters. */
export const publicKeyText = (key: KeyObject): string =>
  `ed25519:${(key.type === 'private' ? createPublicKey(key) : key).export({ format: 'jwk' }).x}`

/** Reads a public key in the form of `publicKeyText`; null if it is none. */
export function parsePublicKey(text: string): KeyObject | null {
  const [, x] = /^ed25519:([A-Za-z0-9_-]{43})$/.exec(text) ?? []
  if (x === undefined) return null
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  } catch {
    return null
  }
}

/** Reads a private Ed25519 key in PKCS #8 DER (RFC 8410). @throws if it is none */
export const readPrivateKey = (der: Uint8Array): KeyObject =>
  createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
