import { sha256Hex } from '../core/sha256'

/**
 * Requests of agents and probes are signed with the Ed25519 key (RFC 8032) they were enrolled with. Without node:crypto, which takes 1 MB
 * of memory, for the agent.
 */

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

/** Signs a request. @returns the value of the signature header */
export type RequestSigner = (request: SignedRequest) => string | Promise<string>

/** Signs requests with a private Ed25519 key. */
export const requestSigner =
  (key: CryptoKey): RequestSigner =>
  async request =>
    signatureText(request, new Uint8Array(await crypto.subtle.sign('Ed25519', key, signedText(request))))

/** The value of the signature header: `v1 t=<ms>,n=<count>,s=<base64>`. */
export const signatureText = ({ time, count }: SignedRequest, signature: Uint8Array): string =>
  `v1 t=${time},n=${count},s=${Buffer.from(signature).toString('base64')}`

/** Reads a signature header; null if it has another form. */
export function parseSignature(header: string): RequestSignature | null {
  const [, time, count, signature] = /^v1 t=(\d{1,15}),n=(\d{1,15}),s=([A-Za-z0-9+/]{86}==)$/.exec(header) ?? []
  if (signature === undefined) return null
  return { time: Number(time), count: Number(count), signature: Buffer.from(signature, 'base64') }
}

/** What is signed. */
export const signedText = ({ method, path, time, count, body }: SignedRequest): Buffer<ArrayBuffer> =>
  Buffer.from([method, path, time, count, sha256Hex(body)].join('\n'))

/** Whether a text has the form of `publicKeyText`. */
export const isPublicKeyText = (text: string): boolean => publicKeyForm.test(text)

/** A public key as text, with the key in base64url as the only group. */
export const publicKeyForm: RegExp = /^ed25519:([A-Za-z0-9_-]{43})$/
