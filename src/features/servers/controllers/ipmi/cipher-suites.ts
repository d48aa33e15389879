import { createHmac, timingSafeEqual } from 'node:crypto'

/** A cipher suite (IPMI 2.0, table 22-20). Both encrypt with AES-CBC-128. */
export interface CipherSuite {
  id: 3 | 17
  /** Numbers of the algorithms in an Open Session Request. */
  algorithms: { authentication: number; integrity: number; confidentiality: number }
  hash: 'sha1' | 'sha256'
  /** Octets of the HMAC in RAKP 2 and 3. */
  hashLength: number
  /** Octets of the truncated HMAC in RAKP 4 and in packets of the session. */
  macLength: number
}

export const cipherSuites: Record<3 | 17, CipherSuite> = {
  3: {
    id: 3,
    algorithms: { authentication: 1, integrity: 1, confidentiality: 1 },
    hash: 'sha1',
    hashLength: 20,
    macLength: 12,
  },
  17: {
    id: 17,
    algorithms: { authentication: 3, integrity: 4, confidentiality: 1 },
    hash: 'sha256',
    hashLength: 32,
    macLength: 16,
  },
}

export const hmac = ({ hash }: CipherSuite, key: Uint8Array, ...parts: Uint8Array[]): Buffer => {
  const mac = createHmac(hash, key)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

/** Compares codes in constant time. */
export const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && timingSafeEqual(a, b)
