import { createHash } from 'node:crypto'

/** What a browser page knows: its origin, and options for the authenticator. */
interface Circumstances {
  origin?: string
  rpId?: string
  userVerified?: boolean
  /** Value of the signature counter; continues from the last one if absent. */
  counter?: number
}

const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest()
const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/**
 * A software authenticator with its browser: it creates one ES256 passkey and signs with it, as described in sections 6 and 7 of
 * WebAuthn level 3.
 */
export class Authenticator {
  readonly id = crypto.getRandomValues(new Uint8Array(16))
  private keys: CryptoKeyPair | null = null
  private handle = ''

  /** @param counts whether it counts its signatures; many authenticators always report 0 */
  constructor(
    private readonly origin: string,
    private readonly counts = true,
    private counter = 0,
  ) {}

  /** What a browser sends for a new passkey. */
  async create(options: any, told: Circumstances = {}) {
    this.keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign'])
    this.handle = options.user.id
    const { x, y } = await crypto.subtle.exportKey('jwk', this.keys.publicKey)
    // COSE_Key (RFC 9052 section 7) of an EC2 key: kty 2, alg -7, crv 1, x, y.
    const key = Buffer.concat([
      Buffer.from([0xa5, 1, 2, 3, 0x26, 0x20, 1]),
      Buffer.from([0x21, 0x58, 32]),
      Buffer.from(x!, 'base64url'),
      Buffer.from([0x22, 0x58, 32]),
      Buffer.from(y!, 'base64url'),
    ])
    const length = Buffer.alloc(2)
    length.writeUInt16BE(this.id.length)
    // Attested credential data: an all-zero AAGUID, the id with its length, the key.
    const attested = Buffer.concat([Buffer.alloc(16), length, this.id, key])
    const authData = Buffer.concat([this.authenticatorData(options.rp.id, told, 0x40), attested])
    const text = (word: string) => Buffer.concat([Buffer.from([0x60 + word.length]), Buffer.from(word)])
    const size = Buffer.alloc(2)
    size.writeUInt16BE(authData.length)
    const attestationObject = Buffer.concat([
      Buffer.from([0xa3]),
      text('fmt'),
      text('none'),
      text('attStmt'),
      Buffer.from([0xa0]),
      text('authData'),
      Buffer.from([0x59]),
      size,
      authData,
    ])
    const clientDataJSON = this.clientData('webauthn.create', options.challenge, told)
    return this.credential({
      clientDataJSON: base64url(clientDataJSON),
      attestationObject: base64url(attestationObject),
      transports: ['internal'],
    })
  }

  /** What a browser sends for an assertion by the passkey. */
  async get(options: any, told: Circumstances = {}) {
    const authData = this.authenticatorData(options.rpId, told, 0)
    const clientDataJSON = this.clientData('webauthn.get', options.challenge, told)
    const signed = Buffer.concat([authData, sha256(clientDataJSON)])
    const raw = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, this.keys!.privateKey, signed)
    return this.credential({
      clientDataJSON: base64url(clientDataJSON),
      authenticatorData: base64url(authData),
      signature: base64url(derOf(Buffer.from(raw))),
      userHandle: this.handle,
    })
  }

  private credential<R>(response: R) {
    const id = base64url(this.id)
    return { id, rawId: id, type: 'public-key' as const, response, clientExtensionResults: {} }
  }

  private clientData(type: string, challenge: string, { origin = this.origin }: Circumstances): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
  }

  /** Hash of the site, flags and counter. */
  private authenticatorData(rpId: string, told: Circumstances, flags: number): Buffer {
    this.counter = told.counter ?? (this.counts ? this.counter + 1 : 0)
    const head = Buffer.alloc(5)
    head[0] = flags | 0x01 | (told.userVerified === false ? 0 : 0x04)
    head.writeUInt32BE(this.counter, 1)
    return Buffer.concat([sha256(told.rpId ?? rpId), head])
  }
}

/** Converts a WebCrypto signature, two concatenated numbers, to ASN.1 (RFC 3279 section 2.2.3). */
function derOf(raw: Buffer): Buffer {
  const numbers = [raw.subarray(0, 32), raw.subarray(32)].map(part => {
    const start = part.findIndex(byte => byte !== 0)
    const short = part.subarray(start)
    const number = short[0]! & 0x80 ? Buffer.concat([Buffer.from([0]), short]) : short
    return Buffer.concat([Buffer.from([2, number.length]), number])
  })
  const both = Buffer.concat(numbers)
  return Buffer.concat([Buffer.from([0x30, both.length]), both])
}
