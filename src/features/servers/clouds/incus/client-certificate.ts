import { createHash, generateKeyPair, randomBytes, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { pemBlock } from '../../../../core/net/pem'
import { bitString, encoded, extension, oid, sequence, set } from '../../../../core/x509/der-writer'

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
  const name = sequence(set(sequence(oid('2.5.4.3'), encoded(0x0c, Buffer.from(commonName)))))
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'))
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' })
  const body = sequence(
    encoded(0xa0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    name,
    sequence(time(new Date(notBefore).toISOString()), time('9999-12-31T23:59:59Z')),
    name,
    subjectKey,
    encoded(
      0xa3,
      sequence(
        // Digital signature.
        extension('2.5.29.15', bitString(Buffer.of(0x80), 7), true),
        // TLS client.
        extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.2'))),
        extension('2.5.29.14', encoded(0x04, createHash('sha1').update(subjectKey).digest())),
      ),
    ),
  )
  const signature = sign('sha256', body, privateKey)
  return {
    certificate: pemBlock('CERTIFICATE', sequence(body, algorithm, bitString(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

/** A positive integer without leading zeros. */
function integer(octets: Buffer): Buffer {
  const start = Math.max(
    0,
    octets.findIndex(one => one !== 0),
  )
  const digits = octets.subarray(start)
  return encoded(0x02, digits[0]! & 0x80 ? Buffer.concat([Buffer.of(0), digits]) : digits)
}

/** Times before 2050 have two digits for the year (RFC 5280 section 4.1.2.5). */
function time(iso: string): Buffer {
  const digits = `${iso.slice(0, 19).replace(/\D/g, '')}Z`
  return iso < '2050' ? encoded(0x17, Buffer.from(digits.slice(2))) : encoded(0x18, Buffer.from(digits))
}
