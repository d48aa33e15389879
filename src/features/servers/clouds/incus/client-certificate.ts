import { createHash, generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'

/**
 * Creates a client certificate: a P-256 key and a certificate that it signed itself. Servers recognize it by its fingerprint, so it
 * never expires (RFC 5280 section 4.1.2.5).
 * @returns both in PEM format
 */
export async function createClientCertificate(
  commonName: string,
  notBefore: number,
): Promise<{ certificate: string; key: string }> {
  const { publicKey, privateKey } = await promisify(generateKeyPair)('ec', { namedCurve: 'P-256' })
  const name = sequence(set(sequence(oid('2.5.4.3'), tlv(0x0c, Buffer.from(commonName)))))
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' })
  const body = sequence(
    tlv(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    name,
    sequence(time(new Date(notBefore).toISOString()), time('9999-12-31T23:59:59Z')),
    name,
    subjectKey,
    tlv(
      0xa3,
      sequence(
        // Digital signature.
        extension('2.5.29.15', true, tlv(0x03, Buffer.from([7, 0x80]))),
        // TLS client.
        extension('2.5.29.37', false, sequence(oid('1.3.6.1.5.5.7.3.2'))),
        extension('2.5.29.14', false, tlv(0x04, createHash('sha1').update(subjectKey).digest())),
      ),
    ),
  )
  const signature = sign('sha256', body, privateKey)
  return {
    certificate: pem(sequence(body, algorithm, tlv(0x03, Buffer.concat([Buffer.of(0), signature])))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

// The parts of DER (ITU-T X.690) that certificates need.

function tlv(tag: number, content: Uint8Array): Buffer {
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Uint8Array[]): Buffer => tlv(0x30, Buffer.concat(parts))
const set = (...parts: Uint8Array[]): Buffer => tlv(0x31, Buffer.concat(parts))

/** A positive integer without leading zeros. */
function integer(octets: Buffer): Buffer {
  const start = Math.max(
    0,
    octets.findIndex(one => one !== 0),
  )
  const digits = octets.subarray(start)
  return tlv(0x02, digits[0]! & 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits)
}

function oid(text: string): Buffer {
  const [first, second, ...rest] = text.split('.').map(Number) as [number, number, ...number[]]
  const base128 = (value: number): number[] =>
    value < 128 ? [value] : [...base128(value >> 7).map(one => one | 0x80), value & 127]
  return tlv(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

/** Times before 2050 have two digits for the year (RFC 5280 section 4.1.2.5). */
function time(iso: string): Buffer {
  const digits = `${iso.slice(0, 19).replace(/\D/g, '')}Z`
  return iso < '2050' ? tlv(0x17, Buffer.from(digits.slice(2))) : tlv(0x18, Buffer.from(digits))
}

const extension = (id: string, isCritical: boolean, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical ? [tlv(0x01, Buffer.of(0xff))] : []), tlv(0x04, value))

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n')}\n-----END CERTIFICATE-----\n`
