import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

/** A certificate for tests. */
export interface OwnCertificate {
  der: Buffer
  /** Base64 of the DER form. */
  base64: string
  sha256: string
  pem: string
  /** Its private key as PEM. */
  key: string
}

interface Options {
  names?: readonly string[]
  /** Organization of the issuer. */
  issuer?: string
  /** ms UTC. */
  from: number
  until: number
  /** Bytes of an extension without meaning. */
  padding?: number
  /** Whether the subject is the issuer, so that clients can trust the certificate itself. */
  isOwnIssuer?: boolean
  /** Public key (DER of SubjectPublicKeyInfo) of someone else, instead of a new one. */
  spki?: Buffer
  /** Signs the certificate, instead of its own key. */
  signer?: KeyObject
  /** Identifier of the key of the issuer. */
  authorityKeyId?: Buffer
}

/** Creates a certificate with a P-256 key, signed by itself, with any times, which openssl can’t do. */
export function ownCertificate({
  names = ['shop.example.com'],
  issuer = 'Test CA',
  from,
  until,
  padding = 0,
  isOwnIssuer = false,
  spki,
  signer,
  authorityKeyId,
}: Options): OwnCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = tlv(0x30, oid('2a8648ce3d040302'))
  const name = (organization: string, common: string) =>
    tlv(0x30, tlv(0x31, tlv(0x30, oid('55040a'), text(organization))), tlv(0x31, tlv(0x30, oid('550403'), text(common))))
  const alternatives = tlv(0x30, ...names.map(one => tlv(0x82, Buffer.from(one))))
  const extension = (id: string, value: Buffer) => tlv(0x30, oid(id), tlv(0x04, value))
  const body = tlv(
    0x30,
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    name(issuer, 'CA'),
    tlv(0x30, time(from), time(until)),
    isOwnIssuer ? name(issuer, 'CA') : name('Shop', names[0] ?? 'shop'),
    spki ?? publicKey.export({ type: 'spki', format: 'der' }),
    tlv(
      0xa3,
      tlv(
        0x30,
        ...(names.length > 0 ? [extension('551d11', alternatives)] : []),
        ...(authorityKeyId ? [extension('551d23', tlv(0x30, tlv(0x80, authorityKeyId)))] : []),
        extension('2a030405', tlv(0x04, Buffer.alloc(padding))),
      ),
    ),
  )
  const signature = sign('sha256', body, signer ?? privateKey)
  const der = tlv(0x30, body, ecdsaWithSha256, tlv(0x03, Buffer.from([0]), signature))
  const base64 = der.toString('base64')
  return {
    der,
    base64,
    sha256: new Bun.CryptoHasher('sha256').update(der).digest('hex'),
    pem: `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

function tlv(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const oid = (hex: string) => tlv(0x06, Buffer.from(hex, 'hex'))
const text = (value: string) => tlv(0x0c, Buffer.from(value))
/** GeneralizedTime, such as `20261127100000Z`. */
const time = (ms: number) => tlv(0x18, Buffer.from(new Date(ms).toISOString().replaceAll(/\.\d+|[-:T]/g, '')))
