import { createHmac, randomBytes } from 'node:crypto'

/** The headers by which a receiver knows that a message is ours and unaltered. */
export interface SignatureHeaders {
  /** `sha256=` and the hex HMAC-SHA256 of the body, keyed with the whole secret as text, `whsec_` included. */
  'X-Service-Signature': string
  /** The same made with the secret to come; sent while a rotation overlaps. */
  'X-Service-Signature-Next'?: string
  /** Standard Webhooks 1.0.0: `v1,<base64>`, during a rotation one for each secret, apart by a space. */
  'webhook-signature': string
}

/** One try of a message, to be signed. */
export interface Signing {
  /** `whsec_…`; during a rotation the old one. */
  secret: string
  /** The new secret while a rotation overlaps. */
  nextSecret?: string | null
  /** The value of `webhook-id`: the same on every try, without a full stop. */
  id: string
  /** The value of `webhook-timestamp` and `X-Service-Timestamp`: Unix seconds of this try. */
  timestampSeconds: number
  /** The exact bytes sent. */
  body: Uint8Array
}

/** A secret given by a customer breaks the rule; the message says the rule and never repeats the secret. */
export class InvalidSecret extends Error {
  override readonly name = 'InvalidSecret'

  constructor() {
    super('A webhook secret is whsec_ followed by the padded base64 of 24 to 64 random bytes.')
  }
}

/** A new secret for an endpoint: `whsec_` and the base64 of 32 random bytes. */
export function newSecret(): string {
  return prefix + randomBytes(32).toString('base64')
}

/**
 * Accepts a customer's own secret: `whsec_` and the padded base64 (RFC 4648 section 4) of 24 to 64 bytes,
 * the sizes Standard Webhooks allows.
 * @throws InvalidSecret
 */
export function checkSecret(text: string): void {
  const size = text.startsWith(prefix) ? keyOf(text).length : 0
  // Verifiers decode more or less strictly, so only the one form on which all of them agree passes.
  if (size < 24 || size > 64 || prefix + keyOf(text).toString('base64') !== text) throw new InvalidSecret()
}

/** Signs one try. `X-Service-Signature` covers the body; `webhook-signature` covers `id.timestamp.body`. */
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
