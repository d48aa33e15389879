import { createHmac, randomBytes } from 'node:crypto'

/** Headers that let a receiver verify the origin and integrity of a message. */
export interface SignatureHeaders {
  /** `sha256=` and the hex HMAC-SHA256 of the body. The key is the whole secret as text, including `whsec_`. */
  'X-Service-Signature': string
  /** The same with the next secret; sent during a rotation. */
  'X-Service-Signature-Next'?: string
  /** Standard Webhooks 1.0.0: `v1,<base64>`; during a rotation, one per secret, separated by a space. */
  'webhook-signature': string
}

/** An attempt to sign. */
interface Signing {
  /** `whsec_…`; during a rotation, the old secret. */
  secret: string
  /** The new secret during a rotation. */
  nextSecret?: string | null
  /** Value of `webhook-id`, the same for all attempts. Must not contain a period. */
  id: string
  /** Value of `webhook-timestamp` and `X-Service-Timestamp`: Unix seconds of this attempt. */
  timestampSeconds: number
  /** The exact bytes of the request body. */
  body: Uint8Array
}

/** A custom secret is invalid. The message explains the format and never contains the secret. */
export class InvalidSecret extends Error {
  override readonly name = 'InvalidSecret'

  constructor() {
    super('A webhook secret must be whsec_ followed by 24 to 64 random bytes in padded base64.')
  }
}

/** Generates a secret: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/**
 * Validates a custom secret: `whsec_` and the padded base64 (RFC 4648 section 4) of 24 to 64 bytes, as Standard Webhooks
 * requires.
 * @throws InvalidSecret
 */
export function checkSecret(text: string): void {
  const size = text.startsWith(prefix) ? keyOf(text).length : 0
  // Some verifiers decode more strictly than others, so accept only the canonical form.
  if (size < 24 || size > 64 || prefix + keyOf(text).toString('base64') !== text) throw new InvalidSecret()
}

/** Signs an attempt. `X-Service-Signature` covers the body; `webhook-signature` covers `id.timestamp.body`. */
export function signatures({ secret, nextSecret, id, timestampSeconds, body }: Signing): SignatureHeaders {
  const head = `${id}.${timestampSeconds}.`
  const headers: SignatureHeaders = {
    'X-Service-Signature': overBody(secret, body),
    'webhook-signature': standard(secret, head, body),
  }
  if (nextSecret) {
    headers['X-Service-Signature-Next'] = overBody(nextSecret, body)
    headers['webhook-signature'] += ` ${standard(nextSecret, head, body)}`
  }
  return headers
}

const prefix = 'whsec_'

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64')
}

function overBody(secret: string, body: Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
}

function standard(secret: string, head: string, body: Uint8Array): string {
  return `v1,${createHmac('sha256', keyOf(secret)).update(head).update(body).digest('base64')}`
}
