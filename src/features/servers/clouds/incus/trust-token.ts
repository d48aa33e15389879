import { parseFingerprint } from '../../../../core/net/fingerprint'
import { isObject } from '../../../../dns/octets'

/** What a trust token contains: base64 of a JSON object. */
export interface TrustToken {
  clientName: string
  /** Of the certificate of the server. */
  fingerprint: string
  /** With ports. */
  addresses: string[]
  secret: string
  /** ms UTC; null if it doesn't expire. */
  expiresAt: number | null
}

/** Decodes a trust token; null if it is not one. */
export function decodeTrustToken(text: string): TrustToken | null {
  const json = parsed(Buffer.from(text.trim(), 'base64').toString())
  if (!isObject(json)) return null
  const { client_name, fingerprint, addresses, secret, expires_at } = json
  const pin = typeof fingerprint === 'string' ? parseFingerprint(fingerprint) : null
  if (pin === null || typeof secret !== 'string' || secret === '' || !Array.isArray(addresses)) return null
  const expiry = typeof expires_at === 'string' ? Date.parse(expires_at) : NaN
  return {
    clientName: typeof client_name === 'string' && client_name !== '' ? client_name : 'bailiwick',
    fingerprint: pin,
    addresses: addresses.filter(one => typeof one === 'string'),
    secret,
    // The zero time of Go means never.
    expiresAt: expiry > 0 ? expiry : null,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
